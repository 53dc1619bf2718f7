//! The probe by which an index of grams finds the rows in a ball.

use super::{GramKeys, GramProbe};
use crate::pg::index::opclass::probe::{Probe, Target};
use crate::pg::index::opclass::sets::probe::Unfit;
use crate::pg::server::error::Result;
use crate::pg::server::executor::executor_for;
use neardup_core::executor;
use neardup_core::features::normalization::Normalization;
use neardup_core::features::tokens::Document;
use neardup_core::joins::search::ball::SetBall;
use neardup_core::joins::search::edit_ball::{EditBall, characters};
use neardup_core::joins::search::grams::edit::{EditDemand, Sought};
use neardup_core::joins::search::grams::{Demand, StoredSize, elements_of};
use neardup_core::joins::search::keys::{KeyScratch, keys_of};
use neardup_core::memory;

impl GramKeys {
    /// Returns the reason why the index cannot serve a ball, or None if it can.
    pub(crate) fn unfit(&self, ball: &[u8]) -> Option<Unfit> {
        let form = self.parameters.normalization;
        if EditBall::is(ball) {
            let of_ball = EditBall::parse(ball).ok()?.normalization;
            let [ball, index] = [of_ball, form].map(Normalization::describe);
            return (of_ball != form).then_some(Unfit::Unlike(ball, index));
        }
        let ball = SetBall::parse(ball).ok()?;
        (ball.parameters != self.parameters)
            .then(|| Unfit::Unlike(ball.parameters.describe(), self.parameters.describe()))
    }

    /// Makes a probe of the condition that a row is in a ball.
    pub(in crate::pg::index::opclass) fn probe(&self, bytes: &[u8]) -> Result<Probe> {
        if self.unfit(bytes).is_some() {
            return Ok(Probe::Everything);
        }
        if EditBall::is(bytes) {
            let ball = EditBall::parse(bytes)?;
            let elements = self.elements(&Document::Text(memory::copied(ball.text, "reading a ball")?))?;
            let string = StoredSize { size: elements.len() as u32, characters: characters(ball.text) };
            let demand = EditDemand::new(ball.similarity, string, self.parameters.features.shingle as u32)?;
            let edits = Some((memory::copied(ball.text, "reading a ball")?, ball.similarity));
            let probe = |demand| Probe::Grams(GramProbe { elements, demand: Sought::Edit(demand), edits });
            return Ok(demand.map_or(Probe::Nothing, probe));
        }
        let ball = SetBall::parse(bytes)?;
        let elements = self.elements(&ball.document()?)?;
        let demand = Demand::new(ball.similarity, elements.len() as u32)?;
        let probe = |demand| Probe::Grams(GramProbe { elements, demand: Sought::Grams(demand), edits: None });
        Ok(demand.map_or(Probe::Nothing, probe))
    }

    /// Returns the elements of a document, in ascending order.
    fn elements(&self, document: &Document) -> Result<Vec<u32>> {
        let mut work = (Vec::new(), Vec::new());
        executor::one(executor_for(document.bytes()), &mut work, |(keys, elements), stop| {
            keys_of(document, &self.parameters.features, &mut KeyScratch::default(), keys, stop)?;
            elements_of(keys, elements)
        })?;
        Ok(work.1)
    }

    /// Returns the target for distances to the middle of a ball.
    pub(in crate::pg::index::opclass) fn target(&self, bytes: &[u8]) -> Result<Target> {
        Ok(match self.probe(bytes)? {
            Probe::Grams(probe) => Target::Grams(probe),
            Probe::Nothing => Target::Ball(None),
            _ => Target::Unlike,
        })
    }
}
