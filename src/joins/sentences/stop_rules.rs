//! Which sentence signatures say nothing about the documents that have them (Huang et al., TLCS (CIKM 2008), section 3.2;
//! docs/design/algorithms.md section 5).

/// Which signatures are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopRules {
    /// Those of more documents than this.
    pub most_documents: u64,
    /// Those of more than this of which more than half are of one site.
    pub most_of_a_site: u64,
    /// Those of more documents than this, and than the square root of all documents or, where more than half are of one
    /// site, of the documents of this site, if of some pairs that are compared hardly any is similar. None where no pair
    /// is compared for that.
    pub tried_beyond: Option<u64>,
}

impl Default for StopRules {
    /// The published limits are those of 430 million pages. Smaller tables, and small sites, have frames, too.
    fn default() -> Self {
        Self { most_documents: 10_000, most_of_a_site: 400, tried_beyond: Some(64) }
    }
}

impl StopRules {
    /// Whether a signature of so many of `all` documents, those of the table or of a site, is tried. Where there are few
    /// `pairs` of them, of different texts, these are soon compared.
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
