//! Groups: what an index with group columns keeps of their values. It is a hash, which comes before
//! the sketch or the signatures of a row. A search passes over the rows of other groups, and hardly
//! meets them, because the signatures of a row depend on its group, too. Groups with equal hashes
//! are told apart by the server's recheck.

use neardup_core::hash;

/// The number of bytes of a group.
pub(crate) const GROUP: usize = size_of::<u64>();

/// The group of the rows of which a group column is NULL. Such a row is equal to no value, so it
/// has no signatures; only a search without a group finds it.
pub(crate) const NO_GROUP: u64 = 0;

/// The largest number of group columns.
pub(crate) const MOST_COLUMNS: usize = 2;

/// The bits of the signature that all rows of a group have, before the salt.
pub(crate) const OF_ALL: u64 = 0x9e8b_5d1c_47a3_f260;

/// Returns the bits that the signatures of a group exchange.
pub(crate) fn salt_of(group: u64) -> u64 {
    hash::mix(group)
}

/// The group that a search is for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SoughtGroup {
    /// The group.
    pub group: u64,
    /// The bits in which the signatures of its rows differ from those that the sketches have alone.
    pub salt: u64,
    /// The signature that all its rows have beside those of their sketches, without the salt, if
    /// they have such a one.
    pub of_all: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The signatures of groups are in indexes and must not change.
    #[test]
    fn pg_golden_groups() {
        assert_eq!((NO_GROUP, GROUP), (0, 8));
        assert_eq!((salt_of(7), OF_ALL ^ salt_of(7)), (0x63cb_e1e4_5932_0dd7, 0xfd40_bcf8_1e91_ffb7));
    }
}
