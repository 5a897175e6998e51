//! Whether a text can be a name in a language.
//!
//! Many servers write whatever they are given, so it is checked before they are
//! asked.

/// Names that a language keeps for itself, by the ids of the protocol.
const RESERVED: &[(&[&str], &str)] = &[
    (
        &["python"],
        "False None True and as assert async await break class continue def del elif else except \
         finally for from global if import in is lambda nonlocal not or pass raise return try \
         while with yield",
    ),
    (
        &["c", "objective-c"],
        "auto break case char const continue default do double else enum extern float for goto if \
         inline int long register restrict return short signed sizeof static struct switch \
         typedef union unsigned void volatile while _Bool _Complex _Imaginary _Alignas _Alignof \
         _Atomic _Generic _Noreturn _Static_assert _Thread_local",
    ),
    (
        &["cpp", "objective-cpp", "cuda-cpp"],
        "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t \
         char16_t char32_t class compl concept const consteval constexpr constinit const_cast \
         continue co_await co_return co_yield decltype default delete do double dynamic_cast else \
         enum explicit export extern false float for friend goto if inline int long mutable \
         namespace new noexcept not not_eq nullptr operator or or_eq private protected public \
         register reinterpret_cast requires return short signed sizeof static static_assert \
         static_cast struct switch template this thread_local throw true try typedef typeid \
         typename union unsigned using virtual void volatile wchar_t while xor xor_eq",
    ),
    (
        &["rust"],
        "as async await break const continue crate dyn else enum extern false fn for if impl in \
         let loop match mod move mut pub ref return self Self static struct super trait true type \
         unsafe use where while abstract become box do final gen macro override priv try typeof \
         unsized virtual yield",
    ),
    (
        &["go"],
        "break case chan const continue default defer else fallthrough for func go goto if import \
         interface map package range return select struct switch type var",
    ),
    (
        &[
            "javascript",
            "javascriptreact",
            "typescript",
            "typescriptreact",
        ],
        "arguments await break case catch class const continue debugger default delete do else \
         enum eval export extends false finally for function if implements import in instanceof \
         interface let new null package private protected public return static super switch this \
         throw true try typeof var void while with yield",
    ),
    (
        &["java"],
        "abstract assert boolean break byte case catch char class const continue default do double \
         else enum extends final finally float for goto if implements import instanceof int \
         interface long native new package private protected public return short static strictfp \
         super switch synchronized this throw throws transient try void volatile while true false \
         null _",
    ),
];

/// Languages whose names may hold `$`.
const WITH_DOLLAR: &[&str] = &[
    "javascript",
    "javascriptreact",
    "typescript",
    "typescriptreact",
    "java",
    "php",
    "dart",
];

/// Says why `name` is none in `language`; nothing where it may be one.
///
/// Of a language that is not known here only what is a name nowhere is refused.
pub(super) fn problem(language: &str, name: &str) -> Option<String> {
    let Some((_, reserved)) = RESERVED.iter().find(|(ids, _)| ids.contains(&language)) else {
        let separates =
            |c: char| c.is_whitespace() || c.is_control() || "()[]{}<>\"'`,;".contains(c);
        return match name.chars().find(|character| separates(*character)) {
            Some(character) => Some(format!(
                "`{}` cannot be in a name",
                character.escape_debug()
            )),
            None => name.is_empty().then(|| "it is empty".to_owned()),
        };
    };
    let is_extra = |c: char| c == '_' || (c == '$' && WITH_DOLLAR.contains(&language));
    // A raw identifier of Rust may be a reserved word.
    let (bare, is_raw) = match name.strip_prefix("r#") {
        Some(bare) if language == "rust" => (bare, true),
        _ => (name, false),
    };
    let mut characters = bare.chars();
    let Some(first) = characters.next() else {
        return Some("it is empty".to_owned());
    };
    if !first.is_alphabetic() && !is_extra(first) {
        return Some(format!("no name begins with `{}`", first.escape_debug()));
    }
    if let Some(odd) = characters.find(|c| !c.is_alphanumeric() && !is_extra(*c)) {
        return Some(format!("`{}` cannot be in a name", odd.escape_debug()));
    }
    let is_reserved = !is_raw && reserved.split_whitespace().any(|word| word == bare);
    is_reserved.then(|| format!("{language} keeps that word for itself"))
}

#[cfg(test)]
mod tests {
    use super::problem;

    #[test]
    fn pitfall_39_a_name_must_be_one_in_its_language() {
        for (language, name) in [
            ("python", "kernel"),
            ("python", "größe_2"),
            ("cpp", "_x"),
            ("typescript", "$value"),
            ("rust", "r#type"),
            ("go", "error"),
            ("shellscript", "do-it"),
        ] {
            assert_eq!(problem(language, name), None, "{language} {name}");
        }
        for (language, name, why) in [
            ("python", "1 bad name", "no name begins with `1`"),
            ("python", "a b", "` ` cannot be in a name"),
            ("python", "lambda", "python keeps that word for itself"),
            ("cpp", "$x", "no name begins with `$`"),
            ("cpp", "a.b", "`.` cannot be in a name"),
            ("rust", "type", "rust keeps"),
            ("typescript", "enum", "typescript keeps"),
            ("python", "", "it is empty"),
            ("shellscript", "a b", "` ` cannot be in a name"),
            ("shellscript", "", "it is empty"),
        ] {
            let said = problem(language, name).unwrap_or_default();
            assert!(said.contains(why), "{language} {name}: {said}");
        }
    }
}
