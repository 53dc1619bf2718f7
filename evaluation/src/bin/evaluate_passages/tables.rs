//! What settings locate of planted passages, in characters.

use std::path::Path;

use neardup_core::features::spotsigs::Antecedents;
use neardup_core::passages::Parameters;
use neardup_core::passages::edited::EditedWords;

use crate::bootstrap::{self, Part};
use crate::planted::{Planted, RUN};
use crate::plot::table;
use crate::score::Score;
use crate::searching::{few_texts, imatch, kinds_of_features, passages, shingles, spotsigs};

fn head(first: &str, planted: &[Planted], columns: &str) {
    let names =
        |planted: &Planted| columns.replace('_', if planted.name.contains("zh") { "zh" } else { "en" });
    let all: Vec<String> = planted.iter().map(names).collect();
    println!("| {first} | {} |", all.join(" | "));
    let cells = first.matches('|').count() + all.iter().map(|cells| cells.split('|').count()).sum::<usize>();
    println!("|---|{}", "---:|".repeat(cells));
}

const BOTH: &str = "_: precision | recall | F1 | extended: precision | recall | F1";

fn row(name: &str, planted: &[Planted], cells: impl Fn(&Planted) -> String) {
    let cells: Vec<String> = planted.iter().map(cells).collect();
    println!("| {name} | {} |", cells.join(" | "));
}

/// Whole sentences and extended.
fn both(planted: &Planted, parameters: &Parameters, kinds: &[&str]) -> String {
    let whole = planted.score(&Parameters { extend: None, ..parameters.clone() }, kinds);
    let extended = planted.score(&Parameters { extend: Some(Parameters::GAP), ..parameters.clone() }, kinds);
    format!("{} | {}", whole.cells(), extended.cells())
}

/// Copies that were not changed, in any order and place.
const UNCHANGED: [&str; 3] = ["verbatim", "reorder", "split"];

/// Passages of words of which a share was edited.
fn of_words(share: f64, min_length: u32) -> Parameters {
    Parameters { edits: Some(EditedWords { share, min_length }), ..Parameters::default() }
}

/// Which setting is for what.
pub fn settings(planted: &[Planted]) {
    println!("### Settings: passages of all kinds\n");
    let columns = format!(
        "_: precision | recall | F1 | sentences found | runs of {RUN} or more: precision | recall | F1"
    );
    head("setting", planted, &columns);
    let mut intervals: Vec<Vec<String>> = Vec::new();
    let mut firsts: Vec<Vec<Part>> = Vec::new();
    let of = |features, threshold, min_sentences| Parameters {
        features,
        threshold,
        min_sentences,
        ..Parameters::default()
    };
    for (name, parameters) in [
        ("the defaults: I-Match, 3 sentences", of(imatch(), 0.9, 3)),
        ("I-Match, 1 sentence", of(imatch(), 0.9, 1)),
        ("4-shingles at 0.9, 1 sentence", of(shingles(4), 0.9, 1)),
        ("2-shingles at 0.5, 3 sentences", of(shingles(2), 0.5, 3)),
        ("2-shingles at 0.5, 2 sentences", of(shingles(2), 0.5, 2)),
        ("2-shingles at 0.5, 1 sentence", of(shingles(2), 0.5, 1)),
        ("edits 0.1, 30 words", of_words(0.1, 30)),
        ("edits 0.2, 20 words", of_words(0.2, 20)),
        ("edits 0.2, 15 words", of_words(0.2, 15)),
    ] {
        row(name, planted, |planted| {
            let found = passages(&planted.texts, &parameters);
            let runs = planted.of_runs(false);
            let [all, of_runs] =
                [planted, &runs].map(|planted| planted.judge(&found, &planted.kinds()).cells());
            format!("{all} | {:.3} | {of_runs}", planted.sentences_found(&found))
        });
        let mut cells = vec![name.to_owned()];
        for (n, planted) in planted.iter().enumerate() {
            let found = passages(&planted.texts, &parameters);
            let each = planted.judge_each(&found, &planted.kinds());
            let of_pairs: Vec<Part> = each.into_iter().map(Score::part).collect();
            cells.extend(bootstrap::cells(&of_pairs, firsts.get(n).map(Vec::as_slice)));
            if firsts.len() == n {
                firsts.push(of_pairs);
            }
        }
        intervals.push(cells);
    }
    println!();
    println!("### Intervals of F1, passages of all kinds\n");
    println!("Drawn: pairs of documents with planted sentences.\n");
    let heads = ["en: F1", "zh: F1"].map(bootstrap::heads).concat();
    table(&[vec!["setting".to_owned()], heads].concat(), &intervals);
}

/// Copies of which words were replaced: by words of which some are edited, and by sentences.
pub fn edited(planted: &[Planted]) {
    println!("### Copies of which a share of the words was replaced, with 95 % intervals\n");
    let heads = ["en", "zh"]
        .map(|name| [format!("{name}: precision"), "95 %".into(), "recall".into(), "95 %".into()]);
    let again: Vec<Planted> = planted.iter().map(Planted::edited_again).collect();
    let mut cells: Vec<Vec<String>> = Vec::new();
    for (name, parameters) in [
        ("edits 0.1, 30 words", of_words(0.1, 30)),
        ("edits 0.2, 20 words", of_words(0.2, 20)),
        ("the defaults: I-Match, 3 sentences", Parameters::default()),
        (
            "2-shingles at 0.5, 1 sentence",
            Parameters { features: shingles(2), threshold: 0.5, min_sentences: 1, ..Parameters::default() },
        ),
    ] {
        for (share, planted) in [("0.05", planted), ("0.1", &again)] {
            let mut row = vec![name.to_owned(), share.to_owned()];
            for planted in planted {
                let each = planted.judge_each(&passages(&planted.texts, &parameters), &["edit5"]);
                for whole in [|score: &Score| score.found, |score: &Score| score.truth] {
                    let parts: Vec<Part> =
                        each.iter().map(|score| [score.both as f64, whole(score) as f64]).collect();
                    row.extend(bootstrap::cells(&parts, None).into_iter().take(2));
                }
            }
            cells.push(row);
        }
    }
    table(&[vec!["setting".to_owned(), "words replaced".to_owned()], heads.concat()].concat(), &cells);
}

/// The least width of a passage: what it keeps of planted passages, and how many it leaves of the
/// others.
pub fn widths(data: &Path, planted: &[Planted]) {
    println!("### The least width of a passage (2-shingles at 0.5, 1 sentence or more)\n");
    let corpora = ["zh_news_a", "html_zh_a", "en_reuters_a"];
    let texts = corpora.map(|name| few_texts(data, name));
    let titles: Vec<String> = corpora
        .iter()
        .zip(&texts)
        .map(|(name, texts)| format!("{name}, {} documents: passages", texts.len()))
        .collect();
    let first = format!("columns | {}", titles.join(" | "));
    head(&first, planted, "_: precision | recall | F1");
    for min_width in [0, 10, 16, 20, 24, 32, 40, 60] {
        let parameters = Parameters {
            features: shingles(2),
            threshold: 0.5,
            min_sentences: 1,
            min_width,
            ..Parameters::default()
        };
        let counts: Vec<String> =
            texts.iter().map(|texts| passages(texts, &parameters).len().to_string()).collect();
        row(&format!("{min_width} | {}", counts.join(" | ")), planted, |planted| {
            planted.score(&parameters, &planted.kinds()).cells()
        });
    }
    println!();
}

/// Zhang et al. (SIGIR 2010), table 2: signatures, where passages are runs of three whole sentences
/// or more.
pub fn signatures(planted: &[Planted]) {
    let runs: Vec<Planted> = planted.iter().map(|planted| planted.of_runs(true)).collect();
    for least in [RUN as u32, 1] {
        println!(
            "### Runs of {RUN} or more whole sentences, found as sequences of {least} or more: by signatures (Table 2)\n"
        );
        let columns: Vec<String> = runs
            .iter()
            .map(|runs| {
                let name = if runs.name.contains("zh") { "zh" } else { "en" };
                let counts = [runs.count(&["verbatim"]), runs.count(&runs.kinds())];
                format!(
                    "{name}, {} verbatim: precision | recall | F1 | {} of all kinds: precision | recall | F1",
                    counts[0], counts[1]
                )
            })
            .collect();
        println!("| signatures | {} |\n|---|{}", columns.join(" | "), "---:|".repeat(6 * runs.len()));
        for (name, features) in kinds_of_features() {
            let parameters =
                Parameters { features, min_sentences: least, extend: None, ..Parameters::default() };
            row(name, &runs, |runs| {
                let found = passages(&runs.texts, &parameters);
                [vec!["verbatim"], runs.kinds()].map(|kinds| runs.judge(&found, &kinds).cells()).join(" | ")
            });
        }
        println!();
    }
}

/// The least number of sentences.
pub fn lengths(planted: &[Planted]) {
    println!("### The least number of sentences (verbatim, reordered and split copies)\n");
    head("signatures, sentences", planted, BOTH);
    for (name, features) in [("4-shingles", shingles(4)), ("I-Match", imatch())] {
        for min_sentences in [1, 2, 3, 4] {
            let parameters =
                Parameters { features: features.clone(), min_sentences, ..Parameters::default() };
            row(&format!("{name}, {min_sentences}"), planted, |planted| {
                both(planted, &parameters, &UNCHANGED)
            });
        }
    }
    println!();
}

/// Changed copies, and the threshold of sentences.
pub fn edits(planted: &[Planted]) {
    for planted in planted {
        println!(
            "### What was done to the copies, and the threshold: {} (1 sentence or more)\n",
            planted.name
        );
        println!(
            "| signatures, threshold | kind | precision | recall | F1 | extended: precision | recall | F1 |"
        );
        println!("|---|---|---:|---:|---:|---:|---:|---:|");
        let spots = spotsigs(Antecedents::Common);
        for (name, features) in [
            ("2-shingles", shingles(2)),
            ("4-shingles", shingles(4)),
            ("I-Match", imatch()),
            ("SpotSigs", spots),
        ] {
            for threshold in [0.9, 0.5] {
                if name == "I-Match" && threshold == 0.5 {
                    // Equal or not.
                    continue;
                }
                let parameters = Parameters {
                    features: features.clone(),
                    threshold,
                    min_sentences: 1,
                    ..Parameters::default()
                };
                let whole = passages(&planted.texts, &Parameters { extend: None, ..parameters.clone() });
                let extended = passages(&planted.texts, &parameters);
                for kind in planted.kinds() {
                    let [whole, extended] =
                        [&whole, &extended].map(|found| planted.judge(found, &[kind]).cells());
                    println!("| {name}, {threshold} | {kind} | {whole} | {extended} |");
                }
            }
        }
        println!();
    }
}

/// Copies at another line width.
pub fn wrapping(planted: &[Planted]) {
    println!("### Copies wrapped at another width (verbatim, I-Match, 1 sentence or more)\n");
    head("columns", planted, BOTH);
    let parameters = Parameters { min_sentences: 1, ..Parameters::default() };
    row("as they were", planted, |planted| both(planted, &parameters, &["verbatim"]));
    for width in [40, 50, 76, 100] {
        row(&width.to_string(), planted, |planted| both(&planted.wrapped(width), &parameters, &["verbatim"]));
    }
    println!();
}
