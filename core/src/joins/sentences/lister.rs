//! The documents of one signature: the decision whether they are compared, by rules that tell which
//! signatures say nothing about the documents that have them (Huang et al., TLCS (CIKM 2008),
//! section 3.2; docs/design/algorithms.md section 5), and their list.

use std::collections::HashMap;

use super::signature_lists::{DOING, SignatureLists};
use crate::error::Result;
use crate::features::sets::members::Members;
use crate::features::texts::Distinct;
use crate::memory;

/// The rules by which signatures are dropped.
///
/// Such signatures are those of the frames of sites. Documents that share only such signatures are
/// not candidates.
///
/// ```
/// use neardup_core::parameters::StopRules;
///
/// let never_tried = StopRules { tried_beyond: None, ..StopRules::default() };
/// assert_eq!((never_tried.most_documents, never_tried.most_of_a_site), (10_000, 400));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopRules {
    /// A signature of more documents than this is dropped.
    pub most_documents: u64,
    /// A signature of more documents than this is dropped if more than half of these documents are
    /// of one site.
    pub most_of_a_site: u64,
    /// A signature is tried if it has more documents than this, and also more documents than the
    /// square root of the number of all documents. If more than half of its documents are of one
    /// site, only the documents of this site are counted as all documents. A trial compares some
    /// pairs, and the signature is dropped if hardly any is similar. `None` means that no signature
    /// is tried.
    pub tried_beyond: Option<u64>,
}

impl Default for StopRules {
    /// Returns the published limits, which are for 430 million pages. Because smaller tables and
    /// small sites have pages with frames, too, frequent signatures are also tried.
    fn default() -> Self {
        Self { most_documents: 10_000, most_of_a_site: 400, tried_beyond: Some(64) }
    }
}

#[cfg_attr(not(feature = "internals"), doc(hidden))]
impl StopRules {
    /// Reports whether a signature is tried that `documents` of `all` documents have. `all` are the
    /// documents of the table or of a site. If the signature gives few `pairs` of different texts,
    /// comparing all these pairs is cheap, and no trial is needed.
    pub fn is_tried(&self, documents: u64, all: u64, pairs: u64) -> bool {
        self.tried_beyond.is_some_and(|beyond| {
            documents > beyond.max(all.isqrt()) && pairs > beyond.saturating_mul(beyond) / 2
        })
    }

    /// Decides on a signature that `documents` of `all` documents have, with `pairs` of different
    /// texts. `of_site` returns the number of all documents of the site to which more than half of
    /// them belong, if there is one.
    pub(crate) fn verdict(
        &self,
        [documents, all, pairs]: [u64; 3],
        of_site: impl FnOnce() -> Result<Option<u64>>,
    ) -> Result<Verdict> {
        if documents > self.most_documents {
            return Ok(Verdict::Dropped);
        }
        // With at most this many documents, none of the rules that depend on the site applies.
        let least = self.most_of_a_site.min(self.tried_beyond.unwrap_or(u64::MAX));
        let of_site = if documents > least { of_site()? } else { None };
        let tried = self.is_tried(documents, of_site.unwrap_or(all), pairs);
        Ok(match of_site {
            Some(_) if documents > self.most_of_a_site => Verdict::Dropped,
            _ if tried => Verdict::Tried,
            _ => Verdict::Kept,
        })
    }
}

/// The site of each row, `u32::MAX` for rows without a site.
pub type RowSites<'a> = Option<&'a [u32]>;

/// The hash of a signature, and the number of a document that has the signature. If the hash is
/// that of a whole text, [`WHOLE`] is set in addition to the document's number.
pub(super) type SignedDocument = [u64; 2];
/// Marks the hash as that of a whole text.
pub(super) const WHOLE: u64 = 1 << 32;

/// The decision on a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The documents of the signature form a list.
    Kept,
    /// The signature has too many documents and is dropped.
    Dropped,
    /// The signature has many documents, which form a list only if enough of them are similar.
    Tried,
}

/// Builds lists from entries.
pub(super) struct ListMaker<'a> {
    distinct: &'a Distinct,
    rules: StopRules,
    sites: RowSites<'a>,
    /// The number of rows of all tables that have a text. `rows_of_site` has the number of rows of
    /// each site.
    rows: u64,
    rows_of_site: Vec<u64>,
}

impl<'a> ListMaker<'a> {
    pub(super) fn new(distinct: &'a Distinct, rules: StopRules, sites: RowSites<'a>) -> Result<Self> {
        let mut lister = Self { distinct, rules, sites, rows: 0, rows_of_site: Vec::new() };
        let texts = distinct.texts.len() as u32;
        lister.rows = (0..texts).map(|text| lister.rows(text).len() as u64).sum();
        lister.rows_of_site = count_sites(sites.unwrap_or_default())?;
        Ok(lister)
    }

    /// Returns the rows that have a text.
    pub(super) fn rows(&self, document: u32) -> &[u32] {
        Members::of_either(&self.distinct.left, self.distinct.right.as_ref(), document)
    }

    /// Counts the rows that have a signature, given its entries.
    fn documents(&self, entries: &[SignedDocument]) -> u64 {
        entries.iter().map(|entry| self.rows(entry[1] as u32).len() as u64).sum()
    }

    /// Splits entries into those of the left table and those of the right table.
    pub(super) fn sides<'e>(&self, entries: &'e [SignedDocument]) -> [&'e [SignedDocument]; 2] {
        // Entries are sorted by document; those of whole texts come last.
        let split = self.distinct.left.len() as u64;
        let lefts = entries.partition_point(|entry| entry[1] < split);
        [&entries[..lefts], &entries[lefts..]]
    }

    /// Counts the pairs of different texts among the entries.
    fn pairs(&self, entries: &[SignedDocument]) -> u64 {
        let [lefts, rights] = self.sides(entries).map(|side| side.len() as u64);
        if self.distinct.right.is_some() { lefts * rights } else { lefts * lefts.saturating_sub(1) / 2 }
    }

    /// Decides on a signature, given its entries.
    pub(super) fn verdict(&self, entries: &[SignedDocument]) -> Result<Verdict> {
        if entries.iter().any(|entry| entry[1] & WHOLE != 0) {
            return Ok(Verdict::Kept);
        }
        let documents = self.documents(entries);
        self.rules.verdict([documents, self.rows, self.pairs(entries)], || {
            let Some(sites) = self.sites else { return Ok(None) };
            let rows = entries.iter().flat_map(|entry| self.rows(entry[1] as u32));
            let site = most_common(rows.map(|&row| sites[row as usize]), documents)?;
            Ok(site.map(|site| self.rows_of_site[site]))
        })
    }

    /// Adds the list of a signature, given its entries, unless the signature is dropped.
    pub(super) fn add(
        &self,
        entries: &[SignedDocument],
        dropped: bool,
        lists: &mut SignatureLists,
    ) -> Result<()> {
        if !entries.iter().any(|entry| entry[1] & WHOLE != 0) {
            lists.signatures += entries.len() as u64;
            lists.distinct += 1;
            if dropped {
                lists.dropped.signatures += 1;
                lists.dropped.documents += self.documents(entries);
                return Ok(());
            }
            entries.iter().for_each(|entry| lists.weigh(entry[1] as u32));
        }
        let split = self.distinct.left.len() as u32;
        let document = |entry: &SignedDocument| entry[1] as u32;
        let lefts = entries.iter().filter(|entry| document(entry) < split).count();
        // With two tables, the list must have documents of both.
        let useful =
            if self.distinct.right.is_some() { 0 < lefts && lefts < entries.len() } else { lefts > 1 };
        if !useful {
            return Ok(());
        }
        lists.push(entries.iter().map(document))
    }
}

/// Returns the site that more than half of so many documents belong to, if there is one.
pub(crate) fn most_common(sites: impl Iterator<Item = u32>, documents: u64) -> Result<Option<usize>> {
    let mut of_site: HashMap<u32, u64> = HashMap::new();
    for site in sites.filter(|&site| site != u32::MAX) {
        memory::attempt(DOING, || of_site.try_reserve(1))?;
        *of_site.entry(site).or_insert(0) += 1;
    }
    let most = of_site.into_iter().find(|&(_, of_site)| 2 * of_site > documents);
    Ok(most.map(|(site, _)| site as usize))
}

/// Returns the number of rows of each site.
pub(crate) fn count_sites(sites: &[u32]) -> Result<Vec<u64>> {
    let mut rows = Vec::new();
    for site in sites.iter().filter(|&&site| site != u32::MAX).map(|&site| site as usize) {
        memory::lengthen(&mut rows, 0, site + 1, DOING)?;
        rows[site] += 1;
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_grow_with_the_table_up_to_the_published_one() {
        let rules = StopRules::default();
        for (all, limit) in [(1, 64), (4000, 64), (10_000, 100), (1_000_000, 1000), (100_000_000, 10_000)] {
            let pairs = (limit + 1) * limit / 2;
            assert!(!rules.is_tried(limit, all, pairs) && rules.is_tried(limit + 1, all, pairs), "{all}");
            assert!(!rules.is_tried(limit + 1, all, 64));
        }
        assert!(!StopRules { tried_beyond: None, ..rules }.is_tried(u64::MAX, 1, u64::MAX));
    }
}
