//! What can go wrong in the core. `src/pg/server/error.rs` turns each of these into an SQLSTATE with a hint.

/// An error of the core: a bad parameter, a limit of the machine, or a request to stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A parameter has a value outside its range.
    #[error("{name} must be {allowed}, not {value}")]
    Parameter {
        /// The parameter as the caller knows it.
        name: &'static str,
        /// The value that was given.
        value: String,
        /// The values that would do, in words.
        allowed: &'static str,
    },
    /// The allocator refused memory for data; the call ends, the process does not.
    #[error("out of memory while {doing}")]
    OutOfMemory {
        /// What the memory was for.
        doing: &'static str,
    },
    /// More of something than the 32-bit numbers that count it can hold.
    #[error("too many {what}: at most {limit} fit into one call")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How many there may be.
        limit: u64,
    },
    /// Two sketches that were made in different ways: a comparison would mean nothing.
    #[error("unlike values of type {what} cannot be compared: one has {a}, the other {b}")]
    Unlike {
        /// The type of both.
        what: &'static str,
        /// How one of them was made.
        a: String,
        /// How the other one was made.
        b: String,
    },
    /// Bytes or a text that should be a value of one of our types, and are not.
    #[error("not a value of type {what}: {why}")]
    Malformed {
        /// The type.
        what: &'static str,
        /// What is wrong.
        why: String,
    },
    /// A text that is stored packed, in bytes that are of no text by that packing.
    #[error("a packed text is damaged")]
    Damaged,
    /// Bytes that should be a text, and are not.
    #[error("a text is not valid UTF-8")]
    NotText,
    /// Two texts so long and so different that their comparison would take hours.
    #[error("two texts of {characters} characters together have too little in common to be compared exactly")]
    TooDifferent {
        /// The characters of both that are left when what they begin and end with is taken off.
        characters: u64,
    },
    /// The call was asked to stop (see [`crate::executor::Stop`]); its work can be taken up again.
    #[error("stopped")]
    Stopped,
    /// A temporary file did not do what it should.
    #[error("could not {doing} a temporary file")]
    File {
        /// What it should do.
        doing: &'static str,
    },
    /// What documents come from failed, for a reason of its own: it has kept that for the caller
    /// (see [`crate::methods::documents::Documents`]).
    #[error("documents could not be read")]
    Source,
    /// A transaction that plans and carries out came to what it knew before: a step has told
    /// nothing, and nothing would end.
    #[error("a plan would be carried out for ever, as its steps tell nothing: {steps}")]
    NothingLearnt {
        /// What was planned.
        steps: String,
    },
    /// The operating system gave no thread to work on.
    #[error("could not start a worker thread: {0}")]
    Thread(String),
}

/// Results of the core.
pub type Result<T> = std::result::Result<T, Error>;
