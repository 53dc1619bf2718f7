//! Texts at another line width.

use neardup_core::text::characters::width_of;

/// A text wrapped at so many columns; a line that is indented, or follows an empty one, begins a
/// paragraph.
pub fn wrap(text: &str, width: usize) -> String {
    let mut all = String::new();
    let (mut column, mut paragraph) = (0, true);
    for line in text.lines() {
        let indent = &line[..line.len() - line.trim_start().len()];
        if line.trim().is_empty() || !indent.is_empty() || paragraph {
            if !all.is_empty() {
                all.push('\n');
            }
            all.push_str(indent);
            column = indent.chars().map(width_of).sum();
        } else if column > 0 && line.chars().next().is_some_and(|c| width_of(c) == 1) {
            all.push(' ');
            column += 1;
        }
        paragraph = line.trim().is_empty();
        let mut rest = line.trim();
        while let Some(first) = rest.chars().next() {
            // A wide character can stand on a line of its own.
            let end = match width_of(first) {
                1 => rest.find(|c: char| c == ' ' || width_of(c) == 2).unwrap_or(rest.len()),
                _ => first.len_utf8(),
            };
            let (word, after) = rest.split_at(end);
            let columns: usize = word.chars().map(width_of).sum();
            if column > 0 && column + columns > width {
                all.truncate(all.trim_end_matches(' ').len());
                all.push('\n');
                column = 0;
            }
            all.push_str(word);
            column += columns;
            rest = after.trim_start_matches(' ');
            if rest.len() < after.len() && !rest.is_empty() {
                all.push(' ');
                column += 1;
            }
        }
    }
    all
}
