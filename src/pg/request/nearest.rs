//! The known name that is most like a name that is unknown, for hints.

use neardup_core::compare::edit_distance;
use neardup_core::executor::Stop;

/// Returns the sentence `Did you mean "…"? `, or nothing if no known name is alike.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map_or_else(String::new, |known| format!("Did you mean \"{known}\"? "))
}

/// Returns the name that differs in the fewest characters, if these are at most a third of them.
fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// No known name is longer.
    const LONGEST: usize = 40;
    if name.len() > LONGEST {
        return None;
    }
    // Case and separators are what is most often written otherwise.
    let plain = |name: &str| name.to_lowercase().replace(['_', '-', ' ', '+'], "");
    let wanted = plain(name);
    let differing = |known: &str| edit_distance(&wanted, &plain(known), &Stop::default()).ok();
    let near = known.into_iter().filter_map(|known| {
        let (distance, longer) = differing(known)?;
        (3 * distance <= longer).then_some((distance, known))
    });
    near.min_by_key(|&(distance, _)| distance).map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_name_that_was_meant() {
        let known = ["jaccard", "cosine", "max_pairs", "exact_text"];
        for (name, meant) in [
            ("cosin", "cosine"),
            ("Jacard", "jaccard"),
            ("maxPairs", "max_pairs"),
            ("exact-text", "exact_text"),
        ] {
            assert_eq!(did_you_mean(name, known), format!("Did you mean \"{meant}\"? "));
        }
        for name in ["", "x", "levenshtein", &"cosine".repeat(10), "päärchen"] {
            assert_eq!(did_you_mean(name, known), "");
        }
        assert_eq!(did_you_mean("cosine", []), "");
    }
}
