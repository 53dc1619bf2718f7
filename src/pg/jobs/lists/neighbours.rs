//! Uses the lists to find the rows that may be similar to changed rows, and then the rows that are
//! similar.

use pgrx::pg_sys::{self, Datum};

use super::candidates::{CandidateIds, search};
use super::stored::{BATCH, headers, read_order};
use super::writer::ListWriter;
use crate::pg::procedure::table::Table;
use crate::pg::query::Parameter;
use crate::pg::query::citus::is_spread;
use crate::pg::query::ids::RowIds;
use crate::pg::query::names::equality;
use crate::pg::request::Request;
use crate::pg::server::error::Result;
use crate::pg::server::set_returning::RowStore;
use neardup_core::executor::{self, Executor};
use neardup_core::features::FeatureSpec;
use neardup_core::features::sets::exact::TokenSets;
use neardup_core::incremental::changed::Changed;
use neardup_core::incremental::digest::{Digester, Digests};
use neardup_core::incremental::lookup::SegmentPartners;
use neardup_core::incremental::matcher::{Matcher, Matches};
use neardup_core::incremental::segment::ListSegment;
use neardup_core::joins::sets::bounds::Bounds;
use neardup_core::verify::predicate::Predicate;

/// Pairs that may be similar take at most the memory divided by this number.
const MEMORY_SHARE: usize = 16;

/// Changed rows, and the rows of the lists that may be similar to them.
pub(crate) struct Neighbours {
    /// The ids of the changed rows.
    ids: RowIds,
    /// The changed rows in memory, or None if there are too many.
    pub matcher: Option<Matcher>,
    /// The ids of the other rows, and an array of these ids.
    pub others: RowIds,
    pub array: Parameter,
    partners: SegmentPartners,
    /// The operator by which ids are equal.
    pub equals: String,
}

/// Finds the rows that may be similar to the rows of a request, or returns None if the lists are
/// unusable. If the number of a segment is given, the rows of the request become that segment,
/// which is written as rows of `N` columns. The segment may be written even if the lists turn out
/// to be damaged.
pub(crate) fn neighbours<const N: usize>(
    lists: &Table,
    request: &Request,
    spec: FeatureSpec,
    predicate: Predicate,
    segment: Option<i64>,
    store: &mut RowStore,
) -> Result<Option<Neighbours>> {
    let Some(order) = read_order(lists)? else { return Ok(None) };
    let (words, bounds) = (order.words, Bounds::new(predicate));
    let mut reading = request.reading();
    let executor = reading.executor;
    let enough = reading.memory / 4;
    let mut states: Vec<(Digester, TokenSets)> = (0..executor.count()).map(|_| Default::default()).collect();
    let mut fits = true;
    reading.run(|reading| {
        reading.batch_bytes = BATCH;
        reading.read(|batch| {
            batch.share_out(&mut states, |(outliner, sets), row, document, stop| {
                if !fits {
                    return outliner.add(row, document, &spec, &order, &bounds, stop);
                }
                sets.add(row, document, &spec, stop)?;
                outliner.add_hashes(row, sets.last(), &order, &bounds)
            })?;
            let bytes = states.iter().map(|(_, sets)| sets.bytes()).sum::<usize>();
            if fits && bytes > enough {
                states.iter_mut().for_each(|(_, sets)| *sets = TokenSets::default());
                fits = false;
            }
            Ok(bytes)
        })
    })?;
    let (mut outlines, mut sets) = (Digests::default(), Vec::new());
    for (outliner, some) in states {
        outlines.append(&outliner.digests, |row| row)?;
        sets.push(some);
    }
    if let Some(segment) = segment.filter(|_| !outlines.rows.is_empty()) {
        let mut writer = ListWriter::<N>::new(store, segment);
        writer.write(ListSegment::new(&outlines, words, &executor)?)?;
        writer.ids(|row| reading.left().show(row))?;
    }
    let changed = Changed::new(outlines, words, bounds, &executor)?;
    let mut others = CandidateIds::new(reading.left(), &executor)?;
    if !changed.is_empty() {
        for header in headers(lists)? {
            let most = reading.memory / MEMORY_SHARE / executor.count();
            search(lists, header, &changed, words, most, &executor, &mut others)?;
        }
    }
    let (others, partners) = others.finish(&executor)?;
    let Some(array) = others.array()? else { return Ok(None) };
    let matcher = fits.then(|| Matcher::new(changed, sets, order, spec, predicate)).transpose()?;
    let equals = equality(request.id_type)?;
    let ids = reading.finish().left;
    Ok(Some(Neighbours { ids, matcher, others, array, partners, equals }))
}

impl Neighbours {
    /// Calls `pair` with the ids and the similarity of a changed row and a row that is similar to
    /// it, for all such pairs, whether or not the other row is changed, too. Also passes pairs of a
    /// row with itself, and passes some pairs more than once.
    pub(crate) fn pairs(
        &self,
        request: &mut Request,
        mut pair: impl FnMut(&RowIds, Datum, Datum, f64),
    ) -> Result<()> {
        let (Some(matcher), partners) = (&self.matcher, &self.partners) else { return Ok(()) };
        let is_spread = is_spread(request.left.oid)?;
        request.left = request.left.listed(self.array, &self.equals, is_spread);
        request.id_type = pg_sys::INT8OID;
        let mut reading = request.reading();
        let mut matches: Vec<Matches> = (0..reading.executor.count()).map(|_| Matches::default()).collect();
        // For each part: its number, the progress so far, whether the part is done, and the matches
        // that were not passed on yet.
        let mut shares: Vec<_> =
            (0..matcher.parts()).map(|part| (part, 0, false, Matches::default())).collect();
        while shares.iter().any(|(_, _, ended, _)| !ended) {
            executor::each(&reading.executor, &mut shares, |(part, done, ended, matches), stop| {
                *ended = matcher.find_among(*part, done, matches, stop)?;
                Ok(())
            })?;
            for (row, changed, similarity) in
                shares.iter_mut().flat_map(|(_, _, _, matches)| matches.found.drain(..))
            {
                pair(&self.ids, self.ids.datum(row), self.ids.datum(changed), similarity);
            }
        }
        let found = reading.run(|reading| {
            reading.batch_bytes = BATCH;
            reading.read(|batch| {
                batch.share_out(&mut matches, |matches, row, document, stop| {
                    matcher.find(row, document, partners.for_document(row as usize), matches, stop)
                })?;
                for matches in &mut matches {
                    for (other, changed, similarity) in matches.found.drain(..) {
                        pair(&self.ids, self.ids.datum(changed), self.others.datum(other), similarity);
                    }
                }
                Ok(0)
            })
        });
        found.map(|_| ())
    }
}
