//! File URIs and the paths they stand for.
//!
//! Servers spell one file in many ways (`%3A` or `:`, upper or lower case of a
//! drive, with or without an escape), so URIs are never compared as text:
//! what a server names is decoded to a path first.
//!
//! Source: RFC 3986; Language Server Protocol 3.17, "URI".

use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Returns the URI of an absolute path.
pub(crate) fn from_path(path: &Path) -> String {
    let mut uri = String::from("file://");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(*byte));
            }
            other => {
                // Writing to a string cannot fail.
                let _ = write!(uri, "%{other:02X}");
            }
        }
    }
    uri
}

/// Returns the path of a `file` URI; `None` for every other scheme, and for a
/// file of another machine.
pub(crate) fn to_path(uri: &str) -> Option<PathBuf> {
    let (scheme, rest) = uri.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let path = match rest.strip_prefix("//") {
        Some(after) => match after.strip_prefix("localhost/") {
            Some(_) => after.strip_prefix("localhost")?,
            None => after,
        },
        None => rest,
    };
    let path = path.split(['?', '#']).next()?;
    if !path.starts_with('/') {
        return None;
    }
    Some(PathBuf::from(OsString::from_vec(decode(path.as_bytes()))))
}

fn decode(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        if let (b'%', [high, low, behind @ ..]) = (first, after)
            && let (Some(high), Some(low)) = (digit(*high), digit(*low))
        {
            bytes.push(high * 16 + low);
            rest = behind;
            continue;
        }
        bytes.push(*first);
        rest = after;
    }
    bytes
}

fn digit(character: u8) -> Option<u8> {
    char::from(character)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pitfall_14_paths_survive_the_way_to_a_uri_and_back() {
        for path in [
            "/a/b.py",
            "/with space/#hash/?query/100%/é😀.py",
            "/c++/[x]/a:b@c.h",
        ] {
            let uri = from_path(Path::new(path));
            assert!(!uri.contains([' ', '#', '?']), "{uri}");
            assert_eq!(to_path(&uri).as_deref(), Some(Path::new(path)), "{uri}");
        }
    }

    #[test]
    fn pitfall_14_spellings_of_one_file_are_one_path() {
        for uri in [
            "file:///tmp/a%3Ab/%C3%A9.py",
            "file:///tmp/a:b/é.py",
            "FILE:///tmp/a%3ab/%c3%a9.py",
            "file://localhost/tmp/a:b/é.py",
            "file:/tmp/a:b/é.py",
        ] {
            assert_eq!(
                to_path(uri).as_deref(),
                Some(Path::new("/tmp/a:b/é.py")),
                "{uri}"
            );
        }
    }

    #[test]
    fn pitfall_36_other_schemes_are_no_paths() {
        for uri in ["jdt://contents/a.jar", "deno:/https/x", "untitled:1", "x"] {
            assert_eq!(to_path(uri), None, "{uri}");
        }
        // An escape that is none stays as it is.
        assert_eq!(
            to_path("file:///100%/x").as_deref(),
            Some(Path::new("/100%/x"))
        );
    }
}
