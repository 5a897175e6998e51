//! Random patterns and sources.

use std::fs;
use std::sync::LazyLock;

use conformance::corpora;
use fastrand::Rng;
use structural::languages::Language;

/// The longest source, in bytes. Broken input costs the parser more than its
/// length says, and a round must stay far below the limit for hangs.
const MAX_SOURCE: usize = 48 * 1024;

/// What a metavariable may look like, right and wrong.
const HOLES: [&str; 18] = [
    "$X", "$Y", "$X", "$_", "$$$", "$$$A", "$$$_", "$$$X", "$$X", "$x", "$1", "$", "$$", "$$$$A",
    "$X$Y", "$Xa", "$É", "$A_1",
];

/// Pieces that parsers and scanners treat in ways of their own.
const PIECES: [&str; 44] = [
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    "\"",
    "'",
    "`",
    ";",
    ",",
    ":",
    "::",
    ".",
    "=>",
    "->",
    "=",
    "==",
    "+",
    "-",
    "*",
    "/",
    "//",
    "/*",
    "*/",
    "#",
    "@",
    "!",
    "?",
    "&",
    "|",
    "\\",
    "\n",
    "\r\n",
    "\t",
    " ",
    "\0",
    "\u{feff}",
    "é",
    "日本",
    "\u{1F600}",
    "Zzmv0",
];

/// What nests.
const BRACKETS: [(&str, &str); 8] = [
    ("(", ")"),
    ("[", "]"),
    ("{", "}"),
    ("f(", ")"),
    ("if (a) {", "}"),
    ("<a>", "</a>"),
    ("a+(", ")"),
    ("\"${", "}\""),
];

/// Returns a pattern for `language`: an example with pieces changed, a piece
/// of a source with holes, or noise.
pub(super) fn pattern(rng: &mut Rng, language: &Language, source: &str) -> String {
    let mut text = match rng.u8(0..10) {
        0..4 => example(rng, language).to_owned(),
        4..8 => {
            let piece = piece(rng, source);
            with_holes(rng, piece)
        }
        8 => nested(rng, 400),
        _ => noise(rng, 40),
    };
    for _ in 0..rng.usize(0..4) {
        text = mutate(rng, &text);
    }
    text
}

/// Returns a source for `language`: what its contexts make of their examples,
/// a piece of a real file, or something deep; then perhaps broken.
pub(super) fn source(rng: &mut Rng, language: &Language) -> String {
    let mut text = match rng.u8(0..10) {
        0..4 => real(rng, language)
            .map(str::to_owned)
            .unwrap_or_else(|| examples(rng, language)),
        4..8 => examples(rng, language),
        8 => nested(rng, MAX_SOURCE / 8),
        _ => {
            let deep = nested(rng, 2_000);
            format!(
                "{}\n{deep}\n{}",
                examples(rng, language),
                examples(rng, language)
            )
        }
    };
    for _ in 0..rng.usize(0..6) {
        text = mutate(rng, &text);
    }
    let end = floor(&text, MAX_SOURCE);
    text.truncate(end);
    text
}

fn example(rng: &mut Rng, language: &Language) -> &'static str {
    rng.choice(language.contexts)
        .map_or("$X", |context| context.example)
}

/// Returns a few examples in their contexts, with names for their holes.
fn examples(rng: &mut Rng, language: &Language) -> String {
    let mut text = String::new();
    for _ in 0..rng.usize(1..12) {
        if let Some(context) = rng.choice(language.contexts) {
            text.push_str(context.prefix);
            text.push_str(&without_holes(rng, context.example));
            text.push_str(context.suffix);
            text.push('\n');
        }
    }
    text
}

/// Puts names where an example has metavariables.
fn without_holes(rng: &mut Rng, example: &str) -> String {
    let mut text = String::new();
    let mut rest = example.chars().peekable();
    while let Some(character) = rest.next() {
        if character != '$' {
            text.push(character);
            continue;
        }
        while rest
            .next_if(|c| *c == '$' || *c == '_' || c.is_ascii_alphanumeric())
            .is_some()
        {}
        text.push_str(rng.choice(["a", "b", "a1", "Foo", "x"]).unwrap_or("a"));
    }
    text
}

/// Returns some lines of a real file, where the corpus is installed.
fn real(rng: &mut Rng, language: &Language) -> Option<&'static str> {
    static FILES: LazyLock<Vec<(&str, String)>> = LazyLock::new(|| {
        let mut files = Vec::new();
        for (language, extension) in [
            ("python", "py"),
            ("rust", "rs"),
            ("c", "c"),
            ("go", "go"),
            ("typescript", "ts"),
            ("dart", "dart"),
        ] {
            let Some(corpus) = corpora::find(language) else {
                continue;
            };
            let all = corpora::files(&corpus, extension);
            for path in all.iter().step_by(all.len() / 50 + 1) {
                files.extend(fs::read_to_string(path).ok().map(|text| (language, text)));
            }
        }
        files
    });
    let files: Vec<&str> = FILES
        .iter()
        .filter(|(id, _)| *id == language.id)
        .map(|(_, text)| text.as_str())
        .collect();
    let text = rng.choice(files)?;
    let from = floor(text, rng.usize(0..=text.len()));
    let to = floor(text, (from + MAX_SOURCE / 4).min(text.len()));
    text.get(from..to)
}

/// Returns a short piece of `source`, mostly whole lines.
fn piece<'a>(rng: &mut Rng, source: &'a str) -> &'a str {
    let from = floor(source, rng.usize(0..=source.len()));
    let from = source
        .get(..from)
        .and_then(|head| head.rfind('\n'))
        .map_or(0, |line| line + 1);
    let to = floor(source, (from + rng.usize(1..120)).min(source.len()));
    let to = source
        .get(to..)
        .and_then(|tail| tail.find('\n'))
        .filter(|_| rng.bool())
        .map_or(to, |line| to + line);
    source.get(from..to).unwrap_or_default().trim()
}

/// Replaces some words of `text` with metavariables.
fn with_holes(rng: &mut Rng, text: &str) -> String {
    let mut out = String::new();
    for word in text.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_') {
        let name = word.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '_');
        if !name.is_empty() && rng.u8(0..4) == 0 {
            out.push_str(rng.choice(HOLES).unwrap_or("$X"));
            out.push_str(word.get(name.len()..).unwrap_or_default());
        } else {
            out.push_str(word);
        }
    }
    out
}

fn nested(rng: &mut Rng, depth: usize) -> String {
    let (open, close) = rng.choice(BRACKETS).unwrap_or(("(", ")"));
    let depth = rng.usize(1..=(depth / (open.len() + close.len())).max(1));
    let inside = rng.choice(HOLES).filter(|_| rng.bool()).unwrap_or("a");
    let close = if rng.u8(0..4) == 0 {
        String::new()
    } else {
        close.repeat(depth)
    };
    format!("{}{inside}{close}", open.repeat(depth))
}

fn noise(rng: &mut Rng, length: usize) -> String {
    (0..rng.usize(0..length))
        .filter_map(|_| {
            if rng.u8(0..4) == 0 {
                rng.choice(HOLES)
            } else {
                rng.choice(PIECES)
            }
        })
        .collect()
}

/// Deletes, repeats, moves or inserts a piece of `text`.
fn mutate(rng: &mut Rng, text: &str) -> String {
    let from = floor(text, rng.usize(0..=text.len()));
    let to = floor(text, (from + rng.usize(0..30)).min(text.len()));
    let (head, rest) = text.split_at(from);
    let (middle, tail) = rest.split_at(to - from);
    match rng.u8(0..6) {
        0 => format!("{head}{tail}"),
        1 => format!("{head}{middle}{middle}{tail}"),
        2 => format!("{head}{}{middle}{tail}", rng.choice(PIECES).unwrap_or("(")),
        3 => format!("{head}{}{tail}", rng.choice(HOLES).unwrap_or("$X")),
        4 => format!("{tail}{middle}{head}"),
        _ => format!("{head}{}{tail}", noise(rng, 8)),
    }
}

/// Returns the character border at or below `at`.
fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
