//! Names of documents in sources, and whether the documents are there.

use std::collections::BTreeSet;

use crate::modules::Sources;

const ENDINGS: [&str; 10] = ["md", "pdf", "txt", "svg", "ps", "tex", "bib", "rst", "docx", "epub"];

/// The names of documents that are neither a path from the top or from the file that names them,
/// nor the bare name of any file. Addresses on the web are let pass, as are files below cargo's
/// target folder and names that begin with another variable of a script than $project.
pub fn missing(sources: &Sources, there: &BTreeSet<String>) -> Vec<String> {
    let bare: BTreeSet<&str> = there.iter().filter_map(|path| path.rsplit('/').next()).collect();
    let mut found = Vec::new();
    for (file, text) in sources {
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (number, line) in text.lines().enumerate() {
            for name in names(line) {
                let from_here = normal(&format!("{folder}/{name}"));
                if !bare.contains(name) && !there.contains(&normal(name)) && !there.contains(&from_here) {
                    found.push(format!("{file}:{}: {name} is not in the repository", number + 1));
                }
            }
        }
    }
    found
}

/// The names of documents in a line.
fn names(line: &str) -> Vec<&str> {
    let in_name = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let mut found = Vec::new();
    let mut start = 0;
    for name in line.split(|c| !in_name(c)) {
        let before = &line[..start];
        start += name.len() + line[start + name.len()..].chars().next().map_or(0, char::len_utf8);
        let name = name.trim_end_matches(['.', '-', '/']);
        let Some((stem, ending)) = name.rsplit_once('.') else { continue };
        let address = before.ends_with(':') && name.starts_with("//");
        // `self.pages.svg` is a field.
        let field = name.starts_with("self.");
        if !ENDINGS.contains(&ending) || stem.is_empty() || stem.ends_with('/') || address || field {
            continue;
        }
        match name.split_once('/') {
            // $project/docs/… and ${project}/…
            Some(("project", path)) if before.ends_with(['$', '{']) => found.push(path),
            _ if before.ends_with('$') || name.starts_with("target/") => {}
            Some(("", path)) if before.ends_with("{project}") => found.push(path),
            Some(("", _)) if before.ends_with('}') => {}
            // A pattern of names.
            Some(("", name)) if before.ends_with('*') => found.push(name),
            _ => found.push(name),
        }
    }
    found
}

fn normal(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}
