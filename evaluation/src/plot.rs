//! Tables in Markdown and line plots in SVG.
#![allow(dead_code, reason = "each evaluation uses some of it")]

use std::fmt::Write;

/// Prints a table; the first column is to the left.
pub fn table(head: &[String], rows: &[Vec<String>]) {
    let all = || std::iter::once(head).chain(rows.iter().map(Vec::as_slice));
    let width = |n: usize| all().map(|row| row[n].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    for (n, row) in all().enumerate() {
        let cells = row.iter().zip(&widths).enumerate().map(|(n, (cell, &width))| match n {
            0 => format!(" {cell:<width$} "),
            _ => format!(" {cell:>width$} "),
        });
        println!("|{}|", cells.collect::<Vec<_>>().join("|"));
        if n == 0 {
            let rule = |(n, width): (usize, &usize)| {
                if n == 0 { "-".repeat(width + 2) } else { format!("{}:", "-".repeat(width + 1)) }
            };
            println!("|{}|", widths.iter().enumerate().map(rule).collect::<Vec<_>>().join("|"));
        }
    }
    println!();
}

/// A line of a plot, with its points.
pub struct Line {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// Steps of the upright axis, at most.
const STEPS: f64 = 6.0;

const WIDTH: f64 = 664.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 180.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 45.0;
/// Okabe and Ito's colours, which colour-blind people tell apart.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];

/// What all plots have: the title, the axes with their units, and lines or dots with names. The
/// axes are told apart by what they make of a value: its share of the axis.
pub struct Frame {
    out: String,
    /// Where on each axis a value is, 0 to 1.
    x: fn(f64, [f64; 2]) -> f64,
    y: fn(f64, [f64; 2]) -> f64,
    /// The values at the ends of each.
    x_ends: [f64; 2],
    y_ends: [f64; 2],
}

impl Frame {
    pub fn new(
        title: &str,
        x_title: &str,
        [x, y]: [fn(f64, [f64; 2]) -> f64; 2],
        [x_ends, y_ends]: [[f64; 2]; 2],
    ) -> Self {
        let mut frame = Self { out: String::new(), x, y, x_ends, y_ends };
        frame.add(&format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
             font-size=\"11\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>"
        ));
        frame.add(&format!("<text x=\"{LEFT}\" y=\"18\" font-size=\"13\">{title}</text>"));
        frame.add(&format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{x_title}</text>",
            (LEFT + WIDTH - RIGHT) / 2.0,
            HEIGHT - 8.0
        ));
        frame
    }

    fn add(&mut self, text: &str) {
        writeln!(self.out, "{text}").expect("memory");
    }

    /// Where a point is drawn.
    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let (right, up) = ((self.x)(x, self.x_ends), (self.y)(y, self.y_ends));
        (LEFT + right * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM))
    }

    /// A value of the upright axis, with its rule.
    pub fn y_tick(&mut self, value: f64, label: &str) {
        let (_, at) = self.at((self.x_ends[0], value));
        self.add(&format!(
            "<path d=\"M{LEFT} {at:.1}H{:.1}\" stroke=\"#ddd\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            at + 4.0
        ));
    }

    /// A value of the other axis.
    pub fn x_tick(&mut self, value: f64) {
        let (at, _) = self.at((value, self.y_ends[0]));
        self.add(&format!(
            "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{value}</text>",
            HEIGHT - BOTTOM + 16.0
        ));
    }

    /// A straight grey line that shows a law.
    pub fn law(&mut self, from: (f64, f64), to: (f64, f64)) {
        let ((a, b), (c, d)) = (self.at(from), self.at(to));
        self.add(&format!(
            "<path d=\"M{a:.1} {b:.1}L{c:.1} {d:.1}\" stroke=\"#999\" stroke-dasharray=\"5 4\"/>"
        ));
    }

    /// The line of colour `number`.
    pub fn line(&mut self, number: usize, points: &[(f64, f64)]) {
        let points: Vec<String> =
            points.iter().map(|&point| self.at(point)).map(|(a, b)| format!("{a:.1},{b:.1}")).collect();
        self.add(&format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\"/>",
            points.join(" "),
            COLOURS[number % COLOURS.len()]
        ));
    }

    /// Dots of colour `number`.
    pub fn dots(&mut self, number: usize, points: &[(f64, f64)]) {
        for &point in points {
            let (a, b) = self.at(point);
            let colour = COLOURS[number % COLOURS.len()];
            self.add(&format!("<circle cx=\"{a:.1}\" cy=\"{b:.1}\" r=\"2.2\" fill=\"{colour}\"/>"));
        }
    }

    /// An interval at a value of the other axis, in colour `number`; those of other colours stand
    /// beside it.
    pub fn bar(&mut self, number: usize, x: f64, [low, high]: [f64; 2]) {
        let ((a, b), (_, d)) = (self.at((x, low)), self.at((x, high)));
        let a = a + 1.6 * (number as f64 - 2.0);
        let colour = COLOURS[number % COLOURS.len()];
        self.add(&format!("<path d=\"M{a:.1} {b:.1}V{d:.1}\" stroke=\"{colour}\" opacity=\"0.6\"/>"));
    }

    /// A point that somebody else measured.
    pub fn diamond(&mut self, point: (f64, f64)) {
        let (a, b) = self.at(point);
        self.add(&format!("<path d=\"M{a:.1} {:.1}l5 5l-5 5l-5 -5z\"/>", b - 5.0));
    }

    /// What such points are, below the names of `lines` lines.
    pub fn name_of_diamonds(&mut self, lines: usize, name: &str) {
        let y = TOP + 14.0 + 16.0 * lines as f64;
        let x = WIDTH - RIGHT + 15.0;
        self.add(&format!(
            "<path d=\"M{x:.1} {:.1}l5 5l-5 5l-5 -5z\"/><text x=\"{:.1}\" y=\"{y:.1}\">{name}</text>",
            y - 9.0,
            x + 9.0
        ));
    }

    /// What is drawn in colour `number`.
    pub fn name(&mut self, number: usize, name: &str) {
        self.add(&format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{}\">{name}</text>",
            WIDTH - RIGHT + 10.0,
            TOP + 14.0 + 16.0 * number as f64,
            COLOURS[number % COLOURS.len()]
        ));
    }

    /// The plot as SVG.
    pub fn finish(mut self) -> String {
        self.out.push_str("</svg>\n");
        self.out
    }
}

/// The share of an axis on which equal differences are equally far apart.
pub fn linear(value: f64, [from, to]: [f64; 2]) -> f64 {
    (value - from) / (to - from)
}

/// The share of an axis on which equal factors are equally far apart.
pub fn powers(value: f64, [from, to]: [f64; 2]) -> f64 {
    (value / from).log10() / (to / from).log10()
}

/// The least and the greatest of values.
pub fn ends(values: impl Iterator<Item = f64>) -> [f64; 2] {
    values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| [low.min(value), high.max(value)])
}

/// Round values from below the least to above the greatest, and how many decimals they have.
pub fn steps(values: &[f64]) -> (Vec<f64>, usize) {
    let [low, high] = ends(values.iter().copied());
    let digits = |power: i32| (-power).max(0);
    let rounds = (-4..=6).flat_map(|power| [1.0, 2.0, 5.0].map(|of| (of * 10f64.powi(power), digits(power))));
    let count = |step: f64| ((high / step).ceil() - (low / step).floor()).round();
    let (step, digits) = rounds.into_iter().find(|&(step, _)| count(step) <= STEPS).unwrap_or((1.0, 0));
    let first = (low / step).floor();
    let numbers = 0..=(count(step) as u32).max(1);
    (numbers.map(|n| (first + f64::from(n)) * step).collect(), digits as usize)
}

/// A plot of amounts of a unit over x, from 0 to what is at least the greatest.
pub fn amounts(title: &str, x_title: &str, unit: &str, lines: &[Line]) -> String {
    let most = lines.iter().flat_map(|line| &line.points).map(|point| point.1).fold(0.0, f64::max);
    let (steps, digits) = steps(&[0.0, most]);
    let x_ends = ends(lines.iter().flat_map(|line| &line.points).map(|point| point.0));
    let mut frame = Frame::new(title, x_title, [linear, linear], [x_ends, ends(steps.iter().copied())]);
    for value in steps {
        frame.y_tick(value, &format!("{value:.digits$} {unit}"));
    }
    let mut ticks: Vec<f64> =
        lines.first().map_or(Vec::new(), |line| line.points.iter().map(|p| p.0).collect());
    while ticks.len() > 10 {
        ticks = ticks.into_iter().step_by(2).collect();
    }
    ticks.into_iter().for_each(|tick| frame.x_tick(tick));
    for (number, line) in lines.iter().enumerate() {
        frame.line(number, &line.points);
        frame.name(number, &line.name);
    }
    frame.finish()
}

#[cfg(test)]
mod tests {
    #[test]
    fn axes_use_their_range() {
        use super::steps;

        let (at, digits) = steps(&[0.912, 0.987]);
        let rounded: Vec<i64> = at.iter().map(|at| (1000.0 * at).round() as i64).collect();
        assert_eq!((rounded, digits), (vec![900, 920, 940, 960, 980, 1000], 2));
        for (low, high) in [(0.0, 1.0), (0.3, 0.31), (0.5, 0.5), (0.02, 0.97), (0.0, 329.0), (0.0, 0.0)] {
            let (at, _) = steps(&[low, high]);
            assert!(at[0] <= low && high <= at[at.len() - 1] + 1e-9, "{at:?}");
            assert!(at.len() <= 8 && at.windows(2).all(|two| two[0] < two[1]), "{at:?}");
        }
    }
}
