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
    pub dashed: bool,
    pub points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 50.0;
const RIGHT: f64 = 180.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 45.0;
/// Okabe and Ito's colours, which colour-blind people tell apart.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];

/// A plot of shares, 0 to 1, over x. Solid and dashed lines of one name have one colour.
pub fn svg(title: &str, x_title: &str, lines: &[Line]) -> String {
    let xs = || lines.iter().flat_map(|line| line.points.iter().map(|point| point.0));
    let (from, to) = (xs().fold(f64::INFINITY, f64::min), xs().fold(f64::NEG_INFINITY, f64::max));
    let x = |value: f64| LEFT + (value - from) / (to - from) * (WIDTH - LEFT - RIGHT);
    let y = |value: f64| HEIGHT - BOTTOM - value * (HEIGHT - TOP - BOTTOM);
    let mut out = String::new();
    let mut add = |text: String| writeln!(out, "{text}").expect("memory");
    add(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>"
    ));
    add(format!("<text x=\"{LEFT}\" y=\"18\" font-size=\"13\">{title}</text>"));
    for tenth in 0..=5 {
        let share = f64::from(tenth) / 5.0;
        add(format!(
            "<path d=\"M{LEFT} {0:.1}H{1:.1}\" stroke=\"#ddd\"/><text x=\"{2:.1}\" y=\"{3:.1}\" text-anchor=\"end\">{share:.1}</text>",
            y(share),
            WIDTH - RIGHT,
            LEFT - 6.0,
            y(share) + 4.0
        ));
    }
    let mut ticks: Vec<f64> =
        lines.first().map_or(Vec::new(), |line| line.points.iter().map(|p| p.0).collect());
    while ticks.len() > 10 {
        ticks = ticks.into_iter().step_by(2).collect();
    }
    for tick in ticks {
        add(format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{tick}</text>",
            x(tick),
            HEIGHT - BOTTOM + 16.0
        ));
    }
    add(format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{x_title}</text>",
        (LEFT + WIDTH - RIGHT) / 2.0,
        HEIGHT - 8.0
    ));
    let mut names: Vec<&str> = Vec::new();
    for line in lines {
        if !names.contains(&&*line.name) {
            names.push(&line.name);
        }
        let number = names.iter().position(|name| *name == line.name).unwrap_or(0);
        let colour = COLOURS[number % COLOURS.len()];
        let points: Vec<String> =
            line.points.iter().map(|&(a, b)| format!("{:.1},{:.1}", x(a), y(b))).collect();
        let dashes = if line.dashed { " stroke-dasharray=\"5 4\"" } else { "" };
        add(format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\"{dashes}/>",
            points.join(" ")
        ));
        if !line.dashed || !lines.iter().any(|other| !other.dashed && other.name == line.name) {
            add(format!(
                "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\">{}</text>",
                WIDTH - RIGHT + 10.0,
                TOP + 14.0 + 16.0 * number as f64,
                line.name
            ));
        }
    }
    out.push_str("</svg>\n");
    out
}
