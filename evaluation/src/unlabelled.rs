//! What is not known of corpora whose labels are not complete.

use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::sets::Sets;
use neardup_core::verify::measure::Measure;

/// The pairs of texts whose words have a Jaccard similarity of 0.8 or more. Without a label they
/// are neither right nor wrong, on every page.
pub fn alike(texts: &[String]) -> Vec<(u32, u32)> {
    let alike = Sets::of_words(Measure::Jaccard, 0.8).expect("a threshold");
    let pairs = Corpus::of_texts(texts).pairs(&alike).expect("memory");
    pairs.into_iter().map(|pair| (pair.left, pair.right)).collect()
}
