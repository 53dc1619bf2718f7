//! What a ball asks of an index of sets.

use super::SetKeys;
use crate::features::tokens::Document;
use crate::joins::search::ball::SetBall;
use crate::joins::search::keys::{KeyScratch, keys_of};
use crate::joins::search::prefix::Reach;
use crate::pg::index::opclass::probe::Probe;
use crate::pg::server::error::Result;
use crate::pg::server::workers::workers_for;
use crate::workers;

/// Rows whose sets may be in a ball: it depends on nothing that the first rows settle.
#[derive(Debug, Clone)]
pub(crate) struct SetProbe {
    /// The tokens of the ball's set, ascending, with repeats where these count.
    pub tokens: Vec<u32>,
    /// Which sets can be in it.
    pub reach: Reach,
}

/// Why an index cannot tell which rows are in a ball.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// The ball was made by 0.1.0.
    Old,
    /// It has other parameters than the index: these, and the index's.
    Unlike(String, String),
    /// It reaches further than the index.
    Below(String),
}

impl SetKeys {
    /// Why the index cannot serve a ball; none if it can.
    pub(crate) fn unfit(&self, ball: &[u8]) -> Option<Unfit> {
        let Ok(ball) = SetBall::parse(ball) else { return Some(Unfit::Old) };
        if ball.parameters != self.parameters {
            return Some(Unfit::Unlike(ball.parameters.describe(), self.parameters.describe()));
        }
        let least = self.spec.least;
        (ball.similarity < least)
            .then(|| Unfit::Below(format!("{} is below least = {least}", ball.similarity)))
    }

    /// The condition that a row is in a ball.
    pub(crate) fn probe(&self, bytes: &[u8]) -> Result<Probe> {
        if self.unfit(bytes).is_some() {
            return Ok(Probe::Everything);
        }
        let ball = SetBall::parse(bytes)?;
        let document = ball.document()?;
        let tokens = self.tokens(&document)?;
        let reach = self.spec.reach(ball.similarity, tokens.len() as u32)?;
        Ok(reach.map_or(Probe::Nothing, |reach| Probe::Sets(SetProbe { tokens, reach })))
    }

    /// The tokens of a document.
    pub(crate) fn tokens(&self, document: &Document) -> Result<Vec<u32>> {
        let mut tokens = Vec::new();
        let features = &self.parameters.features;
        workers::one(workers_for(document.bytes()), &mut tokens, |tokens, stop| {
            keys_of(document, features, &mut KeyScratch::default(), tokens, stop)
        })?;
        Ok(tokens)
    }
}
