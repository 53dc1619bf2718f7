//! Figures in the prose of the pages of the evaluation, and where they stand: in a table of the
//! page, in the column that says what the paper says, or in a list that names their source.

use std::collections::BTreeMap;

/// A number as written: its digits, and how many of them are behind the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Figure {
    digits: i128,
    decimals: u32,
}

impl Figure {
    fn read(text: &str) -> Option<Self> {
        let plain = text.replace(',', "");
        let decimals = plain.split_once('.').map_or(0, |(_, behind)| behind.len());
        let digits = plain.replace('.', "").parse().ok()?;
        Some(Self { digits, decimals: decimals as u32 })
    }

    fn value(self) -> f64 {
        self.digits as f64 / 10f64.powi(self.decimals as i32)
    }

    /// Whether `other`, rounded to as many decimals, is this one; a half may go either way.
    fn rounds(self, other: Self) -> bool {
        if other.decimals < self.decimals {
            return false;
        }
        let unit = 10i128.pow(other.decimals - self.decimals);
        (2 * (other.digits - self.digits * unit)).abs() <= unit && (unit > 1 || other.digits == self.digits)
    }

    /// The same as a share, where it is written in hundredths.
    fn hundredth(self) -> Self {
        Self { digits: self.digits, decimals: self.decimals + 2 }
    }
}

/// The numbers of a text as they are written; parts of names have none.
fn numbers(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let begins = at;
        let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let mut point = false;
        loop {
            let thousands =
                bytes.get(at) == Some(&b',') && (1..=3).all(|n| is_digit(at + n)) && !is_digit(at + 4);
            if is_digit(at) {
                at += 1;
            } else if bytes.get(at) == Some(&b'.') && is_digit(at + 1) && !point {
                (at, point) = (at + 1, true);
            } else if thousands && !point {
                at += 1;
            } else {
                break;
            }
        }
        let named = begins > 0 && (bytes[begins - 1].is_ascii_alphabetic() || bytes[begins - 1] == b'_');
        if !named {
            found.push(&text[begins..at]);
        }
    }
    found
}

/// A line without code and without the addresses of links.
fn plain(line: &str) -> String {
    let no_code: String = line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let mut parts = no_code.split("](");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push(' ');
        text.push_str(part.split_once(')').map_or("", |(_, rest)| rest));
    }
    text
}

/// What stands in the tables that programs make, and the prose around them. The line that says
/// where the tables were made is in neither.
pub fn parts(page: &str) -> (String, String) {
    let (mut tables, mut prose) = (String::new(), String::new());
    let (mut made, mut of_paper, mut before) = (false, false, "");
    for line in page.lines() {
        if line.starts_with("<!-- ") {
            made = !line.starts_with("<!-- /");
        } else if made {
            if !line.starts_with("![") && !line.starts_with("Made at commit") {
                tables.push_str(line);
                tables.push('\n');
            }
        } else if !line.starts_with("![") {
            let is_row = line.starts_with('|');
            if is_row && !before.starts_with('|') {
                of_paper = line.starts_with("| the paper says |");
            }
            // The first cell is the paper's.
            let own = if is_row && of_paper { line.splitn(3, '|').nth(2).unwrap_or_default() } else { line };
            prose.push_str(&plain(own));
            prose.push('\n');
        }
        before = line;
    }
    (tables, prose)
}

/// The numbers of the tables.
pub fn pool(tables: &str) -> Vec<Figure> {
    let mut found: Vec<Figure> = numbers(tables).into_iter().filter_map(Figure::read).collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn stands_in(figure: Figure, percent: bool, pool: &[Figure]) -> bool {
    pool.iter().any(|&other| figure.rounds(other) || percent && figure.hundredth().rounds(other))
}

/// The value of a source such as `=3430/6085`, of numbers of the tables, from left to right.
fn computed(formula: &str, pool: &[Figure]) -> Result<f64, String> {
    let mut value: Option<f64> = None;
    for part in formula.split_inclusive(['/', '*', '+', '-']).scan('+', |operator, part| {
        let number = part.trim_end_matches(['/', '*', '+', '-']);
        let of = (*operator, number);
        *operator = part.chars().last().unwrap_or('+');
        Some(of)
    }) {
        let (operator, number) = part;
        let figure = Figure::read(number.trim()).ok_or(format!("{number:?} is no number"))?;
        // Parts of a hundred or a thousand need no table.
        let scale = ["100", "1000"].contains(&number.trim());
        if !scale && !pool.contains(&figure) {
            return Err(format!("{number} stands in no table"));
        }
        let next = figure.value();
        value = Some(match (value, operator) {
            (None, _) => next,
            (Some(value), '/') => value / next,
            (Some(value), '*') => value * next,
            (Some(value), '-') => value - next,
            (Some(value), _) => value + next,
        });
    }
    value.ok_or("nothing to compute".to_owned())
}

/// Faults of a page: numbers of its prose that stand in no table of it and are not listed; listed
/// ones that are wrong, needless or not there. `sources` has the lines of the list for this page.
pub fn faults(path: &str, prose: &str, pool: &[Figure], sources: &[(&str, &str)]) -> Vec<String> {
    let mut found = Vec::new();
    let mut used: BTreeMap<&str, bool> = sources.iter().map(|(number, _)| (*number, false)).collect();
    for line in prose.lines() {
        let mut rest = line;
        for number in numbers(line) {
            let at = rest.find(number).unwrap_or_default();
            rest = &rest[at + number.len()..];
            let Some(figure) = Figure::read(number) else { continue };
            let percent = rest.trim_start().starts_with('%');
            if let Some(used) = used.get_mut(number) {
                *used = true;
            } else if !stands_in(figure, percent, pool) {
                let context: String = line.chars().take(60).collect();
                found.push(format!("{path}: {number} stands in no table, and has no source: {context}"));
            }
        }
    }
    for (number, source) in sources {
        let Some(figure) = Figure::read(number) else {
            found.push(format!("{path}: the list has {number:?}, which is no number"));
            continue;
        };
        if !used[number] {
            found.push(format!("{path}: the list has {number}, and the page has not"));
        }
        if let Some(formula) = source.strip_prefix('=') {
            let half = 0.5001 * 10f64.powi(-(figure.decimals as i32));
            match computed(formula, pool) {
                Ok(value) if (value - figure.value()).abs() <= half => {}
                Ok(value) if (100.0 * value - figure.value()).abs() <= half => {}
                Ok(value) => found.push(format!("{path}: {number} is listed as {formula}, which is {value}")),
                Err(why) => found.push(format!("{path}: {number} is listed as {formula}: {why}")),
            }
        } else if source.trim().is_empty() {
            found.push(format!("{path}: {number} is listed without a source"));
        }
    }
    found
}
