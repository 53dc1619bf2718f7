//! Rules of the house that no compiler knows: no circles, one door to the server, no name of a document that is not there.

mod arrows;
mod circles;
mod modules;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use arrows::{Arrows, arrows};
use circles::{circles, within};
use modules::{Crate, Sources};

/// Adds the files below a folder whose names end so, by their paths from the top.
fn read_below(folder: &Path, ending: &str, into: &mut Sources) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            read_below(&path, ending, into);
        } else if path.to_string_lossy().ends_with(ending) {
            into.insert(path.display().to_string(), fs::read_to_string(&path).expect("is text"));
        }
    }
}

fn sources() -> Sources {
    let mut found = Sources::new();
    read_below(Path::new("src"), ".rs", &mut found);
    found
}

fn arrows_of(sources: &Sources) -> Arrows {
    arrows(&Crate::read(sources, "src/lib.rs"))
}

fn none(faults: Vec<String>) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn no_circle_among_files() {
    none(circles(&arrows_of(&sources())));
}

#[test]
fn no_circle_among_the_folders_of_a_folder() {
    let sources = sources();
    let arrows = arrows_of(&sources);
    let folders: BTreeSet<&str> =
        sources.keys().flat_map(|file| Path::new(file).ancestors().skip(1)).filter_map(Path::to_str).filter(|name| !name.is_empty()).collect();
    none(folders.iter().flat_map(|folder| circles(&within(folder, &arrows))).collect());
}
