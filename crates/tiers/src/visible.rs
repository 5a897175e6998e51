//! Text that shows all that is in it.

use std::borrow::Cow;

/// Writes what cannot be seen, or makes what is around it look like something
/// else, as an escape: control characters but the tab, marks that reorder text,
/// and characters without a width that no word is written with.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) {
            out.extend(c.escape_debug());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\t')
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'
                // Not the joiners, which emoji and many scripts are written with.
                | '\u{200e}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Does so on each line.
pub(crate) fn visible_lines(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| c != '\n' && is_hidden(c)) {
        return Cow::Borrowed(text);
    }
    let lines: Vec<Cow<'_, str>> = text.split('\n').map(visible).collect();
    Cow::Owned(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_written_out() {
        let text = "a\tb\r\n\u{1b}[31m\u{202e}x\u{2066}\u{e0041}é👩\u{200d}💻";
        assert_eq!(
            visible(text),
            "a\tb\\r\\n\\u{1b}[31m\\u{202e}x\\u{2066}\\u{e0041}é👩\u{200d}💻"
        );
        assert!(matches!(visible("plain é\t"), Cow::Borrowed(_)));
    }

    #[test]
    fn lines_stay_lines() {
        assert_eq!(visible_lines("a\u{7}\n\tb\n"), "a\\u{7}\n\tb\n");
        assert!(matches!(visible_lines("a\nb"), Cow::Borrowed(_)));
    }
}
