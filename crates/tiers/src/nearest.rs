//! Finds what somebody probably meant.

/// Longer words are compared by their beginning: the distance is quadratic.
const LONGEST: usize = 64;

/// Returns up to three of `candidates` that look like `word`, nearest first.
///
/// Case and the difference between `-`, `_` and space do not count. Empty when
/// nothing is near: a far guess misleads more than no guess.
///
/// ```
/// assert_eq!(tiers::nearest("ast-gerp", ["ast_edit", "ast_grep", "lsp"]), ["ast_grep"]);
/// assert!(tiers::nearest("banana", ["ast_grep", "lsp"]).is_empty());
/// ```
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = fold(word);
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut near: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let folded = fold(candidate);
            let length = wanted.chars().count().max(folded.chars().count());
            let distance = strsim::damerau_levenshtein(&wanted, &folded);
            let is_part = wanted.len() >= 3
                && folded.len() >= 3
                && (folded.contains(&wanted) || wanted.contains(&folded));
            if distance <= (length / 3).max(1) {
                Some((distance, candidate))
            } else if is_part {
                Some((length, candidate))
            } else {
                None
            }
        })
        .collect();
    near.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.cmp(b.1)));
    // A guess much farther than the best one is noise.
    let best = near.first().map_or(0, |(distance, _)| *distance);
    near.into_iter()
        .take_while(|(distance, _)| *distance <= best + 1)
        .take(3)
        .map(|(_, candidate)| candidate)
        .collect()
}

fn fold(word: &str) -> String {
    word.trim()
        .chars()
        .take(LONGEST)
        .flat_map(char::to_lowercase)
        .map(|c| if matches!(c, '-' | ' ') { '_' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_is_nearer_than_another_word() {
        assert_eq!(nearest("lps", ["lsp", "debug"]), ["lsp"]);
    }

    #[test]
    fn a_part_of_a_name_is_a_guess() {
        assert_eq!(nearest("grep", ["ast_grep", "lsp"]), ["ast_grep"]);
    }

    #[test]
    fn nothing_near_is_no_guess() {
        assert!(nearest("quux", ["ast_grep", "lsp", "eval"]).is_empty());
        assert!(nearest("", ["a"]).is_empty());
    }

    #[test]
    fn long_words_do_not_take_long() {
        let long = "x".repeat(1_000_000);
        assert!(nearest(&long, ["ast_grep", long.as_str()]).contains(&long.as_str()));
    }
}
