//! A planted fault for each rule, and what looks like one but is none.

use std::collections::BTreeSet;

use crate::circles::{circles, within};
use crate::declarations::long_argument_lists;
use crate::documents::missing;
use crate::memory::{untold_requests, wrong_allowances};
use crate::modules::Sources;
use crate::names::{Names, ratchet};

fn files(files: &[(&str, &str)]) -> Sources {
    files.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect()
}

/// How many circles there are among files, and the first.
fn found(sources: &[(&str, &str)]) -> (usize, String) {
    let circles = circles(&crate::arrows_of(&files(sources)));
    (circles.len(), circles.into_iter().next().unwrap_or_default())
}

const A_AND_B: (&str, &str) = ("src/lib.rs", "mod a; mod b;");

#[test]
fn two_files_that_use_each_other() {
    let (count, text) = found(&[
        A_AND_B,
        ("src/a.rs", "use crate::b::{inner::{Deep, self}, B}; pub struct A(B, Deep);"),
        ("src/b.rs", "pub struct B; pub mod inner { pub struct Deep; } pub fn of(_: &super::a::A) {}"),
    ]);
    assert_eq!(count, 1);
    assert!(text.starts_with("a circle of 2, such as src/a.rs -> src/b.rs -> src/a.rs:"), "{text}");
    assert!(text.contains("src/a.rs -> src/b.rs  (B, Deep)"), "{text}");
    assert!(text.contains("src/b.rs -> src/a.rs  (A)"), "{text}");
}

#[test]
fn what_a_macro_is_given_counts() {
    let b = "pub fn b() -> String { format!(\"{}\", crate::a::name()) }";
    assert_eq!(
        found(&[A_AND_B, ("src/a.rs", "use super::b; pub fn name() { b::b(); }"), ("src/b.rs", b)]).0,
        1
    );
}

#[test]
fn tests_do_not_count() {
    let a = "pub struct A; #[cfg(test)] mod tests { use crate::b::B; }";
    assert_eq!(found(&[A_AND_B, ("src/a.rs", a), ("src/b.rs", "pub struct B(crate::a::A);")]).0, 0);
    let a = "pub struct A; #[cfg(test)] mod tests;";
    let tests = ("src/a/tests.rs", "use crate::b::B;");
    let sources = [A_AND_B, ("src/a.rs", a), tests, ("src/b.rs", "pub struct B(crate::a::A);")];
    assert_eq!(found(&sources).0, 0);
    assert_eq!(crate::unread(&files(&sources)).len(), 0);
    assert_eq!(
        crate::unread(&files(&[A_AND_B, ("src/a.rs", ""), ("src/b.rs", ""), ("src/c.rs", "")])).len(),
        1
    );
}

#[test]
fn a_re_export_is_no_use() {
    let root = ("src/lib.rs", "mod room;");
    let user = ("src/room/user.rs", "use super::Name; pub fn with(_: Name) {}");
    let named = ("src/room/named.rs", "pub struct Name;");
    assert_eq!(
        found(&[root, ("src/room/mod.rs", "mod named; mod user; pub use named::Name;"), user, named]).0,
        0
    );
    // But a module that uses its child, which uses what stands in the module, is a circle.
    let using = "mod user; pub struct Name; pub fn all() { user::with(Name) }";
    assert_eq!(found(&[root, ("src/room/mod.rs", using), user]).0, 1);
    let using = "mod user; pub use user::with; pub struct Name; pub fn all() { with(Name) }";
    assert_eq!(found(&[root, ("src/room/mod.rs", using), user]).0, 1);
}

#[test]
fn a_method_away_from_its_type_counts() {
    let a = "pub struct A; impl A { pub fn go(&self) { self.strayed() } }";
    assert_eq!(
        found(&[A_AND_B, ("src/a.rs", a), ("src/b.rs", "impl crate::a::A { pub fn strayed(&self) {} }")]).0,
        1
    );
}

#[test]
fn folders_that_use_each_other() {
    let sources = files(&[
        A_AND_B,
        ("src/a/mod.rs", "pub mod x; pub mod y;"),
        ("src/a/x.rs", "pub struct X;"),
        ("src/a/y.rs", "use crate::b::B;"),
        ("src/b.rs", "pub struct B(crate::a::x::X);"),
    ]);
    let arrows = crate::arrows_of(&sources);
    assert_eq!(circles(&arrows).len(), 0);
    assert_eq!(circles(&within("src", &arrows)).len(), 1);
}

#[test]
fn a_second_door_to_the_server() {
    let root = ("src/lib.rs", "mod a; mod pg;");
    let pg = ("src/pg/mod.rs", "use pgrx::prelude::*; pub struct P(crate::a::A);");
    let faults = |a| crate::beside_the_door(&files(&[root, pg, ("src/a.rs", a)])).len();
    assert_eq!(faults("pub struct A; // pgrx may be spoken of"), 0);
    assert_eq!(faults("pub struct A; fn f() { println!(\"{}\", pgrx::pg_sys::MaxBlockNumber) }"), 1);
    assert_eq!(faults("pub struct A; pub fn f(_: crate::pg::P) {}"), 1);
    let root = ("src/lib.rs", "#[path = \"pg/into/plan/mod.rs\"] mod a; mod pg;");
    let faults = |a| crate::beside_the_door(&files(&[root, pg, ("src/pg/into/plan/mod.rs", a)])).len();
    assert_eq!(faults("pub struct A;"), 0);
    assert_eq!(faults("pub struct A; pub fn f(_: crate::pg::P) { pgrx::pg_sys::f() }"), 2);
}

#[test]
fn a_second_door_to_a_table() {
    let opens = |path: &str, code: &str| crate::doors::other_doors(&files(&[(path, code)])).len();
    let code = "fn a() { unsafe { pg_sys::try_relation_open(oid, lock) }; }";
    assert_eq!((opens("src/pg/into/a.rs", code), opens("src/pg/procedure/table.rs", code)), (1, 0));
    assert_eq!(opens("src/pg/into/a.rs", "// relation_open( may be spoken of"), 0);
    let statement = "fn a() { Statement::new(\"SELECT 1\") }";
    assert_eq!(
        (opens("src/pg/into/a.rs", statement), opens("src/pg/into/statements/a.rs", statement)),
        (1, 0)
    );
}

#[test]
fn rooms_lines_and_homes() {
    let rooms =
        |count| (0..count).map(|room| (format!("src/pg/room{room}.rs"), String::new())).collect::<Sources>();
    assert_eq!((crate::too_many_rooms(&rooms(12)).len(), crate::too_many_rooms(&rooms(13)).len()), (0, 1));
    let asks =
        |path| crate::versions_elsewhere(&files(&[(path, "#[cfg(feature = \"pg17\")] fn a() {}")])).len();
    assert_eq!((asks("src/pg/index/am/scan.rs"), asks("src/pg/compat.rs")), (1, 0));
    let spills = |text| crate::spills_elsewhere(&files(&[("core/src/joins/a.rs", text)])).len();
    assert_eq!((spills("use a::{TempFile, TempFiles};"), spills("use a::TempFiles;")), (1, 0));
    let lines = |count| files(&[("src/a.rs", &"\n".repeat(count))]);
    assert_eq!((crate::too_long(&lines(400)).len(), crate::too_long(&lines(401)).len()), (0, 1));
    let sql = files(&[("sql/jobs.sql", ""), ("sql/plan.sql", "")]);
    let rust = files(&[("src/pg/jobs/mod.rs", ""), ("src/pg/functions/plan.rs", "")]);
    assert_eq!((crate::homeless(&sql, &rust).len(), crate::homeless(&sql, &Sources::new()).len()), (0, 2));
    let allows = |more| files(&[("src/a.rs", &format!("#![allow(unsafe_code)] {more}"))]);
    assert_eq!(crate::unsafe_elsewhere(&allows("")).len(), 1);
    assert_eq!(crate::unsafe_elsewhere(&allows("#[target_feature(enable = \"avx2\")]")).len(), 0);
}

#[test]
fn documents_that_are_not_there() {
    // Written so that this file itself names none that is not there.
    let dotted = |text: &str| text.replace('!', ".");
    let there: BTreeSet<String> = ["docs/there!md", "src/near!txt"].map(dotted).into();
    let faults = |text: &str| missing(&files(&[("src/a.rs", &dotted(text))]), &there);
    assert_eq!(faults("see gone!md, section 3"), [dotted("src/a.rs:1: gone!md is not in the repository")]);
    assert_eq!(faults("(papers/gone!pdf)\n`docs/gone!svg`.").len(), 2);
    assert_eq!(faults("\"$project/docs/gone!md\" ${project}/gone!md ../../there!md").len(), 3);
    assert_eq!(
        faults("there!md docs/there!md ../docs/there!md near!txt $project/docs/there!md */there!md"),
        [""; 0]
    );
    assert_eq!(
        faults(
            "https://example.org/gone!pdf $made/gone!md ${made}/gone!md docs/$made!md target/gone!md self.gone!svg *!md"
        ),
        [""; 0]
    );
}

#[test]
fn places_that_are_not_there() {
    let is_there = |place: &str| ["src/a.rs", "src/pg/b/c.rs"].contains(&place);
    let faults = |text: &str| crate::nowhere(text, is_there).len();
    assert_eq!(faults("`src/a.rs`, `b/c.rs`, `a word`, `tokens.rs`, gone/a.rs"), 0);
    assert_eq!(faults("`src/gone.rs` and `b/gone.rs`, once more `src/gone.rs`"), 2);
}

#[test]
fn long_functions_and_ideas_defined_again() {
    let lines = |count: usize| {
        format!("impl A {{\n    fn long(&self) {{\n{}    }}\n}}\n", "        a();\n".repeat(count))
    };
    let long = |count| crate::lengths::long_functions(&files(&[("src/a.rs", &lines(count))])).len();
    assert_eq!((long(78), long(79)), (0, 1));
    let declared = format!("trait A {{\n    fn none(&self);\n{}}}\n", "    fn one(&self) {}\n".repeat(99));
    assert!(crate::lengths::long_functions(&files(&[("src/a.rs", &declared)])).is_empty());

    let mut sources = crate::src();
    let text = "match self { Self::Number(number) => hash::mix(number) }";
    sources.insert("src/joins/again.rs".to_owned(), text.to_owned());
    let found = crate::lengths::defined_elsewhere(&sources);
    assert!(found.len() == 1 && found[0].starts_with("the hash of an element"), "{found:?}");
}

#[test]
fn wide_comments_and_odd_turns() {
    let wide = |line: &str| crate::lengths::wide_comments(&files(&[("src/a.rs", line)])).len();
    let words = "a ".repeat(60);
    assert_eq!((wide(&format!("    // {words}\n")), wide(&format!("let a = \"{words}\";\n"))), (1, 0));
    assert_eq!(wide(&format!("//! ```\n//! {words}\n//! ```\n")), 0);

    let odd = |path: &str, text: &str| crate::lengths::odd_turns(&files(&[(path, text)]));
    assert_eq!(odd("README.md", "It is made anew.\n"), ["README.md:1: \"anew\""]);
    assert_eq!(odd("src/a.rs", "let hint = \"Write it anew\"; // fine\n"), [""; 0]);
    assert_eq!(odd("src/a.rs", "/// Reads it anew.\n"), ["src/a.rs:1: \"anew\""]);
    assert_eq!(odd("README.md", "```\nanother session is at it\n```\n| stands in `b` |\n"), [""; 0]);
}

#[test]
fn nine_arguments_of_an_internal_function() {
    let columns = |count: usize| vec!["c pg_catalog.numeric(3, 1) DEFAULT f(1, 2)"; count].join(", ");
    let declared = |count: usize, last: &str| {
        format!("CREATE FUNCTION f({}, {last}) RETURNS pg_catalog.int4 AS …", columns(count))
    };
    let internal = "internal neardup_internal DEFAULT NULL";
    let found = |text: &str| long_argument_lists(&files(&[("sql/f.sql", text)]));
    assert_eq!(found(&declared(8, internal)).len(), 0);
    assert_eq!(found(&declared(12, "d pg_catalog.int4")).len(), 0);
    assert_eq!(found(&declared(9, internal)), ["sql/f.sql: f has 9 arguments, at most 8 are allowed"]);
}

/// A page with one table and this prose: its faults with a list of sources.
fn figure_faults(prose: &str, sources: &[(&str, &str)]) -> Vec<String> {
    let page = format!(
        "{prose}\n<!-- joins -->\nMade at commit 0123 on 2026-01-01.\n\n| pairs | recall |\n|---|---|\n| 3430 | 0.845 |\n| 6085 | 0.5 / 0.25 |\n<!-- /joins -->\n"
    );
    let (tables, prose) = crate::figures::parts(&page);
    crate::figures::faults("page", &prose, &crate::figures::pool(&tables), sources)
}

#[test]
fn figures_of_the_prose() {
    let fine = [
        "It finds 0.84 or 0.85 of 3,430, which is 84.5 %, and 0.25.",
        "| the paper says | we find |\n| --- | --- |\n| 0.123 | 0.5 |",
        "See [that](../9) of en_9_a, `k = 77` and 2-shingles4.",
    ];
    for prose in &fine[..2] {
        assert_eq!(figure_faults(prose, &[]), Vec::<String>::new(), "{prose}");
    }
    assert_eq!(figure_faults(fine[2], &[("2", "a name")]), Vec::<String>::new());
    for stale in
        ["It finds 0.86.", "It finds 3,431.", "It finds 0.8450.", "Commit 0123.", "It finds 85 of 9."]
    {
        assert!(!figure_faults(stale, &[]).is_empty(), "{stale}");
    }
    let ratio = "It has 0.56 of them.";
    assert_eq!(figure_faults(ratio, &[("0.56", "=3430/6085")]), Vec::<String>::new());
    assert!(figure_faults(ratio, &[("0.56", "=3430/6086")])[0].contains("6086 stands in no table"));
    assert!(figure_faults(ratio, &[("0.56", "=6085/3430")])[0].contains("which is 1.77"));
    assert!(figure_faults(ratio, &[("0.56", " ")])[0].contains("without a source"));
    assert!(figure_faults("No figure.", &[("0.56", "paper")])[0].contains("the page has not"));
}

#[test]
fn requests_that_can_fail_are_told() {
    let of = |text: &str| untold_requests(&files(&[("src/a.rs", text)])).len();
    assert_eq!(of("memory::attempt(DOING, || map.try_reserve(1))?;"), 0);
    assert_eq!(of("map.try_reserve(1).map_err(refused)?;"), 1);
}

#[test]
fn functions_that_read_tables_have_an_allowance() {
    let sql =
        files(&[("sql/a.sql", "CREATE FUNCTION f() AS 'MODULE_PATHNAME', 'neardup_f' LANGUAGE c STABLE;")]);
    let of = |within: &str| {
        let text = format!("sql_functions! {{\n    /// `f()`\n    neardup_f{within}: f;\n}}");
        wrong_allowances(&sql, &files(&[("src/pg/a.rs", &text)])).len()
    };
    assert_eq!((of(""), of(", within ItsCalls"), of(", within Arguments")), (0, 0, 1));
}

#[test]
fn names_of_two_things_are_found() {
    let a = "pub struct Part; impl Part { fn of(_: (u8, u8)) {} } #[cfg(test)] mod tests { struct Part; fn of() {} }";
    let b = "enum Part {} type Whole = Part; fn given(_: &(u8, u8), _: ()) {}";
    let names = Names::read(crate::crates(&files(&[A_AND_B, ("src/a.rs", a), ("src/b.rs", b)])));
    assert_eq!(names.declared_again(), ["Part: {\"src/a.rs\", \"src/b.rs\"}"]);
    assert_eq!((&names.of, &names.tuples), (&vec!["src/a.rs: of".into()], &vec!["src/a.rs: of".into()]));
    assert_eq!(ratchet("x", &names.of, 1).len(), 0);
    assert_eq!([0, 2].map(|most| ratchet("x", &names.of, most).len()), [1, 1]);
}
