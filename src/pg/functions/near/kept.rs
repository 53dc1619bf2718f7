//! Keeps what was made of an argument from one call of a function to the next, because most calls
//! have the same argument; a ball with what compares values with its centre.

use pgrx::PgMemoryContexts;

use crate::pg::server::call::FunctionCall;
use crate::pg::server::error::Result;
use crate::pg::server::executor::{compute, compute_with};
use neardup_core::error::Error;
use neardup_core::features::normalization::Normalization;
use neardup_core::features::origin::Origin;
use neardup_core::features::tokens::Document;
use neardup_core::memory;
use neardup_core::search::ball::SetBall;
use neardup_core::search::edit_ball::{EditBall, EditVerifier};
use neardup_core::search::verifier::Verifier;

/// An argument's bytes, and what was made of them.
struct KeptArgument<K> {
    bytes: Vec<u8>,
    made: K,
}

/// Calls `work` with what `make` makes of the bytes of an argument, which is reused if the previous
/// call had the same bytes. The first call with a given record of the function manager (`flinfo`)
/// keeps nothing in that record: a constraint check makes a new record for every two rows, and the
/// data in such a record lives as long as the statement.
///
/// All calls of one SQL function must use the same `K`.
pub(in crate::pg::functions) fn with_kept<K, T>(
    call: FunctionCall,
    bytes: &[u8],
    make: impl Fn(&[u8]) -> Result<K>,
    work: impl FnOnce(&mut K) -> Result<T>,
) -> Result<T> {
    static CALLED: u8 = 0;
    let called = (&raw const CALLED).cast_mut().cast();
    // SAFETY: `fn_extra` belongs to the called function and is null before its first call. From the
    // second call on, the value that it points to lives as long as the function manager's record,
    // which is longer than the call. No two calls with the same record run at once.
    let place: &mut Option<KeptArgument<K>> = unsafe {
        let function = (*call.info).flinfo;
        if (*function).fn_extra.is_null() {
            (*function).fn_extra = called;
            return work(&mut make(bytes)?);
        }
        if (*function).fn_extra == called {
            let mut memory = PgMemoryContexts::For((*function).fn_mcxt);
            (*function).fn_extra = memory.leak_and_drop_on_delete(None::<KeptArgument<K>>).cast();
        }
        &mut *(*function).fn_extra.cast()
    };
    if place.as_ref().is_none_or(|kept| kept.bytes != bytes) {
        *place = None;
        let mut own = Vec::new();
        memory::extend(&mut own, bytes, "keeping an argument")?;
        *place = Some(KeptArgument { bytes: own, made: make(bytes)? });
    }
    work(&mut place.as_mut().ok_or(Error::Source)?.made)
}

/// A parsed ball. It is kept from one call to the next, because most calls have the same ball.
pub(in crate::pg::functions) struct CachedBall {
    /// The number of bytes of the ball.
    size: usize,
    /// The least similarity of the ball.
    pub least: f64,
    /// The form in which values are compared.
    pub normalization: Option<Normalization>,
    judge: BallJudge,
}

/// What compares values with the centre of a ball.
enum BallJudge {
    Sets(Origin, Box<Verifier>),
    Edits(EditVerifier),
}

impl CachedBall {
    /// Returns the similarity of a document. If `bounded` is true, it may be 0 in place of one that
    /// is less than the least similarity.
    pub(in crate::pg::functions) fn similarity(&mut self, document: &Document, bounded: bool) -> Result<f64> {
        let bytes = self.size + document.bytes();
        let similarity = compute_with(bytes, &mut self.judge, |judge, stop| match (judge, document) {
            (BallJudge::Sets(_, judge), document) => judge.similarity(document, stop),
            (BallJudge::Edits(judge), Document::Text(text)) if bounded => {
                Ok(judge.within(text, stop)?.unwrap_or(0.0))
            }
            (BallJudge::Edits(judge), Document::Text(text)) => judge.similarity(text, stop),
            (BallJudge::Edits(_), _) => Err(Error::Source),
        })?;
        Ok(similarity)
    }

    /// Returns what the documents of the ball's similarity are.
    pub(in crate::pg::functions) fn origin(&self) -> Origin {
        match &self.judge {
            BallJudge::Sets(origin, _) => *origin,
            BallJudge::Edits(_) => Origin::Chars,
        }
    }
}

/// Parses a ball and prepares its verifier.
pub(in crate::pg::functions) fn judge(bytes: &[u8]) -> Result<CachedBall> {
    if EditBall::is(bytes) {
        let ball = EditBall::parse(bytes)?;
        let judge = BallJudge::Edits(EditVerifier::new(&ball)?);
        let EditBall { similarity: least, normalization, .. } = ball;
        return Ok(CachedBall { size: bytes.len(), least, normalization, judge });
    }
    let ball = SetBall::parse(bytes)?;
    let judge = compute(ball.bytes(), |stop| Verifier::new(&ball, stop))?;
    let SetBall { parameters, similarity: least, .. } = ball;
    let (origin, normalization) = (parameters.origin, parameters.normalization);
    Ok(CachedBall {
        size: bytes.len(),
        least,
        normalization,
        judge: BallJudge::Sets(origin, Box::new(judge)),
    })
}
