//! The similarity of a row to the centre of a ball. Only this decides whether the row is in the
//! ball, with or without an index.

use super::ball::{NAME, SetBall, SetParameters};
use super::weights::{KeyWeights, sum};
use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::features::sets::exact::TokenSets;
use crate::features::tokens::Document;

/// Compares rows with the centre of a ball. The result is the same as in a join of rows: the same
/// sets, and the same similarity to the last bit. So a row is in the ball if its similarity is at
/// least that of the ball.
#[derive(Debug)]
pub struct Verifier {
    parameters: SetParameters,
    ball: TokenSets,
    row: TokenSets,
}

impl Verifier {
    /// Prepares the comparison. O(tokens · log tokens).
    pub fn new(ball: &SetBall<'_>, stop: &Stop) -> Result<Self> {
        let parameters = ball.parameters.clone();
        let (mut set, row) = (TokenSets::default(), TokenSets::default());
        set.add(0, &ball.document()?, &parameters.features, stop)?;
        Ok(Self { parameters, ball: set, row })
    }

    /// Returns the similarity of a row to the ball's document, even if the row is not in the ball;
    /// 0 if one of them has no tokens.
    pub fn similarity(&mut self, row: &Document, stop: &Stop) -> Result<f64> {
        let [shared, left, right] = self.counts(row, stop)?;
        Ok(self.parameters.measure.similarity(shared, left, right))
    }

    /// Returns the number of elements that the row and the ball share, and the number of elements
    /// of each, or what these elements weigh.
    fn counts(&mut self, document: &Document, stop: &Stop) -> Result<[u32; 3]> {
        /// The most bytes that are kept from one row to the next.
        const KEPT: usize = 1 << 20;
        let SetParameters { origin, features, weights, .. } = &self.parameters;
        if !self.parameters.take(document) {
            let (a, b) = (kind(document).to_owned(), origin.name().to_owned());
            return Err(Error::Unlike { what: NAME, a, b });
        }
        self.row.clear();
        self.row.add(0, document, features, stop)?;
        let counts = match weights {
            None => self.row.counts(0, &self.ball, 0, stop),
            Some(weights) => weighed(weights, [&self.row, &self.ball], stop),
        };
        if self.row.bytes() > KEPT {
            self.row = TokenSets::default();
        }
        counts
    }
}

/// Returns what the elements weigh that two sets share, and those of each.
fn weighed(weights: &KeyWeights, [row, ball]: [&TokenSets; 2], stop: &Stop) -> Result<[u32; 3]> {
    let mut shared = 0;
    row.for_each_shared(0, ball, 0, stop, |token| {
        shared += u64::from(weights.of_token(token)?);
        Ok(())
    })?;
    let size = |set: &TokenSets| sum(set.tokens(0).map(|token| weights.of_token(token)));
    // What is shared is no more than each of them.
    Ok([size(row)?, size(ball)?]).map(|[left, right]| [shared as u32, left, right])
}

fn kind(document: &Document) -> &'static str {
    match document {
        Document::Text(_) => "a text",
        Document::Page(_) => "a page",
        Document::Tokens(_) => "tokens",
        Document::Numbers(_) => "numbers",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::origin::Origin;
    use crate::features::{FeatureSpec, Tokenizer};
    use crate::verify::measure::Measure;

    fn judge(measure: Measure, similarity: f64, origin: Origin, document: &Document) -> Verifier {
        let features = FeatureSpec { tokenizer: origin.tokenizer(), ..FeatureSpec::WORDS };
        let bytes = SetBall::build(
            &SetParameters { measure, origin, features, normalization: None, weights: None },
            similarity,
            document,
        )
        .unwrap();
        Verifier::new(&SetBall::parse(&bytes).unwrap(), &Stop::default()).unwrap()
    }

    fn text(text: &str) -> Document {
        Document::Text(text.to_owned())
    }

    #[test]
    fn similarities_are_exact_and_repeats_count() {
        let stop = Stop::default();
        let mut near = judge(Measure::Jaccard, 0.75, Origin::Words, &text("a b c c"));
        for (row, expected) in [("C c, B", 0.75), ("a b c", 0.75), ("a b", 0.5), ("", 0.0)] {
            assert_eq!(near.similarity(&text(row), &stop), Ok(expected), "{row}");
        }
        let mut nothing = judge(Measure::Jaccard, 0.1, Origin::Words, &text(" "));
        assert_eq!(["", "a"].map(|row| nothing.similarity(&text(row), &stop)), [Ok(0.0), Ok(0.0)]);
    }

    /// Containment is the share of the row that is in the ball; overlap is the greater one of both
    /// directions.
    #[test]
    fn the_row_is_left() {
        let stop = Stop::default();
        let [small, large] = [text("a b"), text("a b c d")];
        for (measure, expected) in [(Measure::Containment, [1.0, 0.5]), (Measure::Overlap, [1.0, 1.0])] {
            let of = |row: &Document, ball: &Document| {
                judge(measure, 0.1, Origin::Words, ball).similarity(row, &stop).unwrap()
            };
            assert_eq!([of(&small, &large), of(&large, &small)], expected);
        }
    }

    #[test]
    fn unlike_documents_are_refused() {
        let stop = Stop::default();
        let mut tokens = judge(Measure::Dice, 0.5, Origin::Tokens, &Document::Tokens(vec!["A".to_owned()]));
        assert_eq!(tokens.similarity(&Document::Tokens(vec!["A".to_owned()]), &stop), Ok(1.0));
        assert!(matches!(tokens.similarity(&text("A"), &stop), Err(Error::Unlike { .. })));
        assert!(matches!(tokens.similarity(&Document::Numbers(vec![1]), &stop), Err(Error::Unlike { .. })));
        let mut html = judge(Measure::Dice, 0.5, Origin::Html, &text("<p>one<p>two"));
        assert_eq!(html.similarity(&text("one two"), &stop), Ok(1.0));
        assert_eq!(html.parameters.features.tokenizer, Tokenizer::Html);
    }
}
