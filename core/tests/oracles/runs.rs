//! Repeated runs against their definition: a dictionary of all windows.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use neardup_core::executor::Stop;
use neardup_core::features::runs::places::token_places;
use neardup_core::methods::repeats;
use neardup_core::repeats::cut::{CutText, Cutting};
use neardup_core::repeats::located::RepeatedRun;
use neardup_core::repeats::units::{Cut, PlacedUnit, read_units};
use neardup_core::repeats::{RunParameters, Unit};
use neardup_core::{Tokenizer, html_text, words};
use proptest::prelude::*;

use crate::common::run_cases::{Case, cases, parameters};
use crate::common::runs::joined;

fn tokens(text: &str, tokenizer: Tokenizer) -> Vec<String> {
    match tokenizer {
        Tokenizer::Words => {
            // A text without a word is one token, of its signs.
            let signs = text.split_whitespace().collect::<String>();
            let words = words(text);
            if words.is_empty() && !signs.is_empty() { vec![signs] } else { words }
        }
        Tokenizer::Whitespace => text.split_whitespace().map(str::to_owned).collect(),
        _ => {
            let mut places = Vec::new();
            token_places(text, tokenizer, &Stop::default(), &mut places).unwrap();
            places
                .iter()
                .map(|place| place.slice(text).to_lowercase())
                .map(|t| if t.trim().is_empty() { " ".into() } else { t })
                .collect()
        }
    }
}

fn units(text: &str, cut: Cut) -> Vec<PlacedUnit> {
    let mut units = Vec::new();
    read_units(text, cut, &Stop::default(), &mut units).unwrap();
    units
}

/// The contents of a text, each with its place: windows or units.
fn contents(text: &str, parameters: &RunParameters) -> Vec<(usize, Vec<String>)> {
    let cut = match parameters.unit {
        Unit::Window(least) => {
            let all = tokens(text, parameters.tokenizer);
            return all.windows(least).map(<[String]>::to_vec).enumerate().collect();
        }
        unit => Cut::for_unit(unit),
    };
    let units = units(text, cut);
    let of = units.iter().map(|unit| tokens(unit.slice(text), parameters.tokenizer)).enumerate();
    of.filter(|(_, tokens)| tokens.len() >= parameters.min_tokens).collect()
}

/// A marked place: its source, and the number of documents that have its content.
type Marks = BTreeMap<(usize, usize), (usize, usize, usize)>;

/// Marks by the definition.
fn marks(case: &Case, parameters: &RunParameters) -> Marks {
    let mut by_content: HashMap<_, Vec<(usize, usize)>> = HashMap::new();
    for row in case.order() {
        for (place, content) in case.texts[row].iter().flat_map(|text| contents(text, parameters)) {
            by_content.entry((case.group(row), content)).or_default().push((row, place));
        }
    }
    let mut marks = Marks::new();
    for ((group, _), places) in by_content {
        let rows: BTreeSet<usize> = places.iter().map(|&(row, _)| row).collect();
        let size = (0..case.texts.len())
            .filter(|&row| case.texts[row].is_some() && case.group(row) == group)
            .count();
        let mut repeated = rows.len() >= parameters.min_documents as usize
            && parameters.min_share.is_none_or(|share| rows.len() as f64 + 1e-9 >= share * size as f64);
        repeated |= parameters.within_documents && places.len() > rows.len();
        if repeated {
            let kept = usize::from(parameters.keeps_first);
            marks.extend(
                places.iter().skip(kept).map(|&place| (place, (places[0].0, places[0].1, rows.len()))),
            );
        }
    }
    marks
}

/// The places of the tokens or units of a text, and the number of tokens of each.
fn places(text: &str, parameters: &RunParameters) -> Vec<(neardup_core::Span, usize)> {
    if let Unit::Window(_) = parameters.unit {
        let mut places = Vec::new();
        token_places(text, parameters.tokenizer, &Stop::default(), &mut places).unwrap();
        return places.into_iter().map(|place| (place, 1)).collect();
    }
    let counted =
        |unit: PlacedUnit| (unit.span.clone(), tokens(unit.slice(text), parameters.tokenizer).len());
    units(text, Cut::for_unit(parameters.unit)).into_iter().map(counted).collect()
}

fn by_definition(case: &Case, parameters: &RunParameters) -> Vec<RepeatedRun> {
    let more = if let Unit::Window(least) = parameters.unit { least - 1 } else { 0 };
    let span = |row: usize, first: usize, last: usize| {
        let text = case.texts[row].as_deref().unwrap_or_default();
        let places = places(text, parameters);
        let count: usize = places[first..=last + more].iter().map(|(_, count)| count).sum();
        (places[first].0.chars.start..places[last + more].0.chars.end, count)
    };
    let run = |&[row, first, last, of_row, of_first, documents]: &[usize; 6]| {
        let (chars, count) = span(row, first, last);
        RepeatedRun {
            row: row as u32,
            span: chars,
            tokens: count as u32,
            of_row: of_row as u32,
            of_span: span(of_row, of_first, of_first + last - first).0,
            documents: documents as u32,
        }
    };
    joined(marks(case, parameters)).iter().map(run).collect()
}

fn cut_by_definition(case: &Case, parameters: &RunParameters, cutting: Cutting) -> Vec<CutText> {
    let more = if let Unit::Window(least) = parameters.unit { least - 1 } else { 0 };
    let runs = joined(marks(case, parameters));
    let cut = |row: usize| {
        let text = case.texts[row].as_deref()?;
        let places = places(text, parameters);
        let mut lost: BTreeSet<usize> = BTreeSet::new();
        let own = runs.iter().filter(|run| run[0] == row);
        let cut: BTreeSet<usize> = own.clone().flat_map(|run| run[1]..=run[2] + more).collect();
        if let Some(snap) = cutting.snap {
            for unit in units(text, snap).into_iter().map(|unit| unit.span) {
                let inside = |n: &usize| {
                    let place = &places[*n].0.chars;
                    place.start < unit.chars.end && unit.chars.start < place.end
                };
                let tokens: Vec<usize> = (0..places.len()).filter(inside).collect();
                if !tokens.is_empty() && tokens.iter().all(|token| cut.contains(token)) {
                    lost.extend(unit.chars);
                }
            }
        } else {
            for run in own {
                lost.extend(places[run[1]].0.chars.start..places[run[2] + more].0.chars.end);
            }
        }
        let (mut all, mut gone) = (0, 0);
        for &(ref place, count) in &places {
            all += count;
            gone += if place.chars.clone().all(|at| lost.contains(&at)) { count } else { 0 };
        }
        let is_short = all - gone < cutting.min_left as usize;
        let body: String =
            text.chars().enumerate().filter(|(at, _)| !lost.contains(at)).map(|(_, c)| c).collect();
        (is_short || !lost.is_empty()).then(|| CutText {
            row: row as u32,
            body: (!is_short).then_some(body),
            characters: lost.len() as u32,
            tokens: gone as u32,
        })
    };
    (0..case.texts.len()).filter_map(cut).collect()
}

fn check(case: &Case, parameters: &RunParameters, cutting: Cutting) {
    // Of pages, the texts are compared.
    let (mut plain, mut of_plain) = (case.clone(), *parameters);
    if parameters.tokenizer == Tokenizer::Html {
        plain.texts.iter_mut().flatten().for_each(|page| *page = html_text(page, None));
        of_plain.tokenizer = Tokenizer::Words;
    }
    let runs = by_definition(&plain, &of_plain);
    let cut = cut_by_definition(&plain, &of_plain, cutting);
    for (threads, budget) in [(1, 1 << 26), (3, 0)] {
        assert_eq!(case.runs(parameters, threads, budget), runs, "{case:?} {parameters:?}");
        assert_eq!(
            case.cut(parameters, cutting, threads, budget),
            cut,
            "{case:?} {parameters:?} {cutting:?}"
        );
    }
}

proptest! {
    #[test]
    fn runs_and_cuts_are_those_of_the_definition(
        case in cases(),
        parameters in parameters(),
        snap in prop::option::of(prop_oneof![Just(Cut::Words), Just(Cut::Lines), Just(Cut::Sentences), Just(Cut::Paragraphs)]),
        min_left in prop_oneof![Just(0), 1..6u32],
    ) {
        let snap = snap.filter(|_| matches!(parameters.unit, Unit::Window(_)));
        check(&case, &parameters, Cutting { snap, min_left });
    }
}

fn windows(least: usize) -> RunParameters {
    RunParameters { unit: Unit::Window(least), ..RunParameters::default() }
}

#[test]
fn corpora_at_the_edges() {
    let equal = "one two three four five six";
    for least in [1, 2, 6, 7, 50] {
        for texts in [&[equal; 3][..], &[""; 3], &["six", "x five six", "one two"], &[]] {
            check(&Case::of(texts), &windows(least), Cutting::default());
        }
    }
}

/// Runs of just as many tokens as a window, and of one less, at the ends of texts.
#[test]
fn windows_at_the_ends_of_texts() {
    let texts = ["a b c d e", "a b c x", "y c d e", "d e", "z b c d z", "c d e a b c", "a b c d e"];
    for least in 1..8 {
        for tokenizer in [Tokenizer::Words, Tokenizer::Chars] {
            check(&Case::of(&texts), &RunParameters { tokenizer, ..windows(least) }, Cutting::default());
        }
    }
    for least in [1000, RunParameters::LONGEST] {
        check(&Case::of(&texts), &windows(least), Cutting::default());
    }
}

/// One menu on pages, between words of their own or of some others: the places of its anchors have
/// windows that differ, more of them than are compared in memory, in several rounds.
#[test]
fn a_menu_on_many_pages() {
    let menu = "home news about us and more contact legal privacy help search login";
    let mut state = 7;
    let mut next = |below: u64| {
        state = neardup_core::hash::mix(state);
        state % below
    };
    let mut words = |few: bool| {
        let of = if few { 2 } else { 10_000 };
        (0..next(9)).map(|_| format!("w{} ", next(of))).collect::<String>()
    };
    let page = |n: u32| {
        let cut =
            menu.split(' ').take(if n.is_multiple_of(5) { 9 } else { 12 }).collect::<Vec<_>>().join(" ");
        format!(
            "{}{cut} {}{}",
            words(!n.is_multiple_of(3)),
            words(!n.is_multiple_of(4)),
            if n.is_multiple_of(7) { &cut } else { "" }
        )
    };
    let case = Case::of(&(0..300).map(page).collect::<Vec<_>>());
    for least in [2, 4, 7, 12] {
        check(&case, &windows(least), Cutting::default());
        let whole = RunParameters { min_documents: 40, keeps_first: false, ..windows(least) };
        check(&case, &RunParameters { within_documents: false, ..whole }, Cutting::default());
    }
}

/// The files of a call with little memory are merged from many parts, in several rounds.
#[test]
fn one_token_a_million_times() {
    let case = Case::of(&["a ".repeat(1_000_000)]);
    let runs = case.runs(&windows(12), 2, 1 << 20);
    assert_eq!(runs.len(), 1_000_000 - 12, "each window has its source at the first place");
    let cut = case.cut(&windows(12), Cutting::default(), 2, 1 << 20);
    assert_eq!((cut[0].tokens, cut[0].body.as_deref()), (999_999, Some("a  ")));
}

#[test]
fn two_equal_long_texts() {
    // 10 MB each.
    let text: String = (0..1_300_000).map(|n| format!("w{n} ")).collect();
    let case = Case::of(&[&text, &text]);
    for (threads, budget) in [(1, 1 << 20), (2, 1 << 28)] {
        let runs = case.runs(&windows(50), threads, budget);
        assert_eq!(runs.len(), 1);
        assert_eq!((runs[0].row, runs[0].of_row, runs[0].tokens), (1, 0, 1_300_000));
        assert_eq!(runs[0].span, 0..text.len() - 1);
        let cut = case.cut(&windows(50), Cutting::default(), threads, budget);
        assert_eq!((cut.len(), cut[0].row, cut[0].body.as_deref()), (1, 1, Some(" ")));
    }
}

#[test]
fn many_equal_short_texts() {
    let case = Case::of(&vec!["one two three four"; 200_000]);
    let runs = case.runs(&windows(3), 2, 1 << 20);
    assert_eq!(runs.len(), 199_999);
    assert!(runs.iter().all(|run| (run.of_row, run.tokens, run.documents) == (0, 4, 200_000)));
    let cutting = Cutting { min_left: 1, ..Cutting::default() };
    let cut = case.cut(&windows(3), cutting, 2, 1 << 20);
    assert!(cut.len() == 199_999 && cut.iter().all(|cut| cut.body.is_none()));
}

#[test]
fn the_runs_that_most_documents_have() {
    let menu = "home news contact <about> us";
    let texts = [
        format!("{menu} one two three four five six"),
        format!("{menu} seven eight"),
        format!("x one two three four five six y {menu}"),
        "a one two three four five".to_owned(),
        "home news contact".to_owned(),
    ];
    for (threads, budget) in [(1, 1 << 26), (3, 0)] {
        let parameters = RunParameters { within_documents: false, ..windows(3) };
        let found = |most, characters| {
            Case::of(&texts).read(threads, budget, |reading| {
                repeats::most_repeated(&parameters, most, characters, reading).unwrap()
            })
        };
        let shown: Vec<_> = found(9, 100)
            .into_iter()
            .map(|run| (run.documents, run.tokens, run.row, run.beginning, run.is_cut))
            .collect();
        // Three windows of the menu are in three documents, the first of them in four.
        let expected = [
            (4, 3, 0, "home news contact".to_owned(), false),
            (3, 5, 0, "one two three four five".to_owned(), false),
        ];
        assert_eq!(shown[..2], expected);
        let cut = found(1, 9);
        assert_eq!((cut.len(), &*cut[0].beginning, cut[0].is_cut), (1, "home news", true));
    }
}
