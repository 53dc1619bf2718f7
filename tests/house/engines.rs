//! What finds pairs or sorts on files stands on one of few engines. A new module with postings or an
//! external sort of its own stands on one of these, or takes the place of one. Temporary files are
//! those of `core/src/storage` anyway.

use crate::modules::Sources;
use crate::{none, src};

/// What only engines have: a part of a line of code, be it with an s at its end, and where it may
/// stand.
struct Engine {
    has: &'static str,
    what: &'static str,
    places: &'static [&'static str],
}

const ENGINES: &[Engine] = &[
    // Sets that share tokens: in memory and in partitions, rows of parts, the nearest of each, and
    // changed rows among stored ones. Equal keys, pieces of texts, signatures of sentences.
    Engine {
        has: "struct …Posting",
        what: "postings of its own",
        places: &[
            "core/src/joins/keys.rs",
            "core/src/parts/engine.rs",
            "core/src/joins/sets/",
            "core/src/joins/sketches/recall.rs",
        ],
    },
    Engine {
        has: "struct …List",
        what: "lists of its own",
        places: &[
            "core/src/parts/engine.rs",
            "core/src/joins/sentences/signature_lists.rs",
            "core/src/joins/sets/",
        ],
    },
    Engine {
        has: "struct …Segment",
        what: "stored lists of its own",
        places: &["core/src/joins/edit/segments/", "core/src/incremental/segment.rs"],
    },
    Engine {
        has: "struct …Index",
        what: "an index of its own",
        places: &[
            "core/src/joins/edit/segments/index.rs",
            "core/src/joins/nearest/index.rs",
            "core/src/parts/engine.rs",
        ],
    },
    Engine {
        has: "struct …Bucket",
        what: "buckets of equal keys of its own",
        places: &["core/src/joins/sketches/buckets/"],
    },
    // The order of what does not fit into memory.
    Engine {
        has: "struct …Sorter",
        what: "a sort on files of its own",
        places: &["core/src/storage/sort.rs", "src/pg/index/storage/sort.rs"],
    },
];

impl Engine {
    /// Reports whether a line of code has it. An ellipsis stands for the beginning of a name.
    fn is_in(&self, line: &str) -> bool {
        let Some((before, ending)) = self.has.split_once('…') else { return false };
        let name = line.split_once(before).map_or("", |(_, name)| name);
        let end = name.find(|c: char| !c.is_alphanumeric()).unwrap_or(name.len());
        name[..end].trim_end_matches('s').ends_with(ending)
    }
}

/// Files of the core, and of what the server lends it, that have an engine of their own and are not
/// among those that may.
pub fn other_engines(sources: &Sources) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in sources {
        let is_test = path.ends_with("/tests.rs") || path.contains("/tests/");
        if is_test || path.starts_with("src/") && !path.starts_with("src/pg/server/") {
            continue;
        }
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for engine in
            ENGINES.iter().filter(|engine| !engine.places.iter().any(|place| path.starts_with(place)))
        {
            if let Some(line) = code.lines().find(|line| engine.is_in(line)) {
                found.push(format!(
                    "{path} has {}, {:?}: it stands on an engine of tests/house/engines.rs, or takes the place of one",
                    engine.what,
                    line.trim()
                ));
            }
        }
    }
    found
}

/// Pairs are found, and data is sorted, by few engines.
#[test]
fn engines_are_few() {
    none(other_engines(&src()));
}

#[test]
fn a_planted_engine_is_found() {
    let found =
        |path: &str, line: &str| other_engines(&Sources::from([(path.to_owned(), line.to_owned())])).len();
    assert_eq!(found("core/src/joins/new.rs", "pub(super) struct NewPosting {"), 1);
    assert_eq!(found("core/src/joins/new.rs", "struct Postings(Vec<u32>);"), 1);
    assert_eq!(found("core/src/joins/sets/new.rs", "pub struct Posting {"), 0);
    assert_eq!(found("core/src/repeats/new.rs", "struct RunSorter<'f> {"), 1);
    assert_eq!(found("core/src/repeats/new.rs", "struct PostingPlace; fn sort(by: Sorter) {}"), 0);
}
