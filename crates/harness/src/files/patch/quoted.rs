//! Names in quotes, as git and GNU diff write those with unusual characters.

/// Reads a name that starts with `"`; returns it and what follows the quotes.
///
/// Source: `core.quotePath` of git: the escapes of C, with bytes in octal.
pub(super) fn parse(text: &str) -> Option<(String, &str)> {
    let mut rest = text.strip_prefix('"')?.chars();
    let mut bytes = Vec::new();
    loop {
        match rest.next()? {
            '"' => return Some((String::from_utf8(bytes).ok()?, rest.as_str())),
            '\\' => bytes.push(match rest.next()? {
                'a' => 0x07,
                'b' => 0x08,
                't' => b'\t',
                'n' => b'\n',
                'v' => 0x0b,
                'f' => 0x0c,
                'r' => b'\r',
                '"' => b'"',
                '\\' => b'\\',
                first @ '0'..='3' => {
                    let digit = |digit: char| digit.to_digit(8).and_then(|n| u8::try_from(n).ok());
                    let (second, third) = (rest.next()?, rest.next()?);
                    digit(first)? << 6 | digit(second)? << 3 | digit(third)?
                }
                _ => return None,
            }),
            other => bytes.extend(other.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_escape_of_git_is_decoded() {
        let text = r#""\a\b\t\n\v\f\r\"\\ \303\251 é" rest"#;
        let expected = "\u{7}\u{8}\t\n\u{b}\u{c}\r\"\\ é é";
        assert_eq!(parse(text), Some((expected.to_owned(), " rest")));
    }

    #[test]
    fn what_git_never_writes_is_refused() {
        for text in [
            "",
            "a",
            "\"a",
            r#""\x41""#,
            r#""\400""#,
            r#""\18""#,
            r#""\377""#,
            r#""\"#,
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
