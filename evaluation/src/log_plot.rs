//! Plots in SVG whose axes are in powers of ten: times over sizes, or how often something is as
//! large.

use crate::plot::{Frame, powers};

/// A line of a plot: its name, and its points.
pub type Line = (String, Vec<(f64, f64)>);

/// What a plot shows.
pub struct Plot<'a> {
    pub title: &'a str,
    pub x_title: &'a str,
    /// What the numbers of the other axis are.
    pub unit: &'a str,
    /// Dots that are not joined, for counts; else lines, and a dashed one through the last point of
    /// the first, which shows what grows in proportion.
    pub dots: bool,
}

/// A plot as SVG.
pub fn svg(plot: &Plot<'_>, lines: &[Line]) -> String {
    let points = || lines.iter().flat_map(|line| line.1.iter().copied());
    // The powers of ten between which values are.
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values.fold([i32::MAX, i32::MIN], |[low, high], value| {
            [low.min(value.log10().floor() as i32), high.max(value.log10().ceil() as i32)]
        })
    };
    let (xs, ys) = (range(&mut points().map(|point| point.0)), range(&mut points().map(|point| point.1)));
    let ends = [xs, ys].map(|ends| ends.map(|power| 10f64.powi(power)));
    let mut frame = Frame::new(plot.title, plot.x_title, [powers, powers], ends);
    for power in ys[0]..=ys[1] {
        let value = 10f64.powi(power);
        frame.y_tick(value, &format!("{value} {}", plot.unit));
    }
    for power in xs[0]..=xs[1] {
        frame.x_tick(10f64.powi(power));
    }
    if let Some(&(size, time)) = lines.first().and_then(|line| line.1.last()).filter(|_| !plot.dots) {
        let from = points().map(|point| point.0).fold(f64::INFINITY, f64::min);
        let proportional = (time * from / size).max(ends[1][0]);
        frame.law((proportional * size / time, proportional), (size, time));
    }
    for (number, (name, points)) in lines.iter().enumerate() {
        if plot.dots {
            frame.dots(number, points)
        } else {
            frame.line(number, points)
        }
        frame.name(number, name);
    }
    frame.finish()
}
