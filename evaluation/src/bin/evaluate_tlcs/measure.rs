//! Comparisons of given pairs, and cells of tables.

use neardup_core::executor::Stop;
use neardup_core::verify::tlcs::{Comparer, Found, Parameters, Thresholds};

use crate::bootstrap::Part;
use crate::candidates::{Pair, THRESHOLDS};
use crate::chart::{Curve, Point};
use crate::corpora::{Corpus, on_all};
use crate::inputs::Input;

/// What each of the pairs has in common.
pub fn compare(corpus: &Corpus, pairs: &[Pair], parameters: Parameters) -> Vec<Found> {
    on_all(
        pairs,
        || Comparer::new(parameters).expect("good parameters"),
        |comparer, &(a, b)| {
            let (a, b) = (&corpus.texts[a as usize], &corpus.texts[b as usize]);
            comparer.compare(a, b, None, &Stop::default()).expect("memory").expect("no threshold")
        },
    )
}

/// The pairs of all documents with all that reach a resemblance, with it.
pub fn all_with_all(corpus: &Corpus, parameters: Parameters, resemblance: f64) -> Vec<(Pair, f64)> {
    let thresholds = Thresholds { resemblance, containment: None };
    let documents: Vec<u32> = (0..corpus.texts.len() as u32).collect();
    let of_each = on_all(
        &documents,
        || Comparer::new(parameters).expect("good parameters"),
        |comparer, &a| {
            let stop = Stop::default();
            comparer.set_left(&corpus.texts[a as usize], &stop).expect("memory");
            let partners = a + 1..documents.len() as u32;
            let with = |b: u32| {
                let text = &corpus.texts[b as usize];
                let found = comparer.compare_right(text, false, Some(&thresholds), &stop).expect("memory");
                found.map(|found| ((a, b), found.resemblance()))
            };
            partners.filter_map(with).collect::<Vec<_>>()
        },
    );
    of_each.into_iter().flatten().collect()
}

/// Whether a comparison says near duplicate.
pub fn passes(found: &Found) -> bool {
    THRESHOLDS.pass(found.shared, found.left, found.right)
}

/// The same if the resemblance is |LCS| / (|A| + |B| - |LCS|).
pub fn passes_by_union(found: &Found) -> bool {
    let &Found { shared, left, right, .. } = found;
    let contained = Thresholds { resemblance: f64::INFINITY, ..THRESHOLDS };
    shared as f64 >= THRESHOLDS.resemblance * (left + right - shared) as f64
        || contained.pass(shared, left, right)
}

pub fn share(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { f64::NAN } else { part / whole }
}

/// The mean of those that are numbers.
pub fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values.into_iter().filter(|value| !value.is_nan()) {
        sum += value;
        count += 1.0;
    }
    share(sum, count)
}

/// A share with three digits; none of nothing.
pub fn number(value: f64) -> String {
    if value.is_nan() { "-".to_owned() } else { format!("{value:.3}") }
}

pub fn head<T: ToString>(first: &str, columns: &[T]) -> Vec<String> {
    std::iter::once(first.to_owned()).chain(columns.iter().map(T::to_string)).collect()
}

pub fn row(name: &str, values: &[f64]) -> Vec<String> {
    std::iter::once(name.to_owned()).chain(values.iter().map(|&value| number(value))).collect()
}

/// The corpora whose curves are drawn: of more nobody tells which is which. Tables have all.
const DRAWN: [&str; 5] = ["html_kafka_a", "en_bible_a", "zh_law_a", "planted_en_a", "pages of sites"];

/// Curves of the corpora that are drawn.
#[derive(Default)]
pub struct Curves(pub Vec<Curve>);

impl Curves {
    /// Adds the curve of a corpus: for each x the values of documents, whose mean is drawn.
    pub fn add<X: Copy + Into<f64>>(&mut self, input: &Input, xs: &[X], values: &[Vec<(u32, f64)>]) {
        let name = &input.corpus.name;
        if !DRAWN.contains(&name.as_str()) {
            return;
        }
        let (groups, count) = input.groups();
        let point = |(&x, values): (&X, &Vec<(u32, f64)>)| {
            let mut parts = vec![[0.0; 2]; count];
            for &(document, value) in values.iter().filter(|value| !value.1.is_nan()) {
                let part: &mut Part = &mut parts[groups[document as usize] as usize];
                *part = [part[0] + value, part[1] + 1.0];
            }
            Point::of(x.into(), &parts)
        };
        let points: Vec<Point> = xs.iter().zip(values).filter_map(point).collect();
        if !points.is_empty() {
            self.0.push(Curve { name: name.clone(), points });
        }
    }
}

/// The mean of the values of each x.
pub fn means(values: &[Vec<(u32, f64)>]) -> Vec<f64> {
    values.iter().map(|values| mean(values.iter().map(|value| value.1))).collect()
}
