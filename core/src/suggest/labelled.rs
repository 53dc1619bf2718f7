//! The rows of `suggest` for documents with labels: the threshold that the answers speak for, and
//! the precision and recall of all others.

use super::advice::Advice;
use super::answers::{Answers, Interval, ThresholdEstimate, best, value};
use super::curve::PairCurve;
use super::weighed::WeightGain;

/// A threshold, and whether it has the wanted precision.
#[derive(Debug, Clone, PartialEq)]
pub struct Labelled {
    /// What is known of it.
    pub estimate: ThresholdEstimate,
    /// The row of the threshold.
    pub advice: Advice,
}

/// Returns the rows of all thresholds that have pairs, the suggested one first. `suggestion` is the
/// row without labels, and `all` scales a number of pairs to all documents.
pub fn labelled(
    suggestion: &Advice,
    answers: &Answers,
    curve: &PairCurve,
    wanted: Option<f64>,
    all: impl Fn(u64) -> u64,
) -> Vec<Labelled> {
    let estimates = answers.estimates(curve.strata(), PairCurve::FLOOR);
    let Some((chosen, reached)) = best(&estimates, wanted) else { return Vec::new() };
    let row = |estimate: &ThresholdEstimate, fits: bool, reason: String| Labelled {
        estimate: *estimate,
        advice: Advice {
            fits,
            threshold: Some(estimate.threshold),
            pairs: Some(all(estimate.pairs)),
            reason,
            ..suggestion.clone()
        },
    };
    let mut rows = vec![row(&chosen, reached, why(&chosen, answers, wanted.filter(|_| !reached)))];
    let has = |estimate: &ThresholdEstimate| wanted.is_some_and(|wanted| value(estimate.precision) >= wanted);
    let others = estimates.iter().filter(|estimate| estimate.pairs > 0 && **estimate != chosen);
    rows.extend(others.map(|estimate| row(estimate, has(estimate), shares(estimate))));
    rows
}

/// The row of weights that are better by the answers. `suggestion` is the row without labels,
/// and `documents` are the number of documents in the sample and of all documents.
pub fn weighed(suggestion: &Advice, gain: &WeightGain, [sampled, all]: [u64; 2]) -> Advice {
    let WeightGain { threshold, f1: [without, with], better } = *gain;
    let mut reason = format!(
        "with weights by frequency the best threshold has an F1 of {with:.2} by the answers, and {without:.2} \
         without; it is better in {better} of 1000 samples of the answers"
    );
    if sampled < all {
        reason += "; words of all documents weigh a little less than those of the sample: look at the pairs";
    }
    Advice {
        fits: true,
        threshold: Some(threshold),
        pairs: None,
        is_weighed: true,
        reason,
        ..suggestion.clone()
    }
}

/// Says what precision and recall a threshold has.
fn shares(estimate: &ThresholdEstimate) -> String {
    let shown = |Interval { value, low, high }| format!("{value:.2} ({low:.2} to {high:.2})");
    let precision = estimate.precision.map_or_else(|| "an unknown part".to_owned(), shown);
    let mut shares = format!("{precision} of the pairs from {} on are duplicates", estimate.threshold);
    if let Some(recall) = estimate.recall {
        shares +=
            &format!(", and these are {} of the duplicates from {} on", shown(recall), PairCurve::FLOOR);
    }
    if let Some(falls) = estimate.falls {
        shares += &format!(
            "; fewer of the pairs from {falls} on are duplicates than of those below it: look at them"
        );
    }
    shares
}

/// Says why a threshold is suggested; `missed` is the precision that no threshold has.
fn why(chosen: &ThresholdEstimate, answers: &Answers, missed: Option<f64>) -> String {
    /// With fewer answers, intervals are wide.
    const FEW: u64 = 30;
    let [counted, duplicates] = answers.counted();
    let mut why = format!("{}, of which {}: {}", count(counted, "answer"), are(duplicates), shares(chosen));
    if let Some(wanted) = missed {
        why += &format!("; no threshold has a precision of {wanted}, and this one has the best F1");
    }
    let [_, below] = answers.below;
    if below > 0 {
        let (further, floor) = (count(below, "further duplicate"), PairCurve::FLOOR);
        let [has, them] = if below == 1 { ["has", "it"] } else { ["have", "them"] };
        why += &format!("; {further} {has} a similarity below {floor}, and no threshold here finds {them}");
    }
    if counted < FEW {
        why += &format!("; fewer than {FEW} answers say little");
    }
    why
}

/// A number of things whose name is a regular noun.
pub(crate) fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Says of how many answers the pair is a duplicate.
fn are(duplicates: u64) -> String {
    match duplicates {
        0 => "none is a duplicate".to_owned(),
        1 => "1 is a duplicate".to_owned(),
        many => format!("{many} are duplicates"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(answers: &Answers, wanted: Option<f64>) -> Vec<Labelled> {
        let mut curve = PairCurve::new(200).unwrap();
        (0..80).for_each(|n| curve.add([n, n + 1], 0.42, 1));
        (0..20).for_each(|n| curve.add([n, n + 2], 0.9, 1));
        let suggestion = Advice {
            method: "jaccard",
            fits: true,
            threshold: Some(0.5),
            shingle: Some(3),
            pairs: Some(20),
            ..Advice::default()
        };
        labelled(&suggestion, answers, &curve, wanted, |pairs| 10 * pairs)
    }

    #[test]
    fn the_suggested_threshold_comes_first() {
        let mut answers = Answers::default();
        (0..20).for_each(|n| answers.add(Some(0.42), n < 2));
        (0..10).for_each(|_| answers.add(Some(0.9), true));
        (0..3).for_each(|_| answers.add(None, true));
        let found = rows(&answers, Some(0.95));
        let first = &found[0].advice;
        assert_eq!(
            (first.threshold, first.fits, first.pairs, first.shingle),
            (Some(0.65), true, Some(200), Some(3))
        );
        let says = |what: &str| assert!(first.reason.contains(what), "{}", first.reason);
        says("30 answers, of which 12 are duplicates: 1.00 (0.");
        says("of the pairs from 0.65 on are duplicates, and these are 0.71 (");
        says("3 further duplicates have a similarity below 0.3");
        // 0.3 to 0.9 have pairs.
        assert_eq!(found.len(), 13);
        assert!(found[1..].iter().all(|row| row.advice.fits == (row.estimate.threshold > 0.42)));
    }

    #[test]
    fn where_the_share_falls_is_said_in_each_row() {
        let mut answers = Answers::default();
        (0..20).for_each(|n| answers.add(Some(0.42), n > 2));
        (0..20).for_each(|n| answers.add(Some(0.9), n < 2));
        let found = rows(&answers, None);
        for Labelled { estimate, advice } in &found {
            let says = advice.reason.contains("; fewer of the pairs from ");
            assert_eq!(says, estimate.threshold < 0.9, "{}", advice.reason);
        }
    }

    #[test]
    fn a_precision_that_no_threshold_has() {
        let mut answers = Answers::default();
        (0..10).for_each(|n| answers.add(Some(0.9), n % 2 == 0));
        let found = rows(&answers, Some(0.99));
        assert!(!found[0].advice.fits);
        let reason = &found[0].advice.reason;
        assert!(reason.contains("no threshold has a precision of 0.99"), "{reason}");
        assert!(reason.contains("fewer than 30 answers"), "{reason}");
    }
}
