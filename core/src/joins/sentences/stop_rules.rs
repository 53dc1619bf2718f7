//! The rules that tell which sentence signatures say nothing about the documents that have them
//! (Huang et al., TLCS (CIKM 2008), section 3.2; docs/design/algorithms.md section 5).

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
}

/// The site of each row, `u32::MAX` for rows without a site.
pub type RowSites<'a> = Option<&'a [u32]>;

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
