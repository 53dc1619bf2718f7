//! The rules by which sentence signatures say nothing about the documents that have them (Huang et
//! al., TLCS (CIKM 2008), section 3.2; docs/design/algorithms.md section 5).

/// The rules by which signatures are dropped.
///
/// Such signatures are those of the frames of sites: their documents are no candidates by them
/// alone.
///
/// ```
/// use neardup_core::StopRules;
///
/// let never_tried = StopRules { tried_beyond: None, ..StopRules::default() };
/// assert_eq!((never_tried.most_documents, never_tried.most_of_a_site), (10_000, 400));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopRules {
    /// A signature of more documents than this is dropped.
    pub most_documents: u64,
    /// A signature of more documents than this is dropped if more than half of them are of one
    /// site.
    pub most_of_a_site: u64,
    /// A signature is tried if it has more documents than this, and also more than the square root
    /// of the number of all documents or, if more than half are of one site, of the documents of
    /// this site. A trial compares some pairs, and the signature is dropped if hardly any is
    /// similar. `None` means that no signature is tried.
    pub tried_beyond: Option<u64>,
}

impl Default for StopRules {
    /// The published limits apply to 430 million pages. Smaller tables and small sites also have
    /// frames.
    fn default() -> Self {
        Self { most_documents: 10_000, most_of_a_site: 400, tried_beyond: Some(64) }
    }
}

#[cfg_attr(not(feature = "internals"), doc(hidden))]
impl StopRules {
    /// Reports whether a signature of `documents` of `all` documents, those of the table or of a
    /// site, is tried. If there are few `pairs` of different texts among them, comparing these is
    /// cheap and no trial is needed.
    pub fn is_tried(&self, documents: u64, all: u64, pairs: u64) -> bool {
        self.tried_beyond.is_some_and(|beyond| {
            documents > beyond.max(all.isqrt()) && pairs > beyond.saturating_mul(beyond) / 2
        })
    }
}

/// The site of each row, `u32::MAX` for rows without one.
pub type Sites<'a> = Option<&'a [u32]>;

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
