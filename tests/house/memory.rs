//! What the code says of the memory that it takes.

use std::collections::BTreeMap;

use crate::modules::Sources;

/// Requests for memory that can fail, and do not tell the allocator so: only
/// core/src/memory.rs makes them.
pub fn untold_requests(sources: &Sources) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in sources.iter().filter(|(path, _)| *path != "core/src/memory.rs") {
        let mut before = "";
        for (number, line) in (1..).zip(text.lines()) {
            let told = [before, line].iter().any(|line| line.contains("memory::attempt("));
            if (line.contains(".try_reserve") || line.contains("try_zeroed_vec(")) && !told {
                found.push(format!("{path}:{number}: a request that can fail is made by memory::attempt"));
            }
            before = line;
        }
    }
    found
}

/// Functions whose allowance is not what their SQL says of them: those that are IMMUTABLE read
/// nothing but their arguments, and all others have a limit.
pub fn wrong_allowances(sql: &Sources, rust: &Sources) -> Vec<String> {
    let mut immutable = BTreeMap::new();
    for declaration in sql.values().flat_map(|text| text.split("'MODULE_PATHNAME', '").skip(1)) {
        let Some((symbol, rest)) = declaration.split_once('\'') else { continue };
        let attributes = rest.split(';').next().unwrap_or_default();
        immutable.insert(symbol, attributes.contains("IMMUTABLE"));
    }
    let mut found = Vec::new();
    for (path, text) in rust {
        // The rows of `sql_functions!` begin with the symbol.
        for row in text.lines().map(str::trim_start).filter(|row| row.starts_with("neardup_")) {
            let symbol = row.split([',', ':']).next().unwrap_or_default();
            let by_arguments = row.contains(", within Arguments");
            if immutable.get(symbol).is_some_and(|immutable| *immutable != by_arguments) {
                found.push(format!(
                    "{path}: {symbol} is {}within Arguments, and its SQL is {}IMMUTABLE",
                    if by_arguments { "" } else { "not " },
                    if by_arguments { "not " } else { "" }
                ));
            }
        }
    }
    found
}
