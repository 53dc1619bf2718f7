//! The probes by which an index of sets finds the rows in a ball.

use super::SetKeys;
use crate::pg::server::error::Result;
use crate::pg::server::executor::executor_for;
use neardup_core::executor;
use neardup_core::features::tokens::Document;
use neardup_core::joins::search::ball::SetBall;
use neardup_core::joins::search::edit_ball::{self, EditBall};
use neardup_core::joins::search::keys::{KeyScratch, keys_of};
use neardup_core::joins::search::prefix::SearchReach;

/// The number of steps from distance 0 to 1. A distance has 16 bits in the key of a scan.
const STEPS: f64 = 65_000.0;
/// The step of a row outside the ball.
pub(crate) const OUTSIDE: u32 = STEPS as u32 + 1;

/// Returns the last step whose distance is at most `1 - similarity`, or the step before it. So the
/// step is a lower bound of the distance of a row whose similarity is at most `similarity`.
pub(crate) fn step_of(similarity: f64) -> u32 {
    let distance = 1.0 - similarity;
    let step = (distance * STEPS) as u32;
    // The distance of the step must not exceed the real distance, not even by rounding.
    if distance_of(step) > distance { step.saturating_sub(1) } else { step }
}

/// Returns the distance of a step.
pub(crate) fn distance_of(step: u32) -> f64 {
    if step < OUTSIDE { f64::from(step) / STEPS } else { f64::INFINITY }
}

/// A probe for rows whose sets may be in a ball. It does not depend on the parameters that the
/// first rows of the index settle.
#[derive(Debug, Clone)]
pub(crate) struct SetProbe {
    /// The tokens of the ball's set, in ascending order, with repeats if these count.
    pub tokens: Vec<u32>,
    /// The parameters of the search, which say which sets can be in the ball.
    pub reach: SearchReach,
    /// The least similarity of the rows in the ball.
    pub similarity: f64,
}

/// The reason why an index cannot find the rows in a ball.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// The parameters of the ball differ from those of the index. The first text describes the
    /// parameters of the ball, the second those of the index.
    Unlike(String, String),
    /// The similarity of the ball is below the least similarity that the index serves. The text
    /// names both.
    Below(String),
}

impl SetKeys {
    /// Returns the reason why the index cannot serve a ball, or None if it can.
    pub(crate) fn unfit(&self, ball: &[u8]) -> Option<Unfit> {
        if EditBall::is(ball) {
            return Some(Unfit::Unlike(edit_ball::METHOD.to_owned(), self.parameters.describe()));
        }
        let ball = SetBall::parse(ball).ok()?;
        if ball.parameters != self.parameters {
            return Some(Unfit::Unlike(ball.parameters.describe(), self.parameters.describe()));
        }
        let least = self.spec.least;
        (ball.similarity < least)
            .then(|| Unfit::Below(format!("{} is below threshold = {least}", ball.similarity)))
    }

    /// Returns the tokens of a document.
    pub(crate) fn tokens(&self, document: &Document) -> Result<Vec<u32>> {
        let mut tokens = Vec::new();
        let features = &self.parameters.features;
        executor::one(executor_for(document.bytes()), &mut tokens, |tokens, stop| {
            keys_of(document, features, &mut KeyScratch::default(), tokens, stop)
        })?;
        Ok(tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pg_steps_are_below_distances_and_in_order() {
        let mut last = 0;
        for shared in (0..=997).rev() {
            let similarity = f64::from(shared) / 997.0;
            let step = step_of(similarity);
            assert!((last..OUTSIDE).contains(&step) && distance_of(step) <= 1.0 - similarity);
            assert!(distance_of(step + 2) > 1.0 - similarity);
            last = step;
        }
        assert_eq!((step_of(1.0), step_of(0.0), distance_of(OUTSIDE)), (0, OUTSIDE - 1, f64::INFINITY));
    }
}
