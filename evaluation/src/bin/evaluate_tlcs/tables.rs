//! Tables of the contenders: at the published thresholds and at those that find equally many, with
//! intervals; times; what wrong pairs have in common.

use crate::bootstrap::{self, Part, parts};
use crate::candidates::Pair;
use crate::contenders::{Contender, for_each};
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
            rows.push(row(input, &contender, &groups, name, |_| true));
            let deciding = groups.precision_at(input, &contender, DECIDING);
            if contender.name == "TLCS of all" {
                first = deciding.as_ref().map(|(precision, _)| precision.clone());
            }
            let mut cells = vec![name.to_owned(), contender.name.to_owned()];
            match deciding {
                Some((precision, unjudged)) => {
                    cells.push(unjudged.to_string());
                    cells.extend(bootstrap::cells(&precision, first.as_deref()));
                }
                None => cells.extend(["-"; 4].map(str::to_owned)),
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

    rows.extend(of_paper("the paper's 430 million pages", ["0.95", "0.71", "0.82"]));
    println!("### All pairs: at the published thresholds, and at equal recall (Table 1)\n");
    table_of(&head("corpus"), &rows);
    println!("### Intervals: precision at a recall of {DECIDING}\n");
    println!(
        "Drawn: documents with those that labels connect to them, and sites; the first is TLCS of all.\n"
    );
    let heads = bootstrap::heads("precision");
    let columns: Vec<&str> =
        ["corpus", "method", "unjudged"].into_iter().chain(heads.iter().map(String::as_str)).collect();
    table_of(&columns, &intervals);
    of_times(&times);
    of_pages.print();
}

fn head(first: &str) -> [&str; 11] {
    let [published, equal] = ["precision", "precision at recall 0.7"];
    [first, "method", "at", "pairs", "unjudged", published, "95 %", "recall", equal, "0.8", "0.9"]
}

/// What the paper has of three methods, on pages that it names.
fn of_paper(pages: &str, precisions: [&str; 3]) -> Vec<Vec<String>> {
    let methods = [("TLCS of candidates", "0.28 or 0.7"), ("simhash", "-"), ("cosine of words", "-")];
    let of = |((method, at), precision): ((&str, &str), &str)| {
        let cells = [pages, method, at, "-", "-", precision, "-", "-", "-", "-", "-"];
        cells.map(str::to_owned).to_vec()
    };
    methods.into_iter().zip(precisions).map(of).collect()
}

/// The table of times: a corpus for each row.
fn of_times(times: &[(String, &str, Option<f64>)]) {
    const METHODS: [&str; 4] = ["TLCS of candidates", "simhash", "simhash, 384 bits", "cosine of words"];
    /// Of less the clock of the processor says nothing.
    const MEASURABLE: f64 = 0.01;
    println!("### Processor seconds at the published thresholds, one thread\n");
    let mut rows: Vec<Vec<String>> = times
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
    let paper = ["the paper's pages, hours", "118", "94", "-", "68", "1.3", "1.7"];
    rows.push(paper.map(str::to_owned).to_vec());
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
        let (of, count) = input.groups();
        Self { of, count }
    }

    /// What each group adds to the precision at the greatest threshold with a recall, and how many
    /// pairs there nobody judged; none where no threshold has it, or where the rule of labels alone
    /// decides.
    fn precision_at(&self, input: &Input, contender: &Contender, recall: f64) -> Option<(Vec<Part>, usize)> {
        let least = recall * input.corpus.labelled.len() as f64;
        let of_each: Vec<(Option<bool>, f64)> =
            contender.all.iter().map(|&(pair, similarity)| (input.is_right(pair), similarity)).collect();
        let end = reaching(least, &of_each)?;
        let decided = of_each[end - 1].1;
        let unjudged = of_each[..end].iter().filter(|pair| pair.0.is_none()).count();
        (!is_by_the_rule(input, contender, decided))
            .then(|| (self.parts(input, contender.all[..end].iter().map(|of| of.0)), unjudged))
    }

    /// What each group adds to the precision of some pairs.
    fn parts(&self, input: &Input, pairs: impl Iterator<Item = Pair>) -> Vec<Part> {
        let judged = pairs.filter_map(|pair| Some((self.of[pair.0 as usize], input.is_right(pair)?)));
        parts(self.count, judged)
    }
}

/// Whether all pairs from this similarity on that have no label are unjudged, which makes every
/// precision 1.
fn is_by_the_rule(input: &Input, contender: &Contender, similarity: f64) -> bool {
    input.labels.leave_out_alike() && contender.alike_from.is_some_and(|least| similarity >= least)
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
        let groups = Groups::of(pages);
        let places = pages.sites.as_ref().expect("pages of sites");
        let place = |page: u32| &places[page as usize];
        let is_one = |(a, b): Pair| place(a).site == place(b).site;
        for (rows, (kind, one)) in self.by_kind.iter_mut().zip([("one site", true), ("two sites", false)]) {
            rows.push(row(pages, contender, &groups, kind, |pair| is_one(pair) == one));
        }
        let of_share = SHARES.iter().map(|&share| {
            let kind = |pair: Pair| is_one(pair) && place(pair.0).share == share;
            let cells = row(pages, contender, &groups, "", kind);
            format!("{} / {}, {}", cells[5], cells[7], cells[9])
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
        let paper = of_paper("one site in the paper", ["0.91", "0.50", "0.63"]);
        table_of(&head("pairs of"), &[self.by_kind.concat(), paper].concat());
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
fn row(
    input: &Input,
    contender: &Contender,
    groups: &Groups,
    name: &str,
    kind: impl Fn(Pair) -> bool,
) -> Vec<String> {
    let labelled = input.corpus.labelled.iter().filter(|&&pair| kind(pair)).count();
    let published: Vec<Pair> = contender.published.iter().copied().filter(|&pair| kind(pair)).collect();
    let judged: Vec<bool> = published.iter().filter_map(|&pair| input.is_right(pair)).collect();
    let right = judged.iter().filter(|&&right| right).count();
    let mut cells = vec![name.to_owned(), contender.name.to_owned(), contender.at.to_owned()];
    cells.extend([judged.len().to_string(), (published.len() - judged.len()).to_string()]);
    // The published threshold is the least similarity of what it finds, or less.
    match is_by_the_rule(input, contender, contender.at.parse().unwrap_or(0.0)) {
        true => cells.extend(["-", "-"].map(str::to_owned)),
        false => {
            cells.push(number(share(right as f64, judged.len() as f64)));
            cells.push(bootstrap::cell(bootstrap::interval(&groups.parts(input, published.into_iter()))));
        }
    }
    cells.push(number(share(right as f64, labelled as f64)));
    let of_kind: Vec<(Option<bool>, f64)> = contender
        .all
        .iter()
        .filter(|(pair, _)| kind(*pair))
        .map(|&(pair, similarity)| (input.is_right(pair), similarity))
        .collect();
    cells.extend(RECALLS.map(|recall| {
        let end = reaching(recall * labelled as f64, &of_kind);
        let end = end.filter(|end| !is_by_the_rule(input, contender, of_kind[end - 1].1));
        number(end.map_or(f64::NAN, |end| precision(&of_kind[..end])))
    }));
    cells
}

/// How many pairs the greatest threshold that finds so many right ones has, the most similar pairs
/// being first; none where no threshold finds them.
fn reaching(least: f64, pairs: &[(Option<bool>, f64)]) -> Option<usize> {
    let (mut right, mut end) = (0.0, 0);
    for equal in pairs.chunk_by(|a, b| a.1 == b.1) {
        right += equal.iter().filter(|pair| pair.0 == Some(true)).count() as f64;
        end += equal.len();
        if right >= least {
            return Some(end);
        }
    }
    None
}

fn precision(pairs: &[(Option<bool>, f64)]) -> f64 {
    let known = pairs.iter().filter(|pair| pair.0.is_some()).count();
    share(pairs.iter().filter(|pair| pair.0 == Some(true)).count() as f64, known as f64)
}
