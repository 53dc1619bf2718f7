//! The progress of a search for passages.

/// The phase of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Phase {
    /// Making the signatures of sentences.
    Signing,
    /// Joining the distinct sets of signatures.
    Joining,
    /// Listing the pairs of sentences that the pairs of sets represent.
    Pairing,
    /// Sorting the pairs of sentences.
    Sorting,
}

/// Called with the phase of a search and the share of this phase that is done.
pub type SearchProgress<'a> = &'a mut dyn FnMut((Phase, f64));
