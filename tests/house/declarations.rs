//! The functions that our SQL declares.

use crate::modules::Sources;

/// The most arguments of a function that is not for users: more are read by their positions only
/// with luck.
const MOST_ARGUMENTS: usize = 8;

/// Internal functions with more arguments. A function is internal if its last argument is of the
/// type for that.
pub fn long_argument_lists(sql: &Sources) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in sql {
        for declaration in text.split("CREATE FUNCTION ").skip(1) {
            let Some((name, rest)) = declaration.split_once('(') else { continue };
            let arguments = arguments(rest);
            let is_internal = arguments.last().is_some_and(|last| last.contains("neardup_internal"));
            if is_internal && arguments.len() - 1 > MOST_ARGUMENTS {
                found.push(format!(
                    "{path}: {name} has {} arguments, at most {MOST_ARGUMENTS} are allowed",
                    arguments.len() - 1
                ));
            }
        }
    }
    found
}

/// The arguments of a declaration, from after the parenthesis that opens them.
fn arguments(rest: &str) -> Vec<&str> {
    let (mut depth, mut from, mut found) = (0, 0, Vec::new());
    for (at, character) in rest.char_indices() {
        match character {
            '(' => depth += 1,
            ')' if depth == 0 => {
                found.push(rest[from..at].trim());
                break;
            }
            ')' => depth -= 1,
            ',' if depth == 0 => {
                found.push(rest[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    found
}
