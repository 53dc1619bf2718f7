//! Whether an evaluation is to look at a small share of its inputs only.

/// Whether `NEARDUP_EVALUATE` asks for the small form: enough to see that a program runs, and that
/// key figures stay in bounds.
pub fn small() -> bool {
    std::env::var_os("NEARDUP_EVALUATE").is_some_and(|form| form == "small")
}
