//! How many cases a property test has.

use proptest::prelude::ProptestConfig;

/// So many cases, or as many fewer as PROPTEST_CASES is below proptest's own 256: `make test` tries
/// a sixteenth of them, the tests before a merge all.
pub fn cases(whole: u32) -> ProptestConfig {
    let share = ProptestConfig::default().cases;
    ProptestConfig::with_cases((u64::from(whole) * u64::from(share) / 256).max(1) as u32)
}
