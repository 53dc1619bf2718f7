//! Rules of the house that no compiler knows: no circle of files, one door to the server, files
//! that can be read in one go, no name of a document that is not there. Each rule is shown here to
//! find a planted fault.

mod arrows;
mod circles;
mod declarations;
mod documents;
mod doors;
mod engines;
mod figures;
mod lengths;
mod memory;
mod modules;
mod names;
mod planted;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use arrows::{Arrows, arrows};
use circles::{circles, within};
use modules::{Crate, Sources};
use names::{Names, ratchet};
use proc_macro2::{TokenStream, TokenTree};

/// Adds the files below a path that are text, by their paths from the top.
fn read_below(path: &Path, into: &mut Sources) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("a folder") {
            read_below(&entry.expect("an entry").path(), into);
        }
    } else if let Ok(text) = fs::read_to_string(path) {
        into.insert(path.display().to_string(), text);
    }
}

fn sources(places: &[&str], ending: &str) -> Sources {
    let mut found = Sources::new();
    places.iter().for_each(|place| read_below(Path::new(place), &mut found));
    found.retain(|path, _| path.ends_with(ending));
    found
}

/// The roots of the crates: the core's and the extension's.
const ROOTS: [&str; 2] = ["core/src/lib.rs", "src/lib.rs"];

fn src() -> Sources {
    sources(&["core/src", "src"], ".rs")
}

/// The crates of these sources; a planted fault has one.
fn crates(sources: &Sources) -> impl Iterator<Item = Crate> {
    ROOTS.iter().filter(|root| sources.contains_key(**root)).map(|root| Crate::read(sources, root))
}

fn arrows_of(sources: &Sources) -> Arrows {
    crates(sources).flat_map(|one| arrows(&one)).collect()
}

fn none(faults: Vec<String>) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn no_circle_among_files() {
    none(circles(&arrows_of(&src())));
}

/// As it holds among files, so among the entries of `core/src`, of `src` and of `src/pg`, each
/// folder taken as one.
#[test]
fn no_circle_among_folders() {
    let arrows = arrows_of(&src());
    let folders = ["core/src", "src", "src/pg"];
    none(folders.iter().flat_map(|folder| circles(&within(folder, &arrows))).collect());
}

/// Relations are opened, locked and queried in few places.
#[test]
fn tables_of_others_have_one_door() {
    none(doors::other_doors(&src()));
}

/// Folders of `src/pg` that are compiled without a server.
const PLANS: [&str; 2] = ["src/pg/into/plan/", "src/pg/jobs/plan/"];

/// Files outside `src/pg`, and of plans, that name pgrx, or something else in `src/pg`.
fn beside_the_door(sources: &Sources) -> Vec<String> {
    fn names_pgrx(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(name) => name == "pg_sys" || name.to_string().starts_with("pgrx"),
            TokenTree::Group(group) => names_pgrx(group.stream()),
            _ => false,
        })
    }
    let outside =
        |path: &str| !path.starts_with("src/pg/") || PLANS.iter().any(|plan| path.starts_with(plan));
    let mut found = Vec::new();
    for (path, text) in sources.iter().filter(|(path, _)| outside(path)) {
        if names_pgrx(text.parse().expect("is Rust")) {
            found.push(format!("{path} names pgrx: only src/pg without its plans may"));
        }
    }
    for ((from, to), names) in arrows_of(sources) {
        if outside(&from) && !outside(&to) {
            found.push(format!("{from} uses {names:?} of {to}: nothing outside src/pg may"));
        }
    }
    found
}

#[test]
fn only_src_pg_knows_the_server() {
    none(beside_the_door(&src()));
}

/// Files that are no module's, so that no compiler looks at them.
fn unread(sources: &Sources) -> Vec<String> {
    let crates: Vec<Crate> = crates(sources).collect();
    let modules: BTreeSet<&String> =
        crates.iter().flat_map(|read| read.modules.iter().map(|module| &module.file)).collect();
    let of_tests = |path: &String| crates.iter().any(|read| read.tests.contains(path));
    let left = sources.keys().filter(|path| !modules.contains(path) && !of_tests(path));
    left.map(|path| format!("{path} is declared in no module")).collect()
}

#[test]
fn every_file_is_a_module() {
    none(unread(&src()));
}

/// The entries of `src/pg`, if they are more than one sees at a glance.
fn too_many_rooms(sources: &Sources) -> Vec<String> {
    let below = sources.keys().filter_map(|path| path.strip_prefix("src/pg/"));
    let rooms: BTreeSet<&str> = below.filter_map(|path| path.split('/').next()).collect();
    if rooms.len() > 12 {
        vec![format!("src/pg has {} entries, at most 12 are allowed: {rooms:?}", rooms.len())]
    } else {
        vec![]
    }
}

#[test]
fn src_pg_has_few_rooms() {
    none(too_many_rooms(&src()));
}

#[test]
fn no_function_is_long() {
    none(lengths::long_functions(&src()));
}

#[test]
fn no_comment_is_wide() {
    none(lengths::wide_comments(&src()));
}

#[test]
fn prose_is_plain() {
    let manual = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "ARCHITECTURE.md", "DECISIONS.md", "docs"];
    let mut prose = sources(&manual, ".md");
    prose.extend(src());
    none(lengths::odd_turns(&prose));
}

#[test]
fn internal_functions_have_few_arguments() {
    none(declarations::long_argument_lists(&sources(&["sql"], ".sql")));
}

/// A name means one thing: the numbers of what does not keep to it only fall.
#[test]
fn names_mean_one_thing() {
    let names = Names::read(crates(&src()));
    let mut faults = ratchet("names of types are declared again", &names.declared_again(), 10);
    faults.extend(ratchet("functions are called of", &names.of, 0));
    faults.extend(ratchet("functions have tuples as parameters", &names.tuples, 7));
    none(faults);
}

#[test]
fn each_idea_is_defined_once() {
    none(lengths::defined_elsewhere(&src()));
}

/// Files that hold a temporary file: what spills stands on the log, the sorter or the blobs of
/// storage.
fn spills_elsewhere(sources: &Sources) -> Vec<String> {
    let may = |path: &str| {
        path.starts_with("core/src/storage/")
            || ["core/src/lib.rs", "src/pg/server/temp_file.rs"].contains(&path)
    };
    let names = |text: &str| {
        text.match_indices("TempFile").any(|(at, name)| !text[at + name.len()..].starts_with('s'))
    };
    let found = sources.iter().filter(|(path, text)| !may(path) && names(text));
    found.map(|(path, _)| format!("{path} has a file of its own: only core/src/storage may")).collect()
}

#[test]
fn only_storage_spills() {
    none(spills_elsewhere(&src()));
}

/// Files that ask which version of PostgreSQL they are compiled for, and are not where that is
/// answered.
fn versions_elsewhere(sources: &Sources) -> Vec<String> {
    // `attrs` of a descriptor is there until 17.
    let asks = |path: &str, text: &str| {
        (text.contains("feature = \"pg1") || text.contains(".attrs."))
            && !["src/lib.rs", "src/pg/compat.rs"].contains(&path)
    };
    let found = sources.iter().filter(|(path, text)| asks(path, text));
    found
        .map(|(path, _)| {
            format!("{path} asks for a version, or for what not all have: only src/pg/compat.rs may")
        })
        .collect()
}

#[test]
fn versions_of_postgresql_differ_in_one_place() {
    none(versions_elsewhere(&sources(&["src", "pg_test"], ".rs")));
}

#[test]
fn the_citation_is_of_this_version() {
    let citation = fs::read_to_string("CITATION.cff").expect("a file");
    let version = format!("version: {}", env!("CARGO_PKG_VERSION"));
    assert!(citation.lines().any(|line| line == version), "CITATION.cff has no line {version:?}");
}

/// SQL files whose functions are not where their names say.
fn homeless(sql: &Sources, rust: &Sources) -> Vec<String> {
    let mut found = Vec::new();
    for name in sql.keys().map(|path| path.trim_start_matches("sql/").trim_end_matches(".sql")) {
        let (file, folder) = (format!("src/pg/functions/{name}.rs"), format!("src/pg/{name}"));
        let modules = [format!("src/pg/functions/{name}/mod.rs"), format!("{folder}/mod.rs")];
        if !rust.contains_key(&file) && !modules.iter().any(|module| rust.contains_key(module)) {
            found.push(format!("sql/{name}.sql has its functions neither in {file} nor in {folder}/"));
        }
    }
    found
}

/// The files that declare SQL objects, without the scripts that lead from one version to another.
fn declarations() -> Sources {
    let files = sources(&["sql"], ".sql").into_iter();
    files.filter(|(path, _)| !path.starts_with("sql/upgrades/")).collect()
}

#[test]
fn functions_are_where_their_sql_file_says() {
    none(homeless(&declarations(), &src()));
}

#[test]
fn the_allocator_knows_which_requests_can_fail() {
    none(memory::untold_requests(&src()));
}

#[test]
fn every_call_has_an_allowance() {
    none(memory::wrong_allowances(&declarations(), &src()));
}

fn too_long(sources: &Sources) -> Vec<String> {
    let long =
        sources.iter().map(|(path, text)| (path, text.lines().count())).filter(|(_, lines)| *lines > 400);
    long.map(|(path, lines)| format!("{path} has {lines} lines, at most 400 are allowed")).collect()
}

#[test]
fn no_file_is_long() {
    none(too_long(&sources(&["core", "src", "tests", "benches", "evaluation", "pg_test"], ".rs")));
}

/// Files that allow `unsafe`, which Cargo.toml denies, and are neither the door to the server nor a
/// kernel written for a processor's instructions.
fn unsafe_elsewhere(sources: &Sources) -> Vec<String> {
    let may = |path: &str, text: &str| path == "src/pg/mod.rs" || text.contains("target_feature");
    let allows = |text: &str| text.contains("allow(unsafe_code)") || text.contains("expect(unsafe_code)");
    let found = sources.iter().filter(|(path, text)| allows(text) && !may(path, text));
    found
        .map(|(path, _)| {
            format!("{path} allows unsafe code: only src/pg and kernels for a processor's instructions may")
        })
        .collect()
}

#[test]
fn unsafe_code_has_its_doors() {
    none(unsafe_elsewhere(&src()));
}

/// The files of the repository; without git, of a release's archive.
fn repository() -> BTreeSet<String> {
    match Command::new("git").args(["ls-files", "--cached", "--others", "--exclude-standard"]).output() {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout)
            .lines()
            .filter(|path| Path::new(path).exists())
            .map(String::from)
            .collect(),
        _ => {
            let mut found = Sources::new();
            for entry in fs::read_dir(".").expect("the top") {
                let path = entry.expect("an entry").path();
                let path = path.strip_prefix(".").unwrap_or(&path);
                if path != Path::new("target") && path != Path::new(".git") {
                    read_below(path, &mut found);
                }
            }
            found.into_keys().collect()
        }
    }
}

#[test]
fn documents_named_are_there() {
    let places = [
        "src",
        "core",
        "sql",
        "tests",
        "benches",
        "evaluation/src",
        "scripts",
        "pg_test",
        "Cargo.toml",
        "Makefile",
        ".ci",
    ];
    let sources =
        sources(&places.into_iter().filter(|place| Path::new(place).exists()).collect::<Vec<_>>(), "");
    none(documents::missing(&sources, &repository()));
}

/// Places in backquotes, a path from the top or from `core/src`, `src` or `src/pg`, that are not
/// there.
fn nowhere(text: &str, is_there: impl Fn(&str) -> bool) -> Vec<String> {
    let is_path = |place: &&str| {
        place.contains('/') && place.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c))
    };
    let places: BTreeSet<&str> = text.split('`').skip(1).step_by(2).filter(is_path).collect();
    let there = |place: &str| {
        ["", "core/src/", "src/", "src/pg/"].iter().any(|top| is_there(&format!("{top}{place}")))
    };
    places
        .into_iter()
        .filter(|place| !there(place))
        .map(|place| format!("ARCHITECTURE.md: there is no {place}"))
        .collect()
}

#[test]
fn the_walk_leads_somewhere() {
    let walk = fs::read_to_string("ARCHITECTURE.md").expect("ARCHITECTURE.md");
    none(nowhere(&walk, |place| Path::new(place).exists()));
}

/// The lines of evaluation/figures.tsv for a page: numbers that stand in no table, and their
/// sources.
fn sources_of<'a>(list: &'a str, page: &str) -> Vec<(&'a str, &'a str)> {
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    let fields = lines.map(|line| {
        let mut fields = line.splitn(3, '\t');
        [fields.next(), fields.next(), fields.next()].map(Option::unwrap_or_default)
    });
    fields.filter(|[of, ..]| *of == page).map(|[_, number, source]| (number, source)).collect()
}

/// Each figure in the prose of the evaluation stands in a table, or its source is named. The page
/// that sums up has the tables of all.
#[test]
fn figures_stand_in_tables() {
    let list = fs::read_to_string("evaluation/figures.tsv").expect("the list of sources");
    let pages = sources(&["evaluation/pages", "docs/evaluation.md"], ".md");
    let parts: Vec<_> = pages.iter().map(|(path, page)| (path, figures::parts(page))).collect();
    let all: String = parts.iter().map(|(_, (tables, _))| tables.as_str()).collect();
    let mut found = Vec::new();
    for (path, (tables, prose)) in &parts {
        // A page without tables of programs, that of the data, reports no results.
        if tables.is_empty() && *path != "docs/evaluation.md" {
            continue;
        }
        let pool = figures::pool(if *path == "docs/evaluation.md" { &all } else { tables });
        found.extend(figures::faults(path, prose, &pool, &sources_of(&list, path)));
    }
    let strange =
        list.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split('\t').next());
    found.extend(
        strange
            .filter(|page| !pages.contains_key(*page))
            .map(|page| format!("figures.tsv: no page {page:?}")),
    );
    none(found);
}
