//! Takes secrets out of what programs print.

use std::ffi::OsStr;

use host::process::Environment;

/// Parts of names of variables that hold something secret.
const SECRET_NAMES: &[&str] = &[
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "CREDENTIAL",
    "API_KEY",
    "APIKEY",
    "PRIVATE_KEY",
    "ACCESS_KEY",
    "AUTH",
];
/// A shorter value is found everywhere by chance.
const SHORTEST: usize = 6;
const REPLACEMENT: &str = "[secret]";

/// Replaces the values of variables that look like credentials, what is assigned
/// to such a name, and the user part of URLs.
pub(crate) fn redact(text: &str, environment: &Environment) -> String {
    let mut text = text.to_owned();
    for (name, value) in environment.iter() {
        if let Some(value) = value.to_str()
            && value.len() >= SHORTEST
            && is_secret_name(name)
        {
            text = text.replace(value, REPLACEMENT);
        }
    }
    let lines: Vec<String> = text.split('\n').map(line).collect();
    lines.join("\n")
}

fn is_secret_name(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    SECRET_NAMES.iter().any(|part| name.contains(part))
}

fn line(line: &str) -> String {
    let words = line.split_inclusive(char::is_whitespace);
    words.map(|word| assignment(&user_of_url(word))).collect()
}

/// Replaces `user:password` in `https://user:password@host`.
fn user_of_url(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else {
        return word.to_owned();
    };
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(authority_end);
    match authority.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://{REPLACEMENT}@{host}{path}"),
        None => word.to_owned(),
    }
}

/// Replaces the value in `NAME=value` where the name looks like a secret's.
fn assignment(word: &str) -> String {
    let Some((name, value)) = word.split_once('=') else {
        return word.to_owned();
    };
    if value.trim_end().len() < SHORTEST || !is_secret_name(OsStr::new(name)) {
        return word.to_owned();
    }
    let end = value.strip_prefix(value.trim_end()).unwrap_or_default();
    format!("{name}={REPLACEMENT}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pitfall_56_secrets_are_taken_out_of_what_a_server_prints() {
        let environment = Environment::empty()
            .with("MY_TOKEN", "t0k3n-value")
            .with("SHORT_TOKEN", "abc")
            .with("LANG", "C.UTF-8");
        let text = "bad t0k3n-value for abc in C.UTF-8\nGITHUB_TOKEN=ghp_123456 at \
                    http://me:pass@proxy:80/x and x=123456 end";
        assert_eq!(
            redact(text, &environment),
            "bad [secret] for abc in C.UTF-8\nGITHUB_TOKEN=[secret] at \
             http://[secret]@proxy:80/x and x=123456 end"
        );
    }
}
