//! Two charts for choosing a threshold: the number of pairs by similarity, and the result of each
//! threshold.
//!
//! The charts are as wide as their container: horizontal positions are percentages, so bars stretch
//! and letters do not. The numbers of the axes are outside the picture, in the margin that the
//! style leaves.

use std::fmt::Write;

use super::numbers::{CountOf, Short};
use crate::clusters::curve::Point;

/// The height of the drawing without its labels.
const HEIGHT: f64 = 150.0;

/// Returns at most six round numbers in equal steps from 0 on, such as 0, 20, 40. The last one is
/// at least `most`.
fn ticks(most: u64) -> Vec<u64> {
    let mut step = 1u64;
    while most.div_ceil(step) > 5 {
        let first = step.to_string().starts_with('2');
        step = if first { step / 2 * 5 } else { step * 2 };
    }
    (0..=most.div_ceil(step).max(1)).map(|n| n * step).collect()
}

/// Returns the numbers for the marks of an axis on a root scale, far enough apart to be read.
fn root_ticks(most: u64) -> Vec<u64> {
    /// The least distance of two marks on an axis from 0 to 1: 18 units of the drawing.
    const APART: f64 = 0.12;
    let height = |number: u64| (number as f64 / most.max(1) as f64).sqrt();
    let mut ticks = vec![most];
    for part in [4, 16, 64, 400] {
        let exact = most / part;
        let unit = 10u64.pow(exact.checked_ilog10().unwrap_or(0));
        let round = exact / unit * unit;
        let apart = ticks.last().is_some_and(|&last| height(last) - height(round) >= APART);
        if apart && height(round) >= APART {
            ticks.push(round);
        }
    }
    ticks.push(0);
    ticks
}

/// A chart that is being drawn.
struct Chart {
    drawn: String,
}

impl Chart {
    /// Begins a chart with its vertical axis: marks at heights from 0 to 1, with their numbers.
    fn new(title: &str, axis: &str, marks: impl Iterator<Item = (f64, u64)>) -> Self {
        let mut drawn = format!(
            "<svg class=\"nd-chart\" height=\"{HEIGHT}\" role=\"img\"><title>{title}</title>\
             <text class=\"nd-axis\" text-anchor=\"middle\" transform=\"translate(-58 {}) rotate(-90)\">{axis}</text>",
            HEIGHT / 2.0
        );
        for (height, number) in marks {
            let y = HEIGHT * (1.0 - height);
            // Writing to a string never fails.
            let _ = write!(
                drawn,
                "<line class=\"nd-grid\" x1=\"0\" x2=\"100%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                 <text class=\"nd-axis\" text-anchor=\"end\" x=\"-6\" y=\"{:.1}\">{}</text>",
                y + 4.0,
                Short(number)
            );
        }
        Self { drawn }
    }

    /// Adds a number to the horizontal axis, at a place in percent. Minor numbers (every other one)
    /// are hidden if there is little room.
    fn mark(&mut self, percent: f64, label: &str, is_minor: bool) {
        let minor = if is_minor { " nd-minor" } else { "" };
        let _ = write!(
            self.drawn,
            "<text class=\"nd-axis{minor}\" text-anchor=\"middle\" x=\"{percent:.2}%\" y=\"{}\">{label}</text>",
            HEIGHT + 18.0
        );
    }

    fn finish(mut self, axis: &str) -> String {
        let _ = write!(
            self.drawn,
            "<text class=\"nd-axis\" text-anchor=\"middle\" x=\"50%\" y=\"{}\">{axis}</text></svg>",
            HEIGHT + 38.0
        );
        format!("<div class=\"nd-plotted\">{}</div>", self.drawn)
    }
}

/// Returns a threshold as people write it.
pub fn written(threshold: f64) -> String {
    let digits = format!("{threshold:.4}");
    let short = digits.trim_end_matches('0');
    let decimals = short.len() - short.find('.').map_or(short.len(), |at| at + 1);
    format!("{threshold:.0$}", decimals.max(2))
}

/// Draws the number of pairs with a similarity from each threshold to the next one, and the number
/// of pairs of similarity 1. The scale is the square root, so that small numbers are visible next
/// to large ones.
pub fn histogram(points: &[Point]) -> String {
    let pairs: Vec<u64> =
        (0..points.len()).map(|n| points[n].pairs - points.get(n + 1).map_or(0, |next| next.pairs)).collect();
    let most = pairs.iter().copied().max().unwrap_or(0).max(1);
    let height = |pairs: u64| (pairs as f64 / most as f64).sqrt();
    let marks = root_ticks(most).into_iter().map(|number| (height(number), number));
    let mut chart = Chart::new("pairs by similarity", "pairs (root scale)", marks);
    let step = 100.0 / pairs.len().max(1) as f64;
    for (n, (&pairs, point)) in pairs.iter().zip(points).enumerate() {
        let x = n as f64 * step;
        let from = written(point.threshold);
        let what = match points.get(n + 1) {
            Some(next) => format!("{} from {from} to {}", CountOf(pairs, "pair"), written(next.threshold)),
            None => format!("{} of similarity 1", CountOf(pairs, "pair")),
        };
        if pairs > 0 {
            let tall = (HEIGHT * height(pairs)).max(2.0);
            let _ = write!(
                chart.drawn,
                "<rect class=\"nd-bar\" x=\"{:.2}%\" y=\"{:.1}\" width=\"{:.2}%\" height=\"{tall:.1}\"><title>{what}</title></rect>\
                 <text class=\"nd-axis nd-count\" text-anchor=\"middle\" x=\"{:.2}%\" y=\"{:.1}\">{}</text>",
                x + step * 0.06,
                HEIGHT - tall,
                step * 0.88,
                x + step / 2.0,
                HEIGHT - tall - 4.0,
                Short(pairs)
            );
        }
        match n + 1 < points.len() {
            true if n % 4 == 0 => chart.mark(x, &from, n % 8 == 4),
            false => chart.mark(x + step / 2.0, "=1", false),
            _ => {}
        }
    }
    chart.finish("similarity")
}

/// Draws the result of each threshold: a line for the redundant documents and one for the clusters.
pub fn curve(points: &[Point]) -> String {
    let greatest = points.iter().map(|point| point.redundant.max(point.clusters)).max().unwrap_or(0);
    let ticks = ticks(greatest);
    let top = ticks.last().copied().unwrap_or(1).max(1);
    let marks = ticks.iter().map(|&number| (number as f64 / top as f64, number));
    let mut chart = Chart::new("what each threshold gives", "documents, clusters", marks);
    let x = |n: usize| 100.0 * n as f64 / (points.len().max(2) - 1) as f64;
    let y = |number: u64| HEIGHT * (1.0 - number as f64 / top as f64);
    let numbers = |point: &Point| [("nd-l0", point.redundant), ("nd-l1", point.clusters)];
    for line in 0..2 {
        for (n, pair) in points.windows(2).enumerate() {
            let [(class, from), (_, to)] = [&pair[0], &pair[1]].map(|point| numbers(point)[line]);
            let _ = write!(
                chart.drawn,
                "<line class=\"{class}\" x1=\"{:.2}%\" y1=\"{:.1}\" x2=\"{:.2}%\" y2=\"{:.1}\"/>",
                x(n),
                y(from),
                x(n + 1),
                y(to)
            );
        }
    }
    for (n, point) in points.iter().enumerate() {
        for (class, number) in numbers(point) {
            let _ = write!(
                chart.drawn,
                "<circle class=\"{class}\" cx=\"{:.2}%\" cy=\"{:.1}\" r=\"3\"><title>from {}: {}, {}, {}</title></circle>",
                x(n),
                y(number),
                written(point.threshold),
                CountOf(point.pairs, "pair"),
                CountOf(point.clusters, "cluster"),
                CountOf(point.redundant, "redundant document")
            );
        }
        if n % 4 == 0 {
            chart.mark(x(n), &written(point.threshold), n % 8 == 4 && n + 1 < points.len());
        }
    }
    chart.finish("threshold")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_few_round_numbers() {
        assert_eq!(ticks(0), [0, 1]);
        assert_eq!(ticks(5), [0, 1, 2, 3, 4, 5]);
        assert_eq!(ticks(305), [0, 100, 200, 300, 400]);
        assert_eq!(ticks(1_000), [0, 200, 400, 600, 800, 1_000]);
        assert_eq!(ticks(2_400), [0, 500, 1_000, 1_500, 2_000, 2_500]);
        assert_eq!(root_ticks(118), [118, 20, 7, 0]);
        assert_eq!(root_ticks(1000), [1000, 200, 60, 0]);
        assert_eq!(root_ticks(1), [1, 0]);
        assert!(root_ticks(u64::MAX).len() < 7 && ticks(u64::MAX / 2).len() <= 7);
        assert_eq!([0.8, 0.84, 0.8125, 1.0].map(written), ["0.80", "0.84", "0.8125", "1.00"]);
    }

    #[test]
    fn pictures_have_each_number() {
        let point = |threshold, pairs, clusters, redundant| Point {
            threshold,
            pairs,
            clusters,
            redundant,
            largest: 2,
        };
        let points = [point(0.9, 1_234, 20, 30), point(0.95, 234, 10, 12), point(1.0, 1, 1, 1)];
        let bars = histogram(&points);
        assert!(
            bars.contains(">1,000<")
                && bars.contains("1,000 pairs from 0.90 to 0.95")
                && bars.contains("1 pair of similarity 1")
        );
        let lines = curve(&points);
        assert!(lines.contains("from 0.90: 1,234 pairs, 20 clusters, 30 redundant documents"));
        assert!(lines.contains("from 1.00: 1 pair, 1 cluster, 1 redundant document<"));
        assert_eq!(lines.matches("<line class=\"nd-l").count(), 4);
    }
}
