//! Functions and comments that are read in one go, and ideas that are defined once.

use crate::modules::Sources;

/// The most lines of a function.
const MOST_LINES: usize = 80;

/// Functions of more lines than that, from their first line to the brace that ends them at the same
/// indentation, as rustfmt puts it.
pub fn long_functions(sources: &Sources) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in sources.iter().filter(|(path, _)| !path.contains("/tests")) {
        let lines: Vec<&str> = text.lines().collect();
        for (first, line) in lines.iter().enumerate() {
            let Some(name) = function(line) else { continue };
            // Not a declaration without a body, nor a body on the same line.
            let begins = lines[first..].iter().find(|line| line.ends_with(['{', ';', '}']));
            if !begins.is_some_and(|line| line.ends_with('{')) {
                continue;
            }
            let end = format!("{}}}", &line[..line.len() - line.trim_start().len()]);
            let length = lines[first..].iter().position(|line| *line == end).map_or(0, |last| last + 1);
            if length > MOST_LINES {
                found.push(format!("{path}: function {name} has {length} lines, at most {MOST_LINES}"));
            }
        }
    }
    found
}

/// The name of the function that a line begins.
fn function(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let known = ["pub", "const", "unsafe", "async", "extern", "\"C\"", "\"C-unwind\""];
    let word = words.find(|word| !known.contains(word) && !word.starts_with("pub("))?;
    let name = if word == "fn" { words.next()? } else { return None };
    name.split(['(', '<']).next()
}

/// An idea, what its definition reads like, and the file that has it.
const IDEAS: [(&str, &str, &str); 8] = [
    ("the order of tokens", "struct TokenOrder", "core/src/set_index/token_order.rs"),
    ("counts of tokens that forget the rarest", "struct TokenCounts", "core/src/set_index/token_counts.rs"),
    ("the bitmap of a set", "fn of_hashes(hashes: impl Iterator", "core/src/set_index/bitmap.rs"),
    ("the width of a bitmap", "struct Width", "core/src/set_index/bitmap.rs"),
    ("a bound kept for each size of a set", "struct BySize", "core/src/set_index/by_size.rs"),
    ("the codec of posting lists", "struct Decoder", "core/src/set_index/rice.rs"),
    ("LEB128", "& 0x7f", "core/src/leb128.rs"),
    ("the hash of an element", "Self::Number(number) => hash::mix(number)", "core/src/features/tokens.rs"),
];

/// Ideas that are defined elsewhere, too, or not where they should be.
pub fn defined_elsewhere(sources: &Sources) -> Vec<String> {
    let mut found = Vec::new();
    for (idea, reads, home) in IDEAS {
        let files: Vec<&String> =
            sources.iter().filter(|(_, text)| text.contains(reads)).map(|(path, _)| path).collect();
        if files != [home] {
            found
                .push(format!("{idea} (\"{reads}\") is defined in {files:?}, and should be in {home} alone"));
        }
    }
    found
}

/// Lines of prose: their numbers, the whole lines, and what they say. Of Rust these are the comments that have a line to
/// themselves. Code and tables are left out.
fn prose<'a>(path: &str, text: &'a str) -> impl Iterator<Item = (usize, &'a str, &'a str)> {
    let is_rust = path.ends_with(".rs");
    let mut is_code = false;
    (1..).zip(text.lines()).filter_map(move |(number, line)| {
        let said = match line.trim_start().strip_prefix("//") {
            Some(comment) if is_rust => comment.trim_start_matches(['/', '!']),
            None if is_rust => {
                is_code = false;
                return None;
            }
            _ => line,
        };
        is_code ^= said.trim_start().starts_with("```");
        (!is_code && !said.trim_start().starts_with('|')).then_some((number, line, said))
    })
}

/// The most columns of a line of a comment.
const MOST_COLUMNS: usize = 100;

/// Lines of comments that are wider than that, but for commands, which are indented.
pub fn wide_comments(sources: &Sources) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in sources {
        let wide = prose(path, text)
            .filter(|(_, line, said)| !said.starts_with("     ") && line.chars().count() > MOST_COLUMNS);
        found.extend(
            wide.map(|(number, ..)| {
                format!("{path}:{number}: a comment of more than {MOST_COLUMNS} columns")
            }),
        );
    }
    found
}

/// Turns that are understood at the second reading only, in comments and in the manual.
const TURNS: [&str; 12] = [
    " anew",
    "stands in ",
    "stands behind",
    "stands beside",
    "a row of transactions",
    "a piece of work",
    "tells whether",
    "makes ready",
    "is at it",
    "of itself",
    "in so many",
    "has no words for",
];

/// Comments, and lines of the manual, that have such a turn. What is quoted, as messages are, does not count.
pub fn odd_turns(sources: &Sources) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in sources {
        for (number, _, said) in prose(path, text) {
            let said = said.split('`').step_by(2).collect::<Vec<_>>().join("`");
            // Not where the last word goes on: `is at its place`.
            let has = |turn: &str| {
                let mut rest = said.split(turn).skip(1);
                rest.any(|rest| !rest.starts_with(char::is_alphabetic) || turn.ends_with(' '))
            };
            let turns = TURNS.iter().filter(|turn| has(turn));
            found.extend(turns.map(|turn| format!("{path}:{number}: \"{}\"", turn.trim())));
        }
    }
    found
}
