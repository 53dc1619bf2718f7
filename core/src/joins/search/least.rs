//! The least similarity of a ball, which both formats of balls have in the same place.

use super::ball::{self, HEADER};
use super::edit_ball;
use crate::error::Result;
use crate::memory;
use crate::sketches::minhash::check_similarity;

/// Where the least similarity is.
const LEAST: std::ops::Range<usize> = 8..HEADER;

/// Returns the least similarity of a ball of sets or of a ball by edit distance, or `None` for
/// other bytes.
pub fn least_of(ball: &[u8]) -> Option<f64> {
    let is_known = matches!(ball.first(), Some(&(ball::VERSION | edit_ball::VERSION)));
    let similarity = ball.get(LEAST).filter(|_| is_known)?;
    Some(f64::from_le_bytes(similarity.try_into().ok()?))
}

/// Returns the bytes of a ball with another least similarity. Fails for one outside (0, 1].
pub fn with_least(ball: &[u8], least: f64) -> Result<Vec<u8>> {
    check_similarity(least)?;
    let mut bytes = Vec::new();
    memory::extend(&mut bytes, ball, "making a ball")?;
    if let Some(similarity) = bytes.get_mut(LEAST) {
        similarity.copy_from_slice(&least.to_le_bytes());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::FeatureSpec;
    use crate::features::origin::Origin;
    use crate::features::tokens::Document;
    use crate::verify::measure::Measure;

    #[test]
    fn a_ball_of_another_size_is_the_one_that_is_built_so() {
        let parameters = ball::SetParameters {
            measure: Measure::Dice,
            origin: Origin::Words,
            features: FeatureSpec::WORDS,
            normalization: None,
        };
        let of_sets =
            |least| ball::SetBall::build(&parameters, least, &Document::Text("a b".into())).unwrap();
        let by_edits = |least| edit_ball::EditBall::build(least, None, "a b").unwrap();
        for build in [&of_sets as &dyn Fn(f64) -> Vec<u8>, &by_edits] {
            assert_eq!(least_of(&build(0.3)), Some(0.3));
            assert_eq!(with_least(&build(0.3), 0.75).unwrap(), build(0.75));
            assert!(with_least(&build(0.3), 1.5).is_err());
        }
        assert_eq!((least_of(b""), least_of(&[9; 40])), (None, None));
    }
}
