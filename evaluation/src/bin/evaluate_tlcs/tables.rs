//! Tables of the contenders: at the published thresholds and at those that find equally many, with
//! intervals; times; what wrong pairs have in common.

use crate::bootstrap::{self, Part, connected, numbered, parts};
use crate::candidates::Pair;
use crate::contenders::{Contender, Similar, for_each};
use crate::inputs::{Input, table_of};
use crate::measure::{number, share};
use crate::sites::SHARES;

/// Shares of the labelled pairs that are to be found.
const RECALLS: [f64; 3] = [0.7, 0.8, 0.9];
/// The one of them whose precisions have intervals.
const DECIDING: f64 = 0.8;

/// All tables: of labelled corpora and of pages of sites, of which pairs of one site and of two are
/// judged alone, too.
pub fn tables(inputs: &[Input], pages: &Input) {
    let (mut rows, mut intervals, mut times) = (Vec::new(), Vec::new(), Vec::new());
    let mut all = |input: &Input, name: &str, more: &mut dyn FnMut(&Contender)| {
        let groups = Groups::of(input);
        let mut first: Option<Vec<Part>> = None;
        for_each(input, &mut |contender| {
            rows.push(row(input, &contender, name, |_| true));
            let precision = groups.precision_at(input, &contender.all, DECIDING);
            if contender.name == "TLCS of all" {
                first.clone_from(&precision);
            }
            let mut cells = vec![name.to_owned(), contender.name.to_owned()];
            match precision {
                Some(precision) => cells.extend(bootstrap::cells(&precision, first.as_deref())),
                None => cells.extend(["-", "-", "-"].map(str::to_owned)),
            }
            intervals.push(cells);
            times.push((name.to_owned(), contender.name, contender.seconds));
            more(&contender);
        });
    };
    for input in inputs.iter().filter(|input| input.sites.is_none()) {
        let some = input.of_memory();
        let input = some.as_ref().unwrap_or(input);
        all(input, &input.corpus.name, &mut |_| {});
    }
    let mut of_pages = OfPages::default();
    let name = format!("{} pages of sites", pages.corpus.texts.len());
    all(pages, &name, &mut |contender| of_pages.add(pages, contender));

    println!("### All pairs: at the published thresholds, and at equal recall (Table 1)\n");
    table_of(&head("corpus"), &rows);
    println!("### Intervals: precision at a recall of {DECIDING}\n");
    println!(
        "Drawn: documents with those that labels connect to them, and sites; the first is TLCS of all.\n"
    );
    let heads = bootstrap::heads("precision");
    let columns: Vec<&str> =
        ["corpus", "method"].into_iter().chain(heads.iter().map(String::as_str)).collect();
    table_of(&columns, &intervals);
    of_times(&times);
    of_pages.print();
}

fn head(first: &str) -> [&str; 10] {
    [first, "method", "at", "pairs", "precision", "recall", "precision at recall 0.7", "0.8", "0.9", "s"]
}

/// The table of times: a corpus for each row.
fn of_times(times: &[(String, &str, Option<f64>)]) {
    const METHODS: [&str; 4] = ["TLCS of candidates", "simhash", "simhash, 384 bits", "cosine of words"];
    /// Of less the clock of the processor says nothing.
    const MEASURABLE: f64 = 0.01;
    println!(
        "### Processor seconds at the published thresholds, one thread (section 4: 118, 94 and 68 hours)\n"
    );
    let rows: Vec<Vec<String>> = times
        .chunk_by(|a, b| a.0 == b.0)
        .map(|of_one| {
            let seconds = |name| of_one.iter().find(|time| time.1 == name).and_then(|time| time.2);
            let tlcs = seconds(METHODS[0]).unwrap_or(f64::NAN);
            let mut cells = vec![of_one[0].0.clone()];
            cells.extend(METHODS.map(|name| number(seconds(name).unwrap_or(f64::NAN))));
            let ratio = |n: usize| match seconds(METHODS[n]) {
                Some(other) if tlcs >= MEASURABLE && other > 0.0 => format!("{:.1}", tlcs / other),
                _ => "-".to_owned(),
            };
            cells.extend([1, 3].map(ratio));
            cells
        })
        .collect();
    let head: Vec<&str> =
        ["corpus"].into_iter().chain(METHODS).chain(["TLCS / simhash", "TLCS / cosine"]).collect();
    table_of(&head, &rows);
}

/// What is drawn for intervals.
struct Groups {
    of: Vec<u32>,
    count: usize,
}

impl Groups {
    fn of(input: &Input) -> Self {
        let (of, count) = match &input.sites {
            Some(places) => numbered(&places.iter().map(|place| place.template).collect::<Vec<_>>()),
            None => connected(input.corpus.texts.len(), input.corpus.labelled.iter().copied()),
        };
        Self { of, count }
    }

    /// What each group adds to the precision at the greatest threshold with a recall; none where no
    /// threshold has it.
    fn precision_at(&self, input: &Input, all: &Similar, recall: f64) -> Option<Vec<Part>> {
        let labelled = input.corpus.labelled.len() as f64;
        let mut right = 0.0;
        let mut end = 0;
        for equal in all.chunk_by(|a, b| a.1 == b.1) {
            end += equal.len();
            right += equal.iter().filter(|pair| input.is_right(pair.0) == Some(true)).count() as f64;
            if right >= recall * labelled {
                let judged = all[..end]
                    .iter()
                    .filter_map(|&(pair, _)| Some((self.of[pair.0 as usize], input.is_right(pair)?)));
                return Some(parts(self.count, judged));
            }
        }
        None
    }
}

/// Tables of pages of sites alone.
#[derive(Default)]
struct OfPages {
    by_kind: [Vec<Vec<String>>; 2],
    by_share: Vec<Vec<String>>,
    causes: Vec<Vec<String>>,
}

impl OfPages {
    fn add(&mut self, pages: &Input, contender: &Contender) {
        let places = pages.sites.as_ref().expect("pages of sites");
        let place = |page: u32| &places[page as usize];
        let is_one = |(a, b): Pair| place(a).site == place(b).site;
        for (rows, (kind, one)) in self.by_kind.iter_mut().zip([("one site", true), ("two sites", false)]) {
            rows.push(row(pages, contender, kind, |pair| is_one(pair) == one));
        }
        let of_share = SHARES.iter().map(|&share| {
            let kind = |pair: Pair| is_one(pair) && place(pair.0).share == share;
            let cells = row(pages, contender, "", kind);
            format!("{} / {}, {}", cells[4], cells[5], cells[7])
        });
        self.by_share.push(std::iter::once(contender.name.to_owned()).chain(of_share).collect());

        let wrong: Vec<Pair> =
            contender.published.iter().copied().filter(|&pair| pages.is_right(pair) == Some(false)).collect();
        let of = |is: &dyn Fn(Pair) -> bool| {
            number(share(wrong.iter().filter(|&&pair| is(pair)).count() as f64, wrong.len() as f64))
        };
        let same_template = |(a, b): Pair| place(a).template == place(b).template;
        let mut cells = vec![contender.name.to_owned(), wrong.len().to_string()];
        cells.push(of(&is_one));
        cells.push(of(&|pair| same_template(pair) && !is_one(pair)));
        cells.push(of(&|pair| !same_template(pair)));
        cells.push(of(&|pair| same_template(pair) && place(pair.0).share >= 70));
        self.causes.push(cells);
    }

    fn print(&self) {
        println!("### The same of pages of sites: pairs of one site and of two\n");
        table_of(&head("pairs of"), &self.by_kind.concat());
        println!(
            "### Pairs of one site by the share of its template: precision / recall at the published threshold, precision at recall 0.8\n"
        );
        let shares: Vec<String> = SHARES.iter().map(|share| format!("{share} %")).collect();
        let columns: Vec<&str> = std::iter::once("method").chain(shares.iter().map(String::as_str)).collect();
        table_of(&columns, &self.by_share);
        println!(
            "### Wrong pairs of pages of sites at the published thresholds, by what the two pages share\n"
        );
        let columns = [
            "method",
            "wrong pairs",
            "the template of one site",
            "the template of a site and its mirror",
            "no template",
            "a template of 70 % or more",
        ];
        table_of(&columns, &self.causes);
    }
}

/// A row of the table of a contender; only pairs of some kind count.
fn row(input: &Input, contender: &Contender, name: &str, kind: impl Fn(Pair) -> bool) -> Vec<String> {
    let labelled = input.corpus.labelled.iter().filter(|&&pair| kind(pair)).count();
    let judged: Vec<bool> = contender
        .published
        .iter()
        .filter(|&&pair| kind(pair))
        .filter_map(|&pair| input.is_right(pair))
        .collect();
    let right = judged.iter().filter(|&&right| right).count();
    let mut cells = vec![name.to_owned(), contender.name.to_owned(), contender.at.to_owned()];
    cells.extend([
        judged.len().to_string(),
        number(share(right as f64, judged.len() as f64)),
        number(share(right as f64, labelled as f64)),
    ]);
    let of_kind: Vec<(Option<bool>, f64)> = contender
        .all
        .iter()
        .filter(|(pair, _)| kind(*pair))
        .map(|&(pair, similarity)| (input.is_right(pair), similarity))
        .collect();
    cells.extend(RECALLS.map(|recall| number(precision_at(recall * labelled as f64, &of_kind))));
    cells.push(contender.seconds.map_or("-".to_owned(), |seconds| format!("{seconds:.1}")));
    cells
}

/// The precision at the greatest threshold that finds so many right pairs; the most similar pairs
/// come first.
fn precision_at(least: f64, pairs: &[(Option<bool>, f64)]) -> f64 {
    let (mut right, mut known) = (0.0, 0.0);
    for equal in pairs.chunk_by(|a, b| a.1 == b.1) {
        right += equal.iter().filter(|pair| pair.0 == Some(true)).count() as f64;
        known += equal.iter().filter(|pair| pair.0.is_some()).count() as f64;
        if right >= least {
            return share(right, known);
        }
    }
    f64::NAN
}
