//! Takes terminal control sequences out of output, and finds our marks in it.
//!
//! A mark is an operating-system command, which no terminal shows:
//! `ESC ] <token> ; <number> BEL`. The kernel writes one where something is
//! shown between two pieces of output. Whatever sequence a program leaves
//! unfinished, a mark after it is found, since `ESC` ends every one of them.

/// The longest command whose text is looked at.
const MAX_COMMAND: usize = 96;

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;

/// A piece of cleaned output.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    Text(&'a [u8]),
    Mark(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ground,
    Escape,
    /// After `ESC` and one or more of the bytes that ask for one more.
    Intermediate,
    Control,
    Command,
    CommandEscape,
}

/// Cleans one stream, piece by piece.
#[derive(Debug)]
pub(crate) struct Cleaner {
    token: String,
    state: State,
    command: Vec<u8>,
}

impl Cleaner {
    pub(crate) fn new(token: &str) -> Self {
        Self {
            token: token.to_owned(),
            state: State::Ground,
            command: Vec::new(),
        }
    }

    /// Hands the pieces of `bytes` to `take`, in order.
    ///
    /// Source: ECMA-48, 5.4 and 5.6.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], mut take: impl FnMut(Piece<'_>)) {
        while let Some(&byte) = bytes.first() {
            if self.state == State::Ground {
                let end = memchr::memchr(ESCAPE, bytes).unwrap_or(bytes.len());
                let (text, rest) = bytes.split_at(end);
                if !text.is_empty() {
                    take(Piece::Text(text));
                }
                bytes = rest.get(1..).unwrap_or_default();
                if !rest.is_empty() {
                    self.state = State::Escape;
                }
                continue;
            }
            let is_used = self.step(byte, &mut take);
            if is_used {
                bytes = bytes.get(1..).unwrap_or_default();
            }
        }
    }

    /// Takes one byte of a sequence; returns whether it belongs to it.
    fn step(&mut self, byte: u8, take: &mut impl FnMut(Piece<'_>)) -> bool {
        let is_control = byte < 0x20 && byte != ESCAPE;
        let (state, is_used) = match self.state {
            State::Ground => (State::Ground, false),
            State::Command => match byte {
                BELL => {
                    self.finish_command(take);
                    (State::Ground, true)
                }
                ESCAPE => (State::CommandEscape, true),
                // No command goes over several lines: this one was never ended.
                b'\n' => (State::Ground, false),
                _ => {
                    if self.command.len() < MAX_COMMAND {
                        self.command.push(byte);
                    }
                    (State::Command, true)
                }
            },
            State::CommandEscape if byte == b'\\' => {
                self.finish_command(take);
                (State::Ground, true)
            }
            State::CommandEscape => (State::Escape, false),
            _ if byte == ESCAPE => (State::Escape, true),
            _ if is_control => (State::Ground, false),
            State::Escape => match byte {
                b'[' => (State::Control, true),
                b']' | b'P' | b'X' | b'^' | b'_' => {
                    self.command.clear();
                    if byte != b']' {
                        // Not a command: its text can be no mark.
                        self.command.push(0);
                    }
                    (State::Command, true)
                }
                0x20..=0x2f => (State::Intermediate, true),
                0x80.. => (State::Ground, false),
                _ => (State::Ground, true),
            },
            State::Intermediate | State::Control => {
                let goes_on = match self.state {
                    State::Control => (0x20..=0x3f).contains(&byte),
                    _ => (0x20..=0x2f).contains(&byte),
                };
                match byte {
                    _ if goes_on => (self.state, true),
                    0x7f.. => (State::Ground, false),
                    _ => (State::Ground, true),
                }
            }
        };
        self.state = state;
        is_used
    }

    fn finish_command(&mut self, take: &mut impl FnMut(Piece<'_>)) {
        let number = std::str::from_utf8(&self.command)
            .ok()
            .and_then(|text| text.strip_prefix(self.token.as_str()))
            .and_then(|rest| rest.strip_prefix(';'))
            .and_then(|number| number.parse().ok());
        self.command.clear();
        if let Some(number) = number {
            take(Piece::Mark(number));
        }
    }
}

/// Makes text of cleaned bytes: invalid ones replaced, of a line that was
/// overwritten (a progress bar) its last state, other control characters
/// escaped.
pub(crate) fn readable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    if !text.contains(|c: char| c.is_control() && c != '\n' && c != '\t') {
        return text.into_owned();
    }
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = match line.strip_suffix('\n') {
            Some(line) => (line, "\n"),
            None => (line, ""),
        };
        // What comes after the last return is what stays on a terminal, unless
        // nothing came after it.
        let shown = line.trim_end_matches('\r');
        let shown = shown.rsplit_once('\r').map_or(shown, |(_, last)| last);
        for c in shown.chars() {
            match c {
                '\t' => out.push(c),
                // Bells and deletes mean nothing here.
                '\u{7}' | '\u{7f}' => {}
                '\u{8}' => {
                    out.pop();
                }
                c if c.is_control() => out.extend(c.escape_default()),
                c => out.push(c),
            }
        }
        out.push_str(end);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cleans `bytes` in pieces of `size`: text as it is, marks as `<n>`.
    fn cleaned(bytes: &[u8], size: usize) -> String {
        let mut cleaner = Cleaner::new("t0k");
        let mut out = Vec::new();
        for part in bytes.chunks(size) {
            cleaner.feed(part, |piece| match piece {
                Piece::Text(text) => out.extend_from_slice(text),
                Piece::Mark(number) => out.extend(format!("<{number}>").into_bytes()),
            });
        }
        String::from_utf8_lossy(&out).into_owned()
    }

    #[track_caller]
    fn check(bytes: &str, wanted: &str) {
        for size in [1, 2, 3, 7, 1000] {
            assert_eq!(
                cleaned(bytes.as_bytes(), size),
                wanted,
                "in pieces of {size}"
            );
        }
    }

    #[test]
    fn colours_and_titles_go_and_text_stays() {
        check("a\x1b[1;31mred\x1b[0m b", "ared b");
        check(
            "\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\",
            "alink",
        );
        check("\x1b(Ba\x1b=b\x1bMc é\x1b[2Kd", "abc éd");
    }

    #[test]
    fn a_mark_is_found_after_any_unfinished_sequence() {
        for before in [
            "",
            "\x1b",
            "\x1b[",
            "\x1b[1;",
            "\x1b]",
            "\x1b]0;tit",
            "\x1b(",
            "\x1bP1",
        ] {
            check(&format!("a{before}\x1b]t0k;12\x07b"), "a<12>b");
        }
    }

    #[test]
    fn only_our_token_makes_a_mark() {
        check(
            "\x1b]other;1\x07\x1b]t0k1\x07\x1b]t0k;x\x07\x1bPt0k;1\x07ok",
            "ok",
        );
    }

    #[test]
    fn an_unfinished_sequence_takes_no_line_along() {
        check("a\x1b]never ended\nb\x1b[1\nc\x1b\nd", "a\nb\nc\nd");
    }

    #[test]
    fn a_progress_bar_shows_its_last_state() {
        assert_eq!(readable(b"10%\r50%\r100%\ndone\r\n"), "100%\ndone\n");
        assert_eq!(readable(b"a\r"), "a");
        assert_eq!(readable(b"a\0b\x07c\xffd ab\x08c"), "a\\u{0}bc\u{fffd}d ac");
    }
}
