//! Which rows may be similar to changed ones, by the lists, and which are.

use pgrx::pg_sys::{self, Datum};

use super::stored::{DOING, Header, documents, headers, ids, parts, read, read_order};
use super::writer::Writer;
use super::{BATCH, equality, qualified_type};
use crate::candidates::bounds::Bounds;
use crate::candidates::delta::lookup::{Changed, Comparison, Found, Partners, together};
use crate::candidates::delta::outline::{Outliner, Outlines};
use crate::candidates::delta::segment::{BLOCK, Segment};
use crate::candidates::delta::verify::{Matcher, Matches, TokenSets};
use crate::error::Error;
use crate::features::FeatureSpec;
use crate::hash;
use crate::memory;
use crate::pg::call::varlena_bytes;
use crate::pg::encoding;
use crate::pg::error::Result;
use crate::pg::example::literal;
use crate::pg::ids::Ids;
use crate::pg::reading::Reading;
use crate::pg::request::Request;
use crate::pg::rows::Store;
use crate::pg::workers::BackendWorkers;
use crate::verify::measure::Predicate;
use crate::workers::{self, Stop, Workers};

/// What pairs that may be similar take of the memory, at most.
const MEMORY_SHARE: usize = 16;

/// Changed rows, and which of those of the lists may be similar to them.
pub struct Near {
    /// The ids of the rows that changed.
    ids: Ids,
    /// None where they are too many to be kept.
    matcher: Option<Matcher>,
    /// An array of the ids of the others, as SQL text.
    others: String,
    partners: Partners,
    equals: String,
}

/// What may be similar to the rows of a request; none where the lists are of no use. If a number is given for it, the
/// rows become a segment, too, whose rows have `N` columns.
pub fn near<const N: usize>(
    lists: &str,
    request: &Request,
    (spec, predicate): (FeatureSpec, Predicate),
    (segment, store): (Option<i64>, &mut Store),
) -> Result<Option<Near>> {
    let Some(order) = read_order(lists)? else { return Ok(None) };
    let (words, bounds) = (order.words, Bounds::new(predicate));
    let mut reading = Reading::new(request);
    reading.batch_bytes = BATCH;
    let workers = reading.workers;
    let enough = reading.memory / 4;
    let mut states: Vec<(Outliner, TokenSets)> = (0..workers.count()).map(|_| Default::default()).collect();
    let mut fits = true;
    reading.read(|batch| {
        batch.share_out(&mut states, |(outliner, sets), row, document, stop| {
            if !fits {
                return outliner.add(row, document, &spec, (&order, &bounds), stop);
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
    })?;
    let (mut outlines, mut sets) = (Outlines::default(), Vec::new());
    for (outliner, some) in states {
        outlines.append(&outliner.outlines, |row| row)?;
        sets.push(some);
    }
    if let Some(segment) = segment.filter(|_| !outlines.rows.is_empty()) {
        let mut writer = Writer::<N>::new(store, segment);
        writer.write(Segment::new(&outlines, words, &workers)?)?;
        writer.ids(|row| reading.left.show(row))?;
    }
    let changed = Changed::new(outlines, words, bounds, &workers)?;
    let mut others = Others::new(&reading.left)?;
    if !changed.is_empty() {
        for header in headers(lists)? {
            let most = reading.memory / MEMORY_SHARE / workers.count();
            look(lists, header, (&changed, words, most), &workers, &mut others)?;
        }
    }
    let (list, partners) = others.finish(&workers)?;
    let id_type = qualified_type(request.id_type);
    let others = format!("{}::{id_type}[]", literal(&format!("{{{list}}}")));
    let matcher = fits.then(|| Matcher::new(changed, sets, order, (spec, predicate))).transpose()?;
    let equals = equality(request.id_type)?;
    Ok(Some(Near { ids: reading.left, matcher, others, partners, equals }))
}

impl Near {
    /// The condition for the others.
    pub fn condition(&self, key: &str) -> String {
        format!("{key} {} ANY ({})", self.equals, self.others)
    }

    /// Whether the changed rows are in memory.
    pub fn fits(&self) -> bool {
        self.matcher.is_some()
    }

    /// Calls `pair` with the ids of each changed row and one similar to it, changed or not, and their similarity; also
    /// with itself, and with some more than once.
    pub fn pairs(&self, request: &mut Request, mut pair: impl FnMut(&Ids, Datum, Datum, f64)) -> Result<()> {
        let (Some(matcher), partners) = (&self.matcher, &self.partners) else { return Ok(()) };
        let mut others = Ids::new(request.id_type);
        read(
            &format!("SELECT x.id FROM pg_catalog.unnest({}) AS x(id)", self.others),
            |[id]: [Datum; 1]| {
                // SAFETY: the array is of ids.
                unsafe { others.push(id) }
            },
        )?;
        request.left = request.left.listed(&self.others, &self.equals);
        request.id_type = pg_sys::INT8OID;
        let mut reading = Reading::new(request);
        reading.batch_bytes = BATCH;
        let mut matches: Vec<Matches> = (0..reading.workers.count()).map(|_| Matches::default()).collect();
        // For each part, how far it is, and what was found meanwhile.
        let mut shares: Vec<_> =
            (0..matcher.parts()).map(|part| (part, 0, false, Matches::default())).collect();
        while shares.iter().any(|(_, _, ended, _)| !ended) {
            workers::each(&reading.workers, &mut shares, |(part, done, ended, matches), stop| {
                *ended = matcher.find_among(*part, done, matches, stop)?;
                Ok(())
            })?;
            for (row, changed, similarity) in
                shares.iter_mut().flat_map(|(_, _, _, matches)| matches.found.drain(..))
            {
                pair(&self.ids, self.ids.datum(row), self.ids.datum(changed), similarity);
            }
        }
        reading.read(|batch| {
            batch.share_out(&mut matches, |matches, row, document, stop| {
                matcher.find(row, document, partners.of(row as usize), matches, stop)
            })?;
            for matches in &mut matches {
                for (other, changed, similarity) in matches.found.drain(..) {
                    pair(&self.ids, self.ids.datum(changed), others.datum(other), similarity);
                }
            }
            Ok(0)
        })
    }
}

/// The ids of changed rows, to be known by how they are written.
struct Names<'a> {
    ids: &'a Ids,
    /// The hash of each, and its row; sorted.
    hashes: Vec<(u64, u32)>,
}

impl<'a> Names<'a> {
    fn new(ids: &'a Ids) -> Result<Self> {
        let mut hashes = Vec::new();
        memory::reserve(&mut hashes, ids.len(), DOING)?;
        hashes.extend((0..ids.len() as u32).map(|row| (hash::hash_bytes(ids.show(row).as_bytes()), row)));
        hashes.sort_unstable();
        Ok(Self { ids, hashes })
    }

    fn contain(&self, id: &str) -> bool {
        let hash = hash::hash_bytes(id.as_bytes());
        let from = self.hashes.partition_point(|&(other, _)| other < hash);
        let mut same = self.hashes[from..].iter().take_while(|(other, _)| *other == hash);
        same.any(|&(_, row)| self.ids.show(row) == id)
    }
}

/// The rows that are to be compared with changed ones; these are not among them.
struct Others<'a> {
    /// Their ids, one behind the other, and where each ends.
    ids: String,
    ends: Vec<usize>,
    partners: Partners,
    changed: Names<'a>,
}

impl<'a> Others<'a> {
    fn new(changed: &'a Ids) -> Result<Self> {
        let changed = Names::new(changed)?;
        Ok(Self { ids: String::new(), ends: Vec::new(), partners: Partners::default(), changed })
    }

    fn add(&mut self, id: &str, partners: Option<&[u32]>) -> Result<()> {
        if self.changed.contain(id) {
            return Ok(());
        }
        reserve_text(&mut self.ids, id.len())?;
        self.ids.push_str(id);
        memory::push(&mut self.ends, self.ids.len(), DOING)?;
        Ok(self.partners.push(partners)?)
    }

    /// The different ids as the inside of an array, and the partners of each. Numbers are in their order: rows that
    /// came one after the other are often near to each other, and so read faster.
    fn finish(self, workers: &dyn Workers) -> Result<(String, Partners)> {
        let Self { ids, ends, partners, .. } = self;
        let id = |n: u32| {
            let n = n as usize;
            &ids[n.checked_sub(1).map_or(0, |before| ends[before])..ends[n]]
        };
        let mut order = Vec::new();
        memory::reserve(&mut order, ends.len(), DOING)?;
        order.extend(0..ends.len() as u32);
        let key = |n: u32| (id(n).len(), id(n));
        workers::one(workers, &mut order, |order, stop| {
            workers::sort_unstable_by(order, stop, &|&a, &b| key(a).cmp(&key(b)))
        })?;
        let (mut list, mut sorted, mut rows) = (String::new(), Partners::default(), Vec::new());
        for same in order.chunk_by(|&a, &b| id(a) == id(b)) {
            let id = id(same[0]).replace('\\', "\\\\").replace('"', "\\\"");
            reserve_text(&mut list, id.len() + 3)?;
            if !list.is_empty() {
                list.push(',');
            }
            list.push('"');
            list.push_str(&id);
            list.push('"');
            rows.clear();
            let mut known = true;
            for &n in same {
                match partners.of(n as usize) {
                    Some(of) => memory::extend(&mut rows, of, DOING)?,
                    None => known = false,
                }
            }
            // As more than one segment may tell of it.
            rows.sort_unstable();
            rows.dedup();
            sorted.push(known.then_some(&rows))?;
        }
        Ok((list, sorted))
    }
}

fn reserve_text(text: &mut String, more: usize) -> Result<()> {
    Ok(text.try_reserve(more).map_err(|_| Error::OutOfMemory { doing: DOING })?)
}

/// Adds the documents of a segment that may be similar to a changed one; a thread keeps pairs of so many bytes.
fn look(
    lists: &str,
    header: Header,
    (changed, words, most): (&Changed, usize, usize),
    workers: &BackendWorkers,
    others: &mut Others<'_>,
) -> Result<()> {
    /// Bytes of parts that are shared out at one time.
    const PIECE: usize = 4 << 20;
    let Header { segment, parts: all, .. } = header;
    let documents = documents(lists, header, words)?;
    let comparison = changed.against(&documents)?;
    let count = documents.sizes.len();
    let mut found: Vec<Found> = (0..workers.count()).map(|_| Found::new(count, most)).collect();
    let wanted = changed.parts(all)?;
    let (mut pending, mut bytes) = (Vec::new(), 0);
    parts(lists, segment, Some(&wanted).filter(|wanted| wanted.len() < all).map(Vec::as_slice), |part| {
        bytes += part.len();
        memory::push(&mut pending, part, DOING)?;
        if bytes > PIECE {
            compare(&comparison, &pending, &mut found, workers)?;
            pending.clear();
            bytes = 0;
        }
        Ok(())
    })?;
    compare(&comparison, &pending, &mut found, workers)?;

    let (places, partners) = together(found, changed, workers)?;
    let mut blocks: Vec<u32> = places.iter().map(|place| place / BLOCK as u32).collect();
    blocks.dedup();
    let mut next = 0;
    ids(lists, segment, Some(&blocks), |block, ids| {
        while let Some(&place) = places.get(next).filter(|&&place| place as usize / BLOCK == block) {
            if let Some(&id) = ids.get(place as usize % BLOCK) {
                // SAFETY: a text of ours.
                let id = encoding::to_utf8(unsafe { varlena_bytes(id) })?.unwrap_or_default();
                others.add(&id, partners.of(next))?;
            }
            next += 1;
        }
        Ok(())
    })
}

fn compare(
    comparison: &Comparison<'_>,
    parts: &[Vec<u8>],
    found: &mut [Found],
    workers: &BackendWorkers,
) -> Result<()> {
    if parts.is_empty() {
        return Ok(());
    }
    let share = parts.len().div_ceil(found.len());
    let mut shares: Vec<(&mut Found, &[Vec<u8>])> = found.iter_mut().zip(parts.chunks(share)).collect();
    let work = |(found, parts): &mut (&mut Found, &[Vec<u8>]), stop: &Stop| {
        while let Some((part, rest)) = parts.split_first() {
            comparison.compare(part, found, stop)?;
            *parts = rest;
        }
        Ok(())
    };
    Ok(workers::each(workers, &mut shares, work)?)
}
