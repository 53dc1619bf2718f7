//! How far a search for passages is.

/// Where a search is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Phase {
    /// Making the signatures of sentences.
    Signing,
    /// Joining distinct sets of them.
    Joining,
    /// Listing the pairs of those that stand in documents.
    Pairing,
    /// Sorting these.
    Sorting,
}

/// Called with where a search is, and which share of that is done.
pub type Progress<'a> = &'a mut dyn FnMut((Phase, f64));
