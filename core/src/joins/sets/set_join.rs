//! The join of sets: in memory or, if the records and their index do not fit, in partitions of the
//! tokens.

use super::bounds::{Bounds, PairSide, largest_but_few};
use super::partitions::PartitionJoin;
use super::{Algorithm, PrefixJoin};
use crate::error::{Error, Result};
use crate::features::sets::store::RecordStore;
use crate::joins::set_index::bitmap::Width;
use crate::joins::{RecordJoin, SelfJoin};
use crate::resources::Resources;
use crate::verify::predicate::Predicate;

/// Prepares the join of all records of one store with each other, or of two stores. It holds about
/// as many bytes as the budget says. In files there are partitions, with bitmaps if some are wide
/// enough for the sizes of the records; an algorithm that the caller asks for works in memory only.
pub fn set_join(
    left: RecordStore,
    right: Option<RecordStore>,
    shared_tokens: usize,
    predicate: Predicate,
    algorithm: Algorithm,
    Resources { files, budget, .. }: Resources<'_>,
) -> Result<Box<dyn RecordJoin>> {
    let bounds = Bounds::new(predicate);
    let rights = right.as_ref().map_or(0, |right| bytes(right, &bounds, PairSide::Right));
    if bytes(&left, &bounds, PairSide::Left).saturating_add(rights) <= budget {
        let sets = SelfJoin { store: left, shared_tokens, predicate, algorithm, budget };
        return Ok(Box::new(PrefixJoin::new(sets, right)));
    }
    if algorithm != Algorithm::Auto {
        return Err(Error::InMemoryOnly);
    }
    let indexed = right.as_ref().unwrap_or(&left).runs()?;
    let runs = indexed.sizes().iter().enumerate();
    let tokens = |(run, &size): (usize, &u32)| (size, indexed.range(run).len() as u64 * u64::from(size));
    let words =
        largest_but_few(runs.map(tokens)).and_then(|size| bounds.bitmap_words(Width::IN_MEMORY, size));
    drop(indexed);
    macro_rules! partitions {
        ($words:literal) => {
            Box::new(PartitionJoin::<$words>::new(left, right, shared_tokens, predicate, files, budget)?)
        };
    }
    Ok(match words {
        None => partitions!(0),
        Some(1) => partitions!(1),
        Some(2) => partitions!(2),
        Some(4) => partitions!(4),
        Some(_) => partitions!(8),
    })
}

/// Returns the number of bytes that the records of a store take in memory with their index, about.
fn bytes(store: &RecordStore, bounds: &Bounds, side: PairSide) -> usize {
    /// The number of bytes of a record apart from its tokens: sizes, positions, bitmap, bounds,
    /// marks.
    const RECORD: usize = 96;
    /// The number of bytes of a token. `POSTINGS` is the number of bytes of the postings of a token
    /// in the lists of both inputs.
    const TOKEN: usize = 4;
    const POSTINGS: usize = 24;
    let (mut size, mut prefix) = (0, 0);
    let of_record = |record| {
        if size != store.size(record) {
            size = store.size(record);
            let partners = bounds.partner_sizes(side, size, u32::MAX);
            prefix = partners.map_or(0, |partners| bounds.prefix(side, size, *partners.start()) as usize);
        }
        let shared = store.shared(record);
        let lone = size as usize - shared;
        RECORD + TOKEN * shared + POSTINGS * prefix.saturating_sub(lone).min(shared)
    };
    (0..store.len()).map(of_record).fold(0, usize::saturating_add)
}
