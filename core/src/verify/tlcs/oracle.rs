//! The comparison of two texts against the steps of docs/design/algorithms.md section 5, each taken
//! literally: windows are compared with windows, the table of the longest common subsequence is
//! filled, and every run of blocks is tried.

use std::ops::Range;

use proptest::prelude::*;

use super::{Comparer, Found, Parameters, SharedPart, Thresholds};
use crate::executor::Stop;
use crate::verify::lcs::tests::{alignment, table};
use crate::verify::region::Curve;
use crate::verify::region::tests::stepwise;

/// What is left of a text: characters that are one column wide, with their places in the text.
type Remainder = Vec<(usize, u32)>;
/// Which characters of A and B an alignment matches, in order.
type MatchedPlaces = Vec<(u32, u32)>;

/// The characters of `text` in a window whose content is in `other`, too: all of them if there are
/// no windows.
fn kept(text: &Remainder, other: &Remainder, width: usize) -> Vec<usize> {
    if width == 0 || text.len().min(other.len()) < width {
        return (0..text.len()).collect();
    }
    let symbols = |text: &[(usize, u32)]| text.iter().map(|of| of.1).collect::<Vec<_>>();
    let occurs = |window: &[(usize, u32)]| other.windows(width).any(|w| symbols(w) == symbols(window));
    let covers = |n: usize| {
        (0..=text.len() - width).any(|at| (at..at + width).contains(&n) && occurs(&text[at..at + width]))
    };
    (0..text.len()).filter(|&n| covers(n)).collect()
}

/// The trustable region of A, if it touches the centre, and what is matched in it.
fn region(a: &Remainder, b: &Remainder, parameters: &Parameters) -> Option<(Range<usize>, MatchedPlaces)> {
    let width = parameters.window as usize;
    let (of_a, of_b) = (kept(a, b, width), kept(b, a, width));
    let sketch = |text: &Remainder, kept: &[usize]| kept.iter().map(|&n| text[n].1).collect::<Vec<_>>();
    let (x, y) = (sketch(a, &of_a), sketch(b, &of_b));
    let mut matched: MatchedPlaces = alignment(&x, &y, &table(&x, &y))
        .into_iter()
        .map(|(i, j)| (of_a[i] as u32, of_b[j] as u32))
        .collect();
    matched.reverse();
    let mut curve = Curve::default();
    curve.set(a.len(), b.len(), &matched).unwrap();
    let region = (!a.is_empty()).then(|| stepwise(&curve, parameters.slope)).flatten()?;
    let [from, to] = parameters.centre.map(|share| share * a.len() as f64);
    matched.retain(|&(n, _)| region.contains(&(n as usize)));
    let touches = (region.start as f64) < to && region.end as f64 > from;
    (touches && !matched.is_empty()).then_some((region, matched))
}

/// The parts of both texts, in the order in which they are found.
fn parts(left: &str, right: &str, right_first: bool, parameters: &Parameters) -> Vec<SharedPart> {
    let read = |text: &str| text.chars().map(u32::from).enumerate().collect::<Remainder>();
    let swaps = left.len() > right.len() || (left.len() == right.len() && right_first);
    let (mut a, mut b) = if swaps { (read(right), read(left)) } else { (read(left), read(right)) };
    let mut parts = Vec::new();
    while let Some((region, matched)) = region(&a, &b, parameters) {
        let least = if parts.is_empty() { 0 } else { parameters.least_part };
        if matched.len() < least as usize {
            break;
        }
        let (first, last) = (matched[0].1 as usize, matched[matched.len() - 1].1 as usize);
        let of_a = a[region.start].0..a[region.end - 1].0 + 1;
        let of_b = b[first].0..b[last].0 + 1;
        let (left, right) = if swaps { (of_b, of_a) } else { (of_a, of_b) };
        parts.push(SharedPart { left, right, length: matched.len() });
        if parameters.least_part == 0 {
            break;
        }
        a.drain(region);
        for &(_, n) in matched.iter().rev() {
            b.remove(n as usize);
        }
    }
    parts
}

fn compare(left: &str, right: &str, right_first: bool, parameters: Parameters) -> Found {
    let stop = Stop::default();
    let mut comparer = Comparer::new(parameters).unwrap();
    comparer.set_left(left, &stop).unwrap();
    comparer.compare_right(right, right_first, None, &stop).unwrap().unwrap()
}

prop_compose! {
    /// Two texts of some passages, each in any order, with their own between them.
    fn texts()(
        passages in prop::collection::vec("[abc]{4,30}", 1..6),
        left in prop::collection::vec((0..6usize, "[ad]{0,5}"), 0..7),
        right in prop::collection::vec((0..6usize, "[ae]{0,5}"), 0..7),
    ) -> (String, String) {
        let text = |order: &[(usize, String)]| -> String {
            order.iter().map(|(n, own)| format!("{}{own}", passages[n % passages.len()])).collect()
        };
        (text(&left), text(&right))
    }
}

prop_compose! {
    fn parameters()(
        window in prop_oneof![Just(0u32), Just(4), Just(7)],
        slope in prop_oneof![Just(0.0), Just(0.1), Just(0.3)],
        centre in prop_oneof![Just([0.4, 0.6]), Just([0.5, 0.5]), Just([0.1, 0.3]), Just([0.0, 1.0])],
        least_part in prop_oneof![Just(0u32), 1..12u32],
    ) -> Parameters {
        Parameters { window, slope, centre, least_part, first: 0, ..Parameters::default() }
    }
}

proptest! {
    #![proptest_config(crate::cases::cases(2000))]

    #[test]
    fn equals_the_steps((left, right) in texts(), right_first: bool, parameters in parameters()) {
        let found = compare(&left, &right, right_first, parameters);
        prop_assert_eq!(&found.parts, &parts(&left, &right, right_first, &parameters));
        prop_assert_eq!(found.shared, found.parts.iter().map(|part| part.length).sum::<usize>());
        prop_assert!(found.shared <= found.left.min(found.right));
        // Iteration adds to what is found without it.
        let once = compare(&left, &right, right_first, Parameters { least_part: 0, ..parameters });
        prop_assert_eq!(found.parts.first(), once.parts.first());
        prop_assert!(found.parts.iter().skip(1).all(|part| part.length >= parameters.least_part as usize));
    }

    #[test]
    fn thresholds_lose_no_pair((left, right) in texts(), parameters in parameters(), share in 1..=10u32) {
        let whole = compare(&left, &right, false, parameters);
        let thresholds = Thresholds { resemblance: f64::from(share) / 10.0, containment: None };
        let passes = thresholds.pass(whole.shared, whole.left, whole.right);
        let mut comparer = Comparer::new(parameters).unwrap();
        let found = comparer.compare(&left, &right, Some(&thresholds), &Stop::default()).unwrap();
        prop_assert_eq!(found, passes.then_some(whole));
    }
}
