//! A sample of the documents of a source. A hash of the ids chooses its rows, so the sample does
//! not depend on the order of the rows, and views and foreign tables can be sampled, too.

use pgrx::{FromDatum, IntoDatum, pg_sys};

use super::source::DocumentSource;
use crate::pg::query::{Parameter, Query};
use crate::pg::server::activity::processor_seconds;
use crate::pg::server::error::Result;

/// The number of bits of the hash that chooses the rows of a sample.
const HASH_BITS: u32 = 30;

/// The sample of a call: the number of all documents, and the limit of the hashes of the sampled
/// documents.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallSample {
    /// The number of all documents.
    pub documents: u64,
    below: i64,
    by: Hash,
}

/// The hash of an id that chooses rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hash {
    /// Of the id as a text: for ids of any type, and the same for equal ids of different types.
    OfText,
    /// Of the id itself, of a type that has a hash. Servers of postgres_fdw compute it.
    OfValue,
}

impl CallSample {
    /// Decides on the sample of a source: `asked` documents on average, or the hundredth part, at
    /// least 25,000 and at most 100,000 documents. It counts the rows of the source.
    pub(crate) fn new(source: &DocumentSource, asked: Option<u64>) -> Result<Self> {
        const LEAST: u64 = 25_000;
        const MOST: u64 = 100_000;
        let documents = count(source, None)?;
        let wanted = asked.unwrap_or((documents / 100).clamp(LEAST, MOST));
        Ok(Self { documents, below: 1 << HASH_BITS, by: Hash::OfText }.at_most(wanted))
    }

    /// Decides on a sample of `wanted` documents on average, chosen by a hash. `counted` is the
    /// number of all documents, if it is known.
    pub(crate) fn by(source: &DocumentSource, by: Hash, wanted: u64, counted: Option<u64>) -> Result<Self> {
        let documents = counted.map_or_else(|| count(source, None), Ok)?;
        Ok(Self { documents, below: 1 << HASH_BITS, by }.at_most(wanted))
    }

    /// Returns half of the sample.
    #[must_use]
    pub(crate) fn half(self) -> Self {
        Self { below: (self.below / 2).max(1), ..self }
    }

    /// Reports whether a row with this hash is in the sample.
    pub(crate) fn has(self, hash: i64) -> bool {
        hash < self.below
    }

    /// Returns the SQL expression for the hash of a row of a source, and the limit of the hashes of
    /// the sample.
    pub(crate) fn hash(self, source: &DocumentSource) -> (String, i64) {
        (hash(source, self.by), self.below)
    }

    /// Restricts the sample to so many documents on average.
    pub(crate) fn at_most(self, wanted: u64) -> Self {
        let all = 1u64 << HASH_BITS;
        let below = match self.documents {
            few if few <= wanted => all,
            many => (u128::from(all) * u128::from(wanted) / u128::from(many)).max(1) as u64,
        };
        Self { below: self.below.min(below as i64), ..self }
    }

    /// Restricts a source to the sample.
    pub(crate) fn narrow(self, source: &DocumentSource) -> DocumentSource {
        match self.has_all() {
            true => source.clone(),
            false => source.only(&is_chosen(source, self.by), &[self.limit()], &[]),
        }
    }

    /// Returns the processor seconds of finding the rows of the sample among all rows, without
    /// reading their documents: none if the sample has all rows. Otherwise it reads all rows again.
    pub(crate) fn find_seconds(self, source: &DocumentSource) -> Result<f64> {
        if self.has_all() {
            return Ok(0.0);
        }
        let began = processor_seconds();
        count(source, Some(self))?;
        Ok(processor_seconds() - began)
    }

    /// Reports whether the sample has all documents.
    fn has_all(self) -> bool {
        self.below == 1 << HASH_BITS
    }

    /// Returns the parameter of the condition [`is_chosen`].
    fn limit(self) -> Parameter {
        (pg_sys::INT8OID, self.below.into_datum())
    }

    /// Returns how many documents stand for each document of the sample.
    pub(crate) fn scale(self) -> f64 {
        (1u64 << HASH_BITS) as f64 / self.below as f64
    }

    /// Returns the part of the memory that the sample may use.
    pub(crate) fn memory(self, memory: usize) -> usize {
        const LEAST: usize = 1 << 20;
        let part = (memory as u128 * self.below as u128) >> HASH_BITS;
        (part as usize).max(LEAST)
    }
}

/// Returns the SQL expression for the hash of a row of a source.
fn hash(source: &DocumentSource, by: Hash) -> String {
    let hash = match by {
        Hash::OfText => format!(
            "pg_catalog.hashtextextended(({})::pg_catalog.text COLLATE pg_catalog.\"C\", 7::pg_catalog.int8)",
            source.id
        ),
        Hash::OfValue => {
            format!("pg_catalog.hash_array_extended(ARRAY[{}], 7::pg_catalog.int8)", source.key)
        }
    };
    format!("({hash} OPERATOR(pg_catalog.&) {}::pg_catalog.int8)", (1i64 << HASH_BITS) - 1)
}

/// Returns the condition that a row of a source is in the sample.
fn is_chosen(source: &DocumentSource, by: Hash) -> String {
    format!("{} OPERATOR(pg_catalog.<) $1", hash(source, by))
}

/// Counts the rows of a source: all, or those of a sample that have a document.
fn count(source: &DocumentSource, of: Option<CallSample>) -> Result<u64> {
    let sql = match of {
        None => format!("SELECT pg_catalog.count(*) FROM {} AS d{}", source.table, source.condition(&[])),
        // The rows of the table are read for the column, also if an index has the ids.
        Some(sample) => format!(
            "SELECT pg_catalog.count({}) FROM {} AS d{}",
            source.column,
            source.table,
            source.condition(&[is_chosen(source, sample.by)])
        ),
    };
    let (relations, limit) = ([source.oid], of.map(CallSample::limit));
    let query = Query { relations: &relations, parameters: limit.as_slice(), ..Query::new(&sql) };
    let rows = query.run([pg_sys::INT8OID])?.first.and_then(|[rows]| rows);
    // SAFETY: the query was checked to return a bigint.
    let rows = rows.and_then(|rows| unsafe { i64::from_datum(rows, false) });
    Ok(rows.map_or(0, i64::unsigned_abs))
}
