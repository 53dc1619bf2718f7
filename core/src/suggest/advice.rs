//! What to call for documents of a kind, and why: the rows of `suggest`.

use super::curve::{PairCurve, Suggested};
use super::profile::{ComparedBy, TextProfile};
use super::shares::{self, Shares, WholesAndParts};

/// A method, and whether it fits the documents.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Advice {
    /// The name of the method, or of the function of passages.
    pub method: &'static str,
    /// True if the method fits.
    pub fits: bool,
    /// The threshold, or `None` for the default of the method.
    pub threshold: Option<f64>,
    /// The tokenizer, if it is not that of words.
    pub tokenizer: Option<&'static str>,
    /// The number of words or characters of a run, if runs are compared.
    pub shingle: Option<usize>,
    /// The least number of tokens of a run in common, if these are compared.
    pub min_run: Option<usize>,
    /// Whether tokens weigh by their frequency.
    pub is_weighed: bool,
    /// The number of documents from which on runs in common do not count, if it is limited.
    pub max_documents: Option<u64>,
    /// The expected number of pairs of all documents, if it was estimated.
    pub pairs: Option<u64>,
    /// What speaks for it or against it.
    pub reason: String,
}

/// Returns the advice for documents of this kind, the best first. `shares` says what long texts
/// share, if this is known; `documents` are the number of documents in the sample and of all
/// documents.
pub fn advice(
    profile: &TextProfile,
    curve: &PairCurve,
    shares: Option<&Shares>,
    documents: [u64; 2],
) -> Vec<Advice> {
    let parts = profile.parts();
    let suggested = curve.suggest();
    let [short, median, long] = profile.words;
    let (tokenizer, shingle) = match parts {
        ComparedBy::Grams => (Some("chars"), Some(3)),
        ComparedBy::Words => (None, None),
        ComparedBy::Runs => (None, Some(3)),
    };
    let reason = format!("{}; {}", kind(profile, parts), why(&suggested, curve, documents[0]));
    let pairs = Some(of_all(suggested.pairs, documents));
    let best =
        Advice { tokenizer, shingle, pairs, ..other("jaccard", true, Some(suggested.threshold), reason) };
    let runs = runs(profile, suggested.threshold, shares, documents);
    let [first, second] = if runs.fits { [runs, best] } else { [best, runs] };
    /// The number of words up to which a text is compared character by character in good time.
    const NAME: u32 = 20;
    /// How many times longer than short documents long ones are, if they may contain these.
    const SPREAD: f64 = 8.0;
    let spread = profile.spread();
    let has_sentences = parts == ComparedBy::Runs && profile.are_texts;
    let lengths = format!("19 of 20 documents have at most {long} words, 1 of 20 at most {short}");
    vec![
        first,
        second,
        minhash(parts, median, suggested.threshold),
        other(
            "containment",
            spread >= SPREAD,
            Some(0.9),
            match spread >= SPREAD {
                true => format!(
                    "{lengths}: short ones may be excerpts of long ones, which are not similar as a whole"
                ),
                false => format!("{lengths}: what contains another document is similar to it as a whole"),
            },
        ),
        other(
            "edit",
            long <= NAME && profile.are_texts,
            Some(0.8),
            match long <= NAME {
                true => format!("{lengths}: for typing errors in names and titles"),
                false => format!("{lengths}: texts are compared character by character, which takes long"),
            },
        ),
        other(
            "tlcs",
            has_sentences,
            None,
            sentences(has_sentences, "for articles inside the templates of pages"),
        ),
        other(
            "partial_duplicates",
            has_sentences,
            None,
            sentences(has_sentences, "for passages that otherwise different documents share"),
        ),
    ]
}

/// Returns a row without an estimate, for texts as they are.
fn other(method: &'static str, fits: bool, threshold: Option<f64>, reason: String) -> Advice {
    Advice { method, fits, threshold, reason, ..Advice::default() }
}

/// Returns the row of runs, the suggestion if documents share parts of them.
fn runs(profile: &TextProfile, threshold: f64, shares: Option<&Shares>, documents: [u64; 2]) -> Advice {
    let short = "runs of words are compared, and texts of a few words that differ in one have hardly any";
    let min_run = WholesAndParts::min_run(profile);
    let reason = match shares {
        Some(shares) => shares::why(shares, threshold, min_run),
        None if !profile.are_texts => "runs of words in texts are compared, and these are tokens".to_owned(),
        None if profile.parts() == ComparedBy::Runs => "there are too many pairs to compare".to_owned(),
        None => short.to_owned(),
    };
    let fits = shares.is_some_and(|shares| shares.are_of_parts() || shares.are_of_templates());
    Advice {
        min_run: Some(min_run),
        max_documents: Some(WholesAndParts::max_documents(documents[1])),
        pairs: shares.filter(|_| fits).map(|shares| of_all(shares.pairs, [shares.documents, documents[1]])),
        ..other("runs", fits, Some(WholesAndParts::SHARE), reason)
    }
}

/// Returns the row of minhash, which compares runs of words.
fn minhash(parts: ComparedBy, median: u32, threshold: f64) -> Advice {
    let shingle = ComparedBy::Runs.spec().shingle;
    let same = "the same similarity, of which it finds a promised share: for millions of long documents, where the exact \
                join takes too long";
    match parts {
        ComparedBy::Runs => {
            Advice { shingle: Some(shingle), ..other("minhash", true, Some(threshold), same.to_owned()) }
        }
        _ => {
            let reason = format!(
                "runs of five words are compared, and half of the documents have at most {median}: a changed word is in \
                 most of them"
            );
            other("minhash", false, None, reason)
        }
    }
}

fn sentences(has: bool, what: &str) -> String {
    match has {
        true => format!("{what}: documents are long enough to have several sentences"),
        false => "sentences are compared, and most documents have only a few".to_owned(),
    }
}

/// Scales a number of pairs of a sample to all documents.
pub fn of_all(pairs: u64, [sampled, all]: [u64; 2]) -> u64 {
    if sampled >= all || sampled < 2 {
        return pairs;
    }
    let of = |documents: u64| documents as f64 * (documents as f64 - 1.0);
    (pairs as f64 * of(all) / of(sampled)).round() as u64
}

/// Says what kind of texts the documents are, and what of them is compared.
fn kind(profile: &TextProfile, parts: ComparedBy) -> String {
    let TextProfile { documents, words: [short, median, long], characters, are_texts } = *profile;
    let what = if are_texts { "texts" } else { "lists of tokens" };
    let unit = match (are_texts, characters >= 0.5) {
        (false, _) => "tokens",
        (true, true) => "characters",
        (true, false) => "words",
    };
    let compared = match parts {
        ComparedBy::Grams => "runs of 3 characters are compared, since a word is much of such a text",
        ComparedBy::Words => "single words are compared, as runs of words are changed most by a changed word",
        ComparedBy::Runs => "runs of 3 words are compared, since long texts have many words in common",
    };
    format!("{documents} {what} with a median of {median} {unit}, 9 of 10 with {short} to {long}: {compared}")
}

/// Says why this threshold, and what to look at.
fn why(suggested: &Suggested, curve: &PairCurve, documents: u64) -> String {
    /// So few pairs of a sample say little.
    const FEW: u64 = 20;
    let Suggested { threshold, pairs, around, below, largest, largest_alike } = *suggested;
    let [low, high] = [threshold - 0.05, threshold + 0.05];
    let floor = PairCurve::FLOOR;
    let mut why = match curve.all() {
        0 => format!(
            "no two documents of the sample have a similarity of {floor} or more, so the threshold is a usual one"
        ),
        all if all < FEW => {
            format!(
                "the sample has only {all} pairs with a similarity of {floor} or more, so the threshold is a guess"
            )
        }
        _ => format!(
            "pairs are fewest around {threshold}: {below} from {floor} to {low:.2}, {around} up to {high:.2}, {} from there on",
            curve.all() - below - around
        ),
    };
    if curve.is_full() {
        why += "; the sample has more pairs than were counted";
    }
    if pairs > 0 {
        why += &format!("; the largest cluster has {largest} of {documents} documents");
    }
    if u64::from(largest) > 100.max(documents / 10) && largest_alike < largest / 2 {
        why += ", which looks like a chain of unlike documents or a template: look at it, or raise the threshold";
    }
    why
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(words: [u32; 3]) -> TextProfile {
        TextProfile { documents: 1000, words, characters: 0.0, are_texts: true }
    }

    fn fitting(words: [u32; 3]) -> Vec<&'static str> {
        let rows = advice(&profile(words), &PairCurve::new(10).unwrap(), None, [1000, 1000]);
        assert_eq!(rows.len(), 7);
        rows.iter().filter(|row| row.fits).map(|row| row.method).collect()
    }

    #[test]
    fn methods_by_kind() {
        assert_eq!(fitting([4, 5, 6]), ["jaccard", "edit"]);
        assert_eq!(fitting([10, 25, 40]), ["jaccard"]);
        assert_eq!(fitting([10, 25, 80]), ["jaccard", "containment"]);
        assert_eq!(fitting([100, 300, 700]), ["jaccard", "minhash", "tlcs", "partial_duplicates"]);
    }

    #[test]
    fn runs_come_first_where_documents_share_parts() {
        let of = |apart: u64| {
            let shares =
                Shares { documents: 1000, pairs: 60, with_runs: 50, apart, similar: 30, ..Shares::default() };
            let curve = PairCurve::new(10).unwrap();
            advice(&profile([100, 300, 700]), &curve, Some(&shares), [1000, 100_000]).swap_remove(0)
        };
        let first = of(20);
        assert_eq!((first.method, first.threshold), ("runs", Some(0.15)));
        assert_eq!((first.min_run, first.max_documents), (Some(6), Some(1000)));
        assert!(first.pairs.is_some_and(|pairs| pairs > 60 * 9000), "{first:?}");
        assert_eq!(of(5).method, "jaccard");
    }

    #[test]
    fn pairs_are_scaled_to_all_documents() {
        assert_eq!(of_all(10, [1000, 1000]), 10);
        assert_eq!(of_all(10, [1000, 10_000]), 1001);
        assert_eq!([of_all(0, [0, 10]), of_all(0, [1, 10])], [0, 0]);
    }

    #[test]
    fn reasons_name_the_figures() {
        let mut curve = PairCurve::new(300).unwrap();
        (0..150).for_each(|n| curve.add([n, n + 1], 0.9, 1));
        (0..30).for_each(|n| curve.add([n, n + 2], 0.32, 1));
        let rows = advice(&profile([10, 25, 40]), &curve, None, [300, 300]);
        assert_eq!((rows[0].threshold, rows[0].pairs), (Some(0.5), Some(150)));
        let reason = &rows[0].reason;
        let says = |what: &str| assert!(reason.contains(what), "{reason}");
        says("1000 texts with a median of 25 words, 9 of 10 with 10 to 40");
        says("30 from 0.3 to 0.45, 0 up to 0.55, 150 from there on");
        says("the largest cluster has 151 of 300 documents, which looks like");
        (0..150).for_each(|n| curve.add([n, n + 1], 1.0, 1));
        let rows = advice(&profile([10, 25, 40]), &curve, None, [300, 300]);
        assert!(rows[0].reason.ends_with("151 of 300 documents"), "{}", rows[0].reason);
        let none = advice(&profile([0, 0, 0]), &PairCurve::new(0).unwrap(), None, [0, 0]);
        assert!(none[0].reason.contains("no two documents"), "{}", none[0].reason);
    }
}
