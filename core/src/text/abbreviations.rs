//! English words after which a full stop does not always end a sentence.

/// The meaning of a full stop after a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Abbreviation {
    /// A title before a name. The full stop never ends a sentence.
    Title,
    /// An abbreviation before a number. The full stop does not end a sentence if a number follows:
    /// No. 5, p. 7.
    BeforeNumber,
    /// An abbreviation at any place. The full stop ends a sentence only if the next word usually
    /// begins a sentence.
    Anywhere,
    /// Not an abbreviation.
    None,
}

/// Returns the meaning of a full stop after a lower-cased word (without the stop). `capital` is
/// true if the word began with a capital letter. O(log of the length of the list).
pub fn abbreviation(word: &str, capital: bool) -> Abbreviation {
    let is_in = |list: &[&str]| list.binary_search(&word).is_ok();
    if is_in(&TITLES) {
        Abbreviation::Title
    } else if is_in(&BEFORE_NUMBERS) {
        Abbreviation::BeforeNumber
    } else if is_in(&ANYWHERE) || (capital && is_in(&CAPITALISED)) {
        Abbreviation::Anywhere
    } else {
        Abbreviation::None
    }
}

/// Reports whether a lower-cased word often begins a sentence and seldom a name.
pub fn is_starter(word: &str) -> bool {
    STARTERS.binary_search(&word).is_ok()
}

/// The length of the longest word in the lists, in bytes.
pub const LONGEST: usize = 8;

static TITLES: [&str; 43] = [
    "adm", "atty", "brig", "capt", "cf", "cmdr", "col", "cpl", "dr", "drs", "e.g", "fr", "gen", "gov", "hon",
    "i.e", "lt", "maj", "messrs", "mlle", "mme", "mr", "mrs", "ms", "mt", "mx", "pfc", "ph", "pres", "prof",
    "profs", "pvt", "rep", "reps", "rev", "sen", "sens", "sgt", "st", "supt", "viz", "vs", "vv",
];

static BEFORE_NUMBERS: [&str; 41] = [
    "app", "art", "arts", "c", "ca", "ch", "chap", "cl", "d", "ed", "eq", "eqs", "ex", "fig", "figs", "fn",
    "n", "no", "nos", "nr", "op", "p", "para", "paras", "pp", "pt", "pts", "ref", "refs", "s", "sec", "secs",
    "sect", "ser", "t", "tab", "v", "ver", "vol", "vols", "vss",
];

static ANYWHERE: [&str; 59] = [
    "al", "anon", "approx", "apt", "assn", "assoc", "asst", "ave", "avg", "bldg", "blvd", "bros", "cie",
    "co", "corp", "cos", "ct", "cu", "dept", "dist", "div", "dt", "est", "etc", "exch", "ext", "ft", "gal",
    "govt", "hr", "hrs", "hwy", "ibid", "inc", "incl", "intl", "jr", "kg", "km", "lb", "lbs", "llc", "ltd",
    "ltda", "mfg", "mins", "misc", "natl", "oz", "plc", "pty", "rd", "rte", "sq", "sr", "tel", "thur",
    "tues", "univ",
];

/// Abbreviations of places and times. They count only if capitalised, because many of them are also
/// common words.
static CAPITALISED: [&str; 49] = [
    "ala", "apr", "ariz", "ark", "aug", "calif", "colo", "conn", "dec", "del", "feb", "fed", "fla", "fri",
    "ga", "ill", "ind", "jan", "jul", "jun", "kan", "mar", "mass", "md", "mich", "minn", "miss", "mo", "mon",
    "mont", "neb", "nev", "nov", "oct", "okla", "ore", "pa", "penn", "sat", "sept", "tenn", "tex", "thu",
    "tue", "va", "vt", "wash", "wed", "wis",
];

static STARTERS: [&str; 84] = [
    "a",
    "about",
    "according",
    "after",
    "all",
    "also",
    "although",
    "an",
    "and",
    "another",
    "any",
    "are",
    "as",
    "at",
    "because",
    "before",
    "both",
    "but",
    "by",
    "can",
    "did",
    "do",
    "during",
    "each",
    "even",
    "every",
    "for",
    "from",
    "he",
    "her",
    "here",
    "his",
    "how",
    "however",
    "i",
    "if",
    "in",
    "is",
    "it",
    "its",
    "last",
    "later",
    "many",
    "meanwhile",
    "more",
    "most",
    "my",
    "nevertheless",
    "no",
    "not",
    "now",
    "on",
    "once",
    "one",
    "only",
    "other",
    "our",
    "she",
    "since",
    "so",
    "some",
    "such",
    "that",
    "the",
    "their",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "though",
    "thus",
    "to",
    "under",
    "we",
    "what",
    "when",
    "where",
    "while",
    "who",
    "why",
    "with",
    "you",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_and_lower_case() {
        for list in [&TITLES[..], &BEFORE_NUMBERS, &ANYWHERE, &CAPITALISED, &STARTERS] {
            assert!(list.is_sorted_by(|a, b| a < b), "{:?}", list.windows(2).find(|w| w[0] >= w[1]));
            assert!(list.iter().all(|word| *word == word.to_lowercase()));
        }
        assert!(
            [&TITLES[..], &BEFORE_NUMBERS, &ANYWHERE, &CAPITALISED]
                .concat()
                .iter()
                .all(|w| w.len() <= LONGEST)
        );
        assert_eq!(abbreviation("mr", true), Abbreviation::Title);
        assert_eq!(abbreviation("cat", true), Abbreviation::None);
        assert_eq!(abbreviation("sat", false), Abbreviation::None);
        assert_eq!(abbreviation("sat", true), Abbreviation::Anywhere);
    }
}
