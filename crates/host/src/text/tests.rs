use proptest::prelude::*;

use super::*;

/// The definition, spelt out: every position of the text, found by walking it.
fn naive_positions(text: &str) -> Vec<(usize, u32, u32, u32)> {
    let mut positions = Vec::new();
    let (mut line, mut utf8, mut utf16) = (0, 0, 0);
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        positions.push((at, line, utf8, utf16));
        match character {
            '\r' if characters.peek().is_some_and(|(_, next)| *next == '\n') => {
                characters.next();
                (line, utf8, utf16) = (line + 1, 0, 0);
            }
            '\r' | '\n' => (line, utf8, utf16) = (line + 1, 0, 0),
            _ => {
                utf8 += character.len_utf8() as u32;
                utf16 += character.len_utf16() as u32;
            }
        }
    }
    positions.push((text.len(), line, utf8, utf16));
    positions
}

fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => Just("a"), 1 => Just("é"), 1 => Just("漢"), 2 => Just("😀"), 1 => Just("\u{2028}"),
        2 => Just("\n"), 2 => Just("\r"), 2 => Just("\r\n"), 1 => Just("\u{feff}"),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn every_position_agrees_with_the_naive_model(text in texts()) {
        let index = LineIndex::new(text.as_str());
        let positions = naive_positions(&text);
        for &(offset, line, utf8, utf16) in &positions {
            let line = Line::from_zero(line);
            prop_assert_eq!(index.line_at(offset), Ok(line));
            prop_assert_eq!(index.utf8_position(offset), Ok((line, Utf8Column(utf8))));
            prop_assert_eq!(index.utf16_position(offset), Ok((line, Utf16Column(utf16))));
            prop_assert_eq!(index.offset_of_utf8(line, Utf8Column(utf8)), Ok(offset));
            prop_assert_eq!(index.offset_of_utf16(line, Utf16Column(utf16)), Ok(offset));
        }
        // Whatever the model does not list is an error whose nearest offset it lists.
        for offset in 0..text.len() + 3 {
            let listed = positions.iter().any(|position| position.0 == offset);
            match index.utf16_position(offset) {
                Ok(_) => prop_assert!(listed),
                Err(error) => {
                    prop_assert!(!listed);
                    prop_assert!(positions.iter().any(|position| position.0 == error.nearest()));
                }
            }
        }
        for line in 0..index.line_count() + 2 {
            for column in 0..100 {
                let listed = positions.iter().find(|p| (p.1, p.3) == (line, column));
                let found = index.offset_of_utf16(Line::from_zero(line), Utf16Column(column));
                match (found, listed) {
                    (Ok(offset), Some(position)) => prop_assert_eq!(offset, position.0),
                    (Err(error), None) => {
                        prop_assert!(positions.iter().any(|p| p.0 == error.nearest()));
                    }
                    (found, listed) => prop_assert!(false, "{found:?} but {listed:?}"),
                }
                let listed = positions.iter().find(|p| (p.1, p.2) == (line, column));
                let found = index.offset_of_utf8(Line::from_zero(line), Utf8Column(column));
                prop_assert_eq!(found.ok(), listed.map(|p| p.0));
            }
        }
    }

    #[test]
    fn lines_and_their_endings_make_up_the_text(text in texts()) {
        let index = LineIndex::new(&text);
        let mut rebuilt = String::new();
        for line in 0..index.line_count() {
            let range = index.line_range(Line::from_zero(line)).unwrap();
            prop_assert_eq!(text.get(range.clone()).unwrap(), index.line_text(Line::from_zero(line)).unwrap());
            prop_assert!(!text.get(range.clone()).unwrap().contains(['\r', '\n']));
            let next = index.line_range(Line::from_zero(line + 1)).map_or(text.len(), |r| r.start);
            rebuilt.push_str(text.get(range.start..next).unwrap());
        }
        prop_assert_eq!(rebuilt, text);
    }

    #[test]
    fn bytes_survive_parsing(text in texts()) {
        let bytes = text.clone().into_bytes();
        let source = SourceText::parse(bytes.clone()).unwrap();
        prop_assert_eq!(source.has_bom, text.starts_with('\u{feff}'));
        prop_assert_eq!(source.to_bytes(), bytes);
    }
}

#[test]
fn errors_say_what_the_text_has() {
    let index = LineIndex::new("ab\n😀");
    let message = |error: PositionError| error.to_string();
    let second = Line::from_one(2).unwrap();
    assert_eq!(
        message(index.line_range(Line::from_zero(2)).unwrap_err()),
        "no line 3: the text has 2"
    );
    assert_eq!(
        message(index.offset_of_utf16(second, Utf16Column(3)).unwrap_err()),
        "no column 3 in line 2: it has 2 UTF-16 units"
    );
    assert_eq!(
        message(index.offset_of_utf16(second, Utf16Column(1)).unwrap_err()),
        "column 1 in line 2 is inside a character"
    );
    assert_eq!(
        message(index.offset_of_utf8(second, Utf8Column(9)).unwrap_err()),
        "no column 9 in line 2: it has 4 bytes"
    );
    assert_eq!(
        message(index.line_at(8).unwrap_err()),
        "no byte 8: the text has 7"
    );
    assert_eq!(
        message(LineIndex::new("a\r\n").utf8_position(2).unwrap_err()),
        "byte 2 is inside the line ending of line 1"
    );
}

#[test]
fn line_numbers_do_not_overflow() {
    assert_eq!(Line::from_one(0), None);
    assert_eq!(Line::from_zero(u32::MAX).one_based(), 1 << 32);
    let index = LineIndex::new("a");
    assert!(index.line_range(Line::from_zero(u32::MAX)).is_err());
    let far = index.offset_of_utf8(Line::from_zero(0), Utf8Column(u32::MAX));
    assert_eq!(far.unwrap_err().nearest(), 1);
}

#[test]
fn the_usual_line_ending_is_the_one_used_most() {
    let ending = |text: &str| {
        let source = SourceText::parse(text.as_bytes().to_vec()).unwrap();
        source.line_ending().map(LineEnding::as_str)
    };
    assert_eq!(ending("a"), None);
    assert_eq!(ending("\n"), Some("\n"));
    assert_eq!(ending("a\r\nb\nc\r\n"), Some("\r\n"));
    assert_eq!(ending("a\rb\r"), Some("\r"));
    assert_eq!(ending("a\r\nb\n"), Some("\r\n"));
    assert_eq!(ending("a\nb\r\n"), Some("\n"));
}

#[test]
fn bytes_that_are_not_utf8_are_located_in_the_file() {
    let error = SourceText::parse(b"\xef\xbb\xbfab\xff".to_vec()).unwrap_err();
    assert_eq!(error.valid_up_to, 5);
    assert_eq!(error.to_string(), "byte 5 starts no UTF-8 character");
}
