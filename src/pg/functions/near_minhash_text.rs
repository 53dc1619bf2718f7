//! Support for the SQL definitions of version 0.1.0. There, `near(text, …)` makes a ball around the
//! minhash sketch of the text. Tables may contain such balls, so the balls keep their meaning under
//! every later SQL version.

use super::building_blocks::document;
use super::sketches::minhash_of;
use crate::pg::server::call::sql_function;
use crate::pg::server::checks;
use crate::pg::server::error::Result;
use neardup_core::features::tokens::Document;
use neardup_core::joins::search::ball;
use neardup_core::sketches::balls::MinhashBall;
use neardup_core::sketches::minhash::{self, check_similarity};
use neardup_core::sketches::wire::{Minhash, MinhashHeader, Source};

/// The seed of the sketch in a ball around a text. It is the default seed of `minhash`.
const SEED: i64 = 1;

sql_function! {
    /// `near(text, similarity, k, permutations) → text_ball`
    neardup_near_text, pg_finfo_neardup_near_text, |call| {
        let Some(text) = call.text(0)? else { return Ok(call.give::<i32>(None)) };
        let similarity = checks::with_similarity(check_similarity(call.need(1, "similarity")?))?;
        let k = checks::k(i64::from(call.need::<i32>(2, "k")?))?;
        let permutations = checks::permutations(i64::from(call.need::<i32>(3, "permutations")?))?;
        let header = MinhashHeader::new(Source::Words, k, permutations, SEED);
        let middle = minhash_of(&document(text)?, &header)?;
        Ok(call.give(Some(checks::with_similarity(MinhashBall::build(&middle, similarity))?)))
    }
}

/// Returns the estimated similarity between a text and the text of the ball's sketch, and the
/// minimum similarity of the ball. The text's sketch is made with the parameters of the ball's
/// sketch.
pub(super) fn estimate(ball: &[u8], text: &Document) -> Result<(f64, f64)> {
    let ball = MinhashBall::parse(ball, ball::NAME)?;
    let MinhashHeader { source, k, permutations, seed, .. } = ball.middle.header;
    let sketch = minhash_of(text, &MinhashHeader::new(source, k, permutations, seed))?;
    let agreeing = ball.middle.agreeing(&Minhash::parse(&sketch)?)?;
    Ok((minhash::similarity(agreeing, permutations), ball.similarity))
}
