//! Plots in SVG of figures with their intervals, beside the points that a paper has: at most five
//! curves, an upright axis that goes from about the least to about the greatest of what is drawn.

use crate::bootstrap::{Part, interval};
use crate::plot::{Frame, ends, linear, powers, steps};

/// A figure with its interval, where it has one.
pub struct Point {
    pub x: f64,
    pub y: f64,
    pub interval: Option<[f64; 2]>,
}

impl Point {
    /// The share that groups add up to; none of nothing.
    pub fn of(x: f64, groups: &[Part]) -> Option<Self> {
        let sum = |n: usize| groups.iter().map(|part| part[n]).sum::<f64>();
        (sum(1) > 0.0).then(|| Self { x, y: sum(0) / sum(1), interval: interval(groups) })
    }
}

pub struct Curve {
    pub name: String,
    pub points: Vec<Point>,
}

/// What a plot shows.
pub struct Chart<'a> {
    pub title: &'a str,
    pub x_title: &'a str,
    /// Whether equal factors are equally far apart, where else equal differences are.
    pub factors: bool,
    /// What stands below the axis.
    pub x_ticks: &'a [f64],
    pub curves: &'a [Curve],
    /// The points of the paper, and what they are.
    pub paper: &'a [(f64, f64)],
    pub paper_name: &'a str,
}

/// Of more curves nobody tells which is which.
const MOST: usize = 5;

/// The chart as SVG.
pub fn svg(chart: &Chart<'_>) -> String {
    assert!(chart.curves.len() <= MOST, "{}: {} curves", chart.title, chart.curves.len());
    let points = || chart.curves.iter().flat_map(|curve| &curve.points);
    let xs = points().map(|point| point.x).chain(chart.paper.iter().map(|point| point.0));
    let ys = points().flat_map(|point| point.interval.unwrap_or([point.y; 2]));
    let ys: Vec<f64> =
        ys.chain(points().map(|point| point.y)).chain(chart.paper.iter().map(|p| p.1)).collect();
    let (steps, digits) = steps(&ys);
    let y_ends = [steps[0], steps[steps.len() - 1]];
    let x_scale = if chart.factors { powers } else { linear };
    let mut frame = Frame::new(chart.title, chart.x_title, [x_scale, linear], [ends(xs), y_ends]);
    steps.iter().for_each(|&step| frame.y_tick(step, &format!("{step:.digits$}")));
    chart.x_ticks.iter().for_each(|&tick| frame.x_tick(tick));
    for (number, curve) in chart.curves.iter().enumerate() {
        let line: Vec<(f64, f64)> = curve.points.iter().map(|point| (point.x, point.y)).collect();
        frame.line(number, &line);
        frame.dots(number, &line);
        for Point { x, interval, .. } in &curve.points {
            if let Some(interval) = interval {
                frame.bar(number, *x, *interval);
            }
        }
        frame.name(number, &curve.name);
    }
    if !chart.paper.is_empty() {
        chart.paper.iter().for_each(|&point| frame.diamond(point));
        frame.name_of_diamonds(chart.curves.len(), chart.paper_name);
    }
    frame.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_names_its_curves_and_the_paper() {
        let points = [(1.0, [1.0, 2.0]), (10.0, [2.0, 2.0])];
        let points = points.iter().filter_map(|&(x, part)| Point::of(x, &[part; 9])).collect();
        let curves = [Curve { name: "ours".to_owned(), points }];
        let chart = Chart {
            title: "title",
            x_title: "x",
            factors: true,
            x_ticks: &[1.0, 10.0],
            curves: &curves,
            paper: &[(3.0, 0.8)],
            paper_name: "the paper",
        };
        let svg = svg(&chart);
        assert!(svg.contains("ours") && svg.contains("the paper") && svg.contains("0.6"), "{svg}");
        assert!(Point::of(1.0, &[[0.0, 0.0]]).is_none());
    }
}
