//! Intervals of figures by the bootstrap: what a figure would be of other documents of the same
//! kind. Groups of documents are drawn with replacement, as many as there are; the figure is
//! computed of each draw, and the interval holds the middle 95 of a hundred of these figures.
//!
//! A group is what depends on one another: the documents that labels connect, the pages of a site.
//! Pairs are drawn with their groups, since those of one group are right or wrong together. The
//! draws are the same on every machine, and the same for all methods, so that differences of
//! methods have intervals of their own.
//!
//! Draws cannot show what did not happen. Where all groups are right or so nearly that draws give
//! 1.000 to 1.000, or none is, the interval is the exact binomial one (Clopper and Pearson) of as
//! many groups as the figure is of.

use std::collections::HashMap;

use neardup_core::hash::mix;

/// How many times groups are drawn.
const DRAWS: u64 = 1000;

/// What a group adds to a figure that is a share: to the part, and to the whole.
pub type Part = [f64; 2];

/// The figure of the draw of a number: the sum of the parts / the sum of the wholes.
fn drawn(groups: &[Part], draw: u64) -> f64 {
    let count = groups.len() as u64;
    let mut sum = [0.0; 2];
    for place in 0..count {
        let [part, whole] = groups[(mix(mix(draw) ^ place) % count) as usize];
        sum[0] += part;
        sum[1] += whole;
    }
    sum[0] / sum[1]
}

/// The ends of the middle 95 of a hundred values; none where a value is no number.
fn middle(mut values: Vec<f64>) -> Option<[f64; 2]> {
    if values.is_empty() || values.iter().any(|value| value.is_nan()) {
        return None;
    }
    values.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
    Some([at(0.025), at(0.975)])
}

/// The interval of a share; none where there is nothing to draw from.
pub fn interval(groups: &[Part]) -> Option<[f64; 2]> {
    exact(groups).or_else(|| middle((0..DRAWS).map(|draw| drawn(groups, draw)).collect()))
}

/// The exact interval of a share of which draws would say that it is 0 or 1.
fn exact(groups: &[Part]) -> Option<[f64; 2]> {
    let count = groups.iter().filter(|part| part[1] > 0.0).count();
    if count == 0 {
        return None;
    }
    if groups.iter().all(|part| part[0] <= 0.0) {
        return Some([0.0, most_of(count, 0)]);
    }
    // Rates of what may grow are no shares.
    if groups.iter().any(|part| part[0] > part[1]) {
        return None;
    }
    let wrong = groups.iter().filter(|part| part[0] < part[1]).count();
    let least = || middle((0..DRAWS).map(|draw| drawn(groups, draw)).collect()).map_or(0.0, |ends| ends[0]);
    (wrong == 0 || least() >= 0.9995).then(|| [1.0 - most_of(count, wrong), 1.0])
}

/// The greatest chance of an event that is seen as rarely as this, or more rarely, in 25 of 1,000
/// cases: Clopper and Pearson's upper end for `seen` of `count`.
fn most_of(count: usize, seen: usize) -> f64 {
    let tail = |chance: f64| {
        let mut term = (count as f64 * (-chance).ln_1p()).exp();
        let mut sum = term;
        for n in 0..seen {
            term *= (count - n) as f64 / (n + 1) as f64 * chance / (1.0 - chance);
            sum += term;
        }
        sum
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if tail(middle) > 0.025 { low = middle } else { high = middle }
    }
    high
}

/// The interval of the difference of two shares of the same groups; none where no group tells them
/// apart, or so few that draws would say of both that they are 0, or 1.
pub fn difference(a: &[Part], b: &[Part]) -> Option<[f64; 2]> {
    assert_eq!(a.len(), b.len(), "of the same groups");
    let is_certain = |of: &[Part], end: usize| exact(of).is_some_and(|ends| ends[end] == end as f64);
    if a == b || [0, 1].iter().any(|&end| is_certain(a, end) && is_certain(b, end)) {
        return None;
    }
    middle((0..DRAWS).map(|draw| drawn(a, draw) - drawn(b, draw)).collect())
}

/// The parts of some items, each of a group: whether it counts.
pub fn parts(groups: usize, items: impl IntoIterator<Item = (u32, bool)>) -> Vec<Part> {
    let mut parts = vec![[0.0; 2]; groups];
    for (group, counts) in items {
        parts[group as usize][0] += f64::from(u8::from(counts));
        parts[group as usize][1] += 1.0;
    }
    parts
}

/// The groups of some documents that pairs connect: the number of each document's group, and how
/// many there are.
pub fn connected(documents: usize, pairs: impl IntoIterator<Item = (u32, u32)>) -> (Vec<u32>, usize) {
    fn root(of: &mut [u32], mut document: u32) -> u32 {
        while of[document as usize] != document {
            of[document as usize] = of[of[document as usize] as usize];
            document = of[document as usize];
        }
        document
    }
    let mut of: Vec<u32> = (0..documents as u32).collect();
    for (a, b) in pairs {
        let (a, b) = (root(&mut of, a), root(&mut of, b));
        of[a.max(b) as usize] = a.min(b);
    }
    let roots: Vec<u32> = (0..documents as u32).map(|document| root(&mut of, document)).collect();
    numbered(&roots)
}

/// Keys as numbers from 0 on, and how many there are.
pub fn numbered(keys: &[u32]) -> (Vec<u32>, usize) {
    let mut numbers: HashMap<u32, u32> = HashMap::new();
    let of = keys
        .iter()
        .map(|&key| {
            let next = numbers.len() as u32;
            *numbers.entry(key).or_insert(next)
        })
        .collect();
    (of, numbers.len())
}

/// An interval as a cell of a table.
pub fn cell(interval: Option<[f64; 2]>) -> String {
    interval.map_or("-".to_owned(), |[low, high]| format!("{low:.3} to {high:.3}"))
}

/// The figure itself as a cell.
pub fn share(groups: &[Part]) -> String {
    let sum = |n: usize| groups.iter().map(|part| part[n]).sum::<f64>();
    if sum(1) == 0.0 { "-".to_owned() } else { format!("{:.3}", sum(0) / sum(1)) }
}

/// The columns that [`cells`] gives of the figure of this name.
pub fn heads(figure: &str) -> Vec<String> {
    [figure, "95 %", "more than the first, 95 %"].map(str::to_owned).into()
}

/// A figure with its interval, and the interval of what it has more than that of the first method.
pub fn cells(groups: &[Part], first: Option<&[Part]>) -> Vec<String> {
    let more = first.map_or("-".to_owned(), |first| cell(difference(groups, first)));
    vec![share(groups), cell(interval(groups)), more]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_about_its_figure() {
        let groups: Vec<Part> = (0..200).map(|n| [f64::from(u8::from(n % 4 == 0)), 1.0]).collect();
        let [low, high] = interval(&groups).expect("groups");
        // The standard error of a quarter of 200 is 0.031.
        assert!((0.17..0.21).contains(&low) && (0.29..0.33).contains(&high), "{low} to {high}");
        assert_eq!(interval(&groups), interval(&groups));
        assert_eq!(share(&groups), "0.250");
    }

    #[test]
    fn fewer_groups_have_wider_intervals() {
        let width = |count: u32| {
            let groups: Vec<Part> = (0..count).map(|n| [f64::from(n % 2), 1.0]).collect();
            let [low, high] = interval(&groups).expect("groups");
            high - low
        };
        assert!(width(20) > 2.0 * width(200), "{} and {}", width(20), width(200));
    }

    #[test]
    fn groups_that_are_alike_leave_no_doubt() {
        assert_eq!(interval(&[[1.0, 2.0]; 30]), Some([0.5, 0.5]));
        assert_eq!(difference(&[[1.0, 2.0]; 30], &[[1.0, 2.0]; 30]), None);
        assert_eq!(difference(&[[2.0, 2.0]; 30], &[[1.0, 1.0]; 30]), None);
        assert_eq!(difference(&[[2.0, 2.0]; 30], &[[1.0, 2.0]; 30]), Some([0.5, 0.5]));
        // One wrong of a million is no difference that draws can tell.
        let mut nearly = vec![[1e6, 1e6]; 29];
        nearly.push([1e6 - 1.0, 1e6]);
        assert_eq!(difference(&[[1.0, 1.0]; 30], &nearly), None);
    }

    #[test]
    fn what_never_happened_is_not_impossible() {
        // The tables of Clopper and Pearson: 30 of 30, and 0 of 10.
        let rounded = |ends: Option<[f64; 2]>| ends.map(|ends| ends.map(|end| (1000.0 * end).round()));
        assert_eq!(rounded(interval(&[[3.0, 3.0]; 30])), Some([884.0, 1000.0]));
        assert_eq!(rounded(interval(&[[0.0, 3.0]; 10])), Some([0.0, 308.0]));
        // 2 of 100 with something wrong: 1 - 0.0704.
        let mut nearly = vec![[1e6, 1e6]; 98];
        nearly.extend([[1e6 - 1.0, 1e6]; 2]);
        assert_eq!(rounded(interval(&nearly)), Some([930.0, 1000.0]));
        // Groups without an item say nothing.
        let mut groups = vec![[1.0, 1.0]; 30];
        groups.extend([[0.0, 0.0]; 100]);
        assert_eq!(rounded(interval(&groups)), Some([884.0, 1000.0]));
    }

    #[test]
    fn nothing_has_no_interval() {
        assert_eq!(interval(&[]), None);
        assert_eq!(difference(&[], &[]), None);
        assert_eq!(interval(&[[0.0, 0.0]; 5]), None);
        assert_eq!(cells(&[[0.0, 0.0]], None), ["-", "-", "-"]);
    }

    #[test]
    fn pairs_connect_documents() {
        let (of, groups) = connected(6, [(4, 1), (1, 2), (5, 5)]);
        assert_eq!(groups, 4);
        assert!(of[1] == of[2] && of[2] == of[4]);
        assert!(of[0] != of[1] && of[3] != of[5] && of[3] != of[0]);
        assert_eq!(connected(0, []), (vec![], 0));
        assert_eq!(parts(2, [(0, true), (0, false), (1, true)]), [[1.0, 2.0], [1.0, 1.0]]);
    }
}
