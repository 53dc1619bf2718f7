//! Plots in SVG whose axes are in powers of ten: times over sizes, or how often something is as large.

use std::fmt::Write;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 180.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 45.0;
/// The first of Okabe and Ito's colours.
const COLOURS: [&str; 3] = ["#0072b2", "#d55e00", "#009e73"];

/// A line of a plot: its name, and its points.
pub type Line = (String, Vec<(f64, f64)>);

/// What a plot shows.
pub struct Plot<'a> {
    pub title: &'a str,
    pub x_title: &'a str,
    /// What the numbers of the other axis are.
    pub unit: &'a str,
    /// Dots that are not joined, for counts; else lines, and a dashed one through the last point of the first, which
    /// shows what grows in proportion.
    pub dots: bool,
}

/// A plot as SVG.
pub fn svg(plot: &Plot<'_>, lines: &[Line]) -> String {
    let Plot { title, x_title, unit, dots } = *plot;
    let points = || lines.iter().flat_map(|line| line.1.iter().copied());
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value.log10().floor()), high.max(value.log10().ceil()))
        })
    };
    let ((left, right), (low, high)) =
        (range(&mut points().map(|point| point.0)), range(&mut points().map(|point| point.1)));
    let x = |value: f64| LEFT + (value.log10() - left) / (right - left) * (WIDTH - LEFT - RIGHT);
    let y = |value: f64| HEIGHT - BOTTOM - (value.log10() - low) / (high - low) * (HEIGHT - TOP - BOTTOM);
    let mut out = String::new();
    let mut add = |text: String| writeln!(out, "{text}").expect("memory");
    add(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>"
    ));
    add(format!("<text x=\"{LEFT}\" y=\"18\" font-size=\"13\">{title}</text>"));
    for power in low as i32..=high as i32 {
        let at = y(10f64.powi(power));
        add(format!(
            "<path d=\"M{LEFT} {at:.1}H{:.1}\" stroke=\"#ddd\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{} {unit}</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            at + 4.0,
            10f64.powi(power)
        ));
    }
    for power in left as i32..=right as i32 {
        let value = 10f64.powi(power);
        add(format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{value}</text>",
            x(value),
            HEIGHT - BOTTOM + 16.0
        ));
    }
    add(format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{x_title}</text>",
        (LEFT + WIDTH - RIGHT) / 2.0,
        HEIGHT - 8.0
    ));
    if let Some(&(size, time)) = lines.first().and_then(|line| line.1.last()).filter(|_| !dots) {
        let from = points().map(|point| point.0).fold(f64::INFINITY, f64::min);
        let proportional = (time * from / size).max(10f64.powf(low));
        add(format!(
            "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"#999\" stroke-dasharray=\"5 4\"/>",
            x(proportional * size / time),
            y(proportional),
            x(size),
            y(time)
        ));
    }
    for (n, (name, points)) in lines.iter().enumerate() {
        let colour = COLOURS[n % COLOURS.len()];
        if dots {
            for &(a, b) in points {
                add(format!("<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.2\" fill=\"{colour}\"/>", x(a), y(b)));
            }
        } else {
            let line: Vec<String> = points.iter().map(|&(a, b)| format!("{:.1},{:.1}", x(a), y(b))).collect();
            add(format!(
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\"/>",
                line.join(" ")
            ));
        }
        add(format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\">{name}</text>",
            WIDTH - RIGHT + 10.0,
            TOP + 14.0 + 16.0 * n as f64
        ));
    }
    out.push_str("</svg>\n");
    out
}
