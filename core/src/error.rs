//! Errors of the core. `src/pg/server/error.rs` turns each of them into an SQLSTATE with a hint.

/// An error of the core: a bad parameter, a limit of the machine, or a request to stop.
///
/// ```
/// use neardup_core::near_duplicates;
///
/// let error = near_duplicates(&["a", "b"], 1.5).unwrap_err();
/// assert_eq!(error.to_string(), "threshold must be greater than 0 and at most 1, not 1.5");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A parameter has a value outside its range.
    #[error("{name} must be {allowed}, not {value}")]
    Parameter {
        /// The name of the parameter, as the caller knows it.
        name: &'static str,
        /// The value that the caller gave.
        value: String,
        /// The values that are allowed, in words.
        allowed: &'static str,
    },
    /// The allocator refused memory for data. The call ends; the process goes on.
    #[error("out of memory while {doing}")]
    OutOfMemory {
        /// The purpose of the memory.
        doing: &'static str,
    },
    /// The call would hold more memory than it may, in data that has no place in temporary files.
    #[error("{doing} takes {needed} bytes, and the call may use {allowed}")]
    BeyondAllowance {
        /// The purpose of the memory that was refused.
        doing: &'static str,
        /// The number of bytes that the call would hold with it.
        needed: usize,
        /// The number of bytes that the caller allows.
        allowed: usize,
    },
    /// There is more of something than its 32-bit counter can hold.
    #[error("too many {what}: at most {limit} fit into one call")]
    TooMany {
        /// The thing of which there are too many.
        what: &'static str,
        /// The greatest count that is allowed.
        limit: u64,
    },
    /// Two sketches were made in different ways, so that comparing them would mean nothing.
    #[error("unlike values of type {what} cannot be compared: one has {a}, the other {b}")]
    Unlike {
        /// The type of both values.
        what: &'static str,
        /// How the first value was made.
        a: String,
        /// How the second value was made.
        b: String,
    },
    /// Bytes or a text do not form a valid value of one of our types.
    #[error("not a value of type {what}: {why}")]
    Malformed {
        /// The type of the value.
        what: &'static str,
        /// The reason why the value is invalid.
        why: String,
    },
    /// The bytes of a packed text are invalid: no text packs into them.
    #[error("a packed text is damaged")]
    Damaged,
    /// Bytes that should be a text are not valid UTF-8.
    #[error("a text is not valid UTF-8")]
    NotText,
    /// Two texts are so long and so different that their comparison would take hours.
    #[error("two texts of {characters} characters together have too little in common to be compared exactly")]
    TooDifferent {
        /// The number of characters of both texts without their common prefix and suffix.
        characters: u64,
    },
    /// The call was asked to stop (see [`Stop`](crate::Stop)). Its work can be resumed.
    #[error("stopped")]
    Stopped,
    /// An operation on a temporary file failed.
    #[error("could not {doing} a temporary file")]
    File {
        /// The operation.
        doing: &'static str,
    },
    /// The source of the documents failed for a reason of its own, which it keeps for the caller
    /// (the extension, when a query fails).
    #[error("documents could not be read")]
    Source,
    /// A transaction that plans steps, carries them out and plans again came back to an earlier
    /// state, or took too many turns. Its steps taught it nothing new, so the loop would never end.
    #[error("a plan would be carried out for ever, as its steps tell nothing: {steps}")]
    NothingLearnt {
        /// The steps of the plan.
        steps: String,
    },
    /// The operating system could not start a worker thread.
    #[error("could not start a worker thread: {0}")]
    Thread(String),
}

/// The result type of the core.
///
/// All fallible functions of this crate return it.
///
/// ```
/// let pairs: neardup_core::Result<_> = neardup_core::near_duplicates(&["a b", "b a"], 0.5);
/// assert_eq!(pairs.map(|pairs| pairs.len()), Ok(1));
/// ```
pub type Result<T> = std::result::Result<T, Error>;

/// Checks the version of the format of stored bytes, which are a value of type `what`.
pub(crate) fn check_version(what: &'static str, version: u8, known: u8) -> Result<()> {
    if version == known {
        return Ok(());
    }
    let why = format!("its format is version {version}, this neardup knows {known}");
    Err(Error::Malformed { what, why })
}

/// Splits stored bytes behind their header, whose first byte is the version of their format.
pub(crate) fn split_header<'a, const N: usize>(
    what: &'static str,
    bytes: &'a [u8],
    known: u8,
) -> Result<(&'a [u8; N], &'a [u8])> {
    bytes.first().map_or(Ok(()), |&version| check_version(what, version, known))?;
    let too_few = || Error::Malformed { what, why: format!("{} bytes are too few", bytes.len()) };
    bytes.split_first_chunk().ok_or_else(too_few)
}
