//! Chooses the instructions that kernels may use. A kernel that needs special instructions is in a
//! list of kernels that return the same answers; the first kernel of the list needs no special
//! instructions. The program chooses a kernel from the list when it runs.
//!
//! The environment variable `NEARDUP_TEST_INSTRUCTIONS` is for tests: it names the greatest
//! instruction set that may be used, even if the processor has a greater one. So one machine can
//! test the code that runs on machines with fewer instructions. Answers depend neither on the
//! variable nor on the processor.

use std::sync::OnceLock;

/// A set of instructions that kernels need, in the order in which processors came to have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Instructions {
    /// The instructions that every processor has.
    Portable,
    /// The instruction that counts bits.
    Popcnt,
    /// Vectors of 256 bits, and the bit count.
    Avx2,
    /// Vectors of 512 bits with operations on bytes, and the bit count.
    Avx512,
    /// Vectors of 512 bits, and the bit count in each of their words.
    Avx512Popcnt,
}

/// A kernel with the instructions that it needs.
pub type KernelNeeding<K> = (Instructions, K);

impl Instructions {
    /// All sets of instructions, the least first.
    pub const ALL: [Self; 5] = [Self::Portable, Self::Popcnt, Self::Avx2, Self::Avx512, Self::Avx512Popcnt];

    /// Returns the name of the set, as it is used in `NEARDUP_TEST_INSTRUCTIONS` and elsewhere.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Popcnt => "popcnt",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Avx512Popcnt => "avx512-popcnt",
        }
    }

    /// Reports whether the processor has all instructions of the set.
    pub fn is_of_processor(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return match self {
            Self::Portable => true,
            Self::Popcnt => is_x86_feature_detected!("popcnt"),
            Self::Avx2 => is_x86_feature_detected!("avx2") && Self::Popcnt.is_of_processor(),
            Self::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && Self::Popcnt.is_of_processor()
            }
            Self::Avx512Popcnt => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512vpopcntdq")
                    && Self::Popcnt.is_of_processor()
            }
        };
        #[cfg(not(target_arch = "x86_64"))]
        matches!(self, Self::Portable)
    }

    /// Reports whether kernels may use the set: the processor has it, and the limit of a test does
    /// not exclude it. It costs one load.
    #[inline]
    pub fn available(self) -> bool {
        static CHOSEN: OnceLock<u8> = OnceLock::new();
        let chosen = CHOSEN.get_or_init(|| {
            let limit = std::env::var("NEARDUP_TEST_INSTRUCTIONS").ok();
            chosen(limit.as_deref(), Self::is_of_processor)
        });
        chosen & self.bit() != 0
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// Returns the bits of the sets that may be used, under an optional limit. An unknown name limits
/// nothing.
fn chosen(limit: Option<&str>, has: impl Fn(Instructions) -> bool) -> u8 {
    let named = |of: &Instructions| Some(of.name()) == limit;
    let most = Instructions::ALL.into_iter().find(named).unwrap_or(Instructions::Avx512Popcnt);
    let usable = |of: &Instructions| *of == Instructions::Portable || (*of <= most && has(*of));
    Instructions::ALL.into_iter().filter(usable).fold(0, |bits, of| bits | of.bit())
}

/// Makes a function for a list of kernels from one that is compiled for some instructions, whose
/// arguments have these names.
#[cfg(target_arch = "x86_64")]
macro_rules! listed {
    ($kernel:path, $($argument:ident),+) => {
        // SAFETY: of a list only those kernels are taken whose instructions the processor has.
        |$($argument),+| unsafe { $kernel($($argument),+) }
    };
}
#[cfg(target_arch = "x86_64")]
pub(super) use listed;

/// Returns the last kernel whose instructions are [available](Instructions::available). It is the
/// fastest one, because a list begins with the kernel that needs no special instructions and ends
/// with the fastest kernel.
#[inline]
pub fn fastest<K: Copy>(kinds: &[KernelNeeding<K>]) -> K {
    let mut fastest = kinds[0].1;
    for &(needs, kernel) in &kinds[1..] {
        if needs.available() {
            fastest = kernel;
        }
    }
    fastest
}

/// Returns the kernels that this processor can run, with their names, even if a test sets a lower
/// limit. Tests compare them with the first kernel, and benchmarks measure them.
pub fn runnable<K: Copy>(kinds: &[KernelNeeding<K>]) -> impl Iterator<Item = (&'static str, K)> {
    let can_run = kinds.iter().filter(|(needs, _)| needs.is_of_processor());
    can_run.map(|&(needs, kernel)| (needs.name(), kernel))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Reports the kernels that no test on this machine compares with the portable ones.
    #[test]
    fn what_this_processor_cannot_run_is_said() {
        for needs in Instructions::ALL.into_iter().filter(|needs| !needs.is_of_processor()) {
            // Writes past the test harness, which captures what a test prints.
            let said = writeln!(
                std::io::stderr().lock(),
                "skipped: kernels for {}, which this processor does not have",
                needs.name()
            );
            assert!(said.is_ok());
        }
        // With a misspelt limit the test run would limit nothing.
        if let Ok(limit) = std::env::var("NEARDUP_TEST_INSTRUCTIONS") {
            let of = Instructions::ALL.into_iter().find(|of| of.name() == limit);
            let of = of.unwrap_or_else(|| panic!("NEARDUP_TEST_INSTRUCTIONS: {limit} is none"));
            assert!(of.is_of_processor(), "NEARDUP_TEST_INSTRUCTIONS: {limit} is not of this processor");
            assert!(Instructions::ALL.into_iter().all(|other| !other.available() || other <= of));
        }
    }

    #[test]
    fn a_limit_takes_nothing_that_the_processor_lacks() {
        use Instructions::{Avx2, Avx512, Avx512Popcnt, Popcnt, Portable};
        let bits = |of: &[Instructions]| of.iter().fold(0, |bits, of| bits | of.bit());
        let old = |of| of <= Popcnt;
        assert_eq!(chosen(None, old), bits(&[Portable, Popcnt]));
        assert_eq!(chosen(Some("avx512"), old), bits(&[Portable, Popcnt]));
        assert_eq!(chosen(Some("portable"), |_| true), bits(&[Portable]));
        assert_eq!(chosen(Some("avx2"), |_| true), bits(&[Portable, Popcnt, Avx2]));
        assert_eq!(chosen(Some("none"), |_| true), bits(&Instructions::ALL));
        // The two are independent: some processors have only one of them.
        assert_eq!(chosen(None, |of| of != Avx512), bits(&[Portable, Popcnt, Avx2, Avx512Popcnt]));
        assert_eq!(chosen(None, |_| false), bits(&[Portable]));
    }

    #[test]
    fn the_last_that_is_available_is_taken() {
        let kinds = Instructions::ALL.map(|of| (of, of));
        let last = Instructions::ALL.into_iter().rfind(|of| of.available());
        assert_eq!(Some(fastest(&kinds)), last);
        assert_eq!(fastest(&kinds[..1]), Instructions::Portable);
    }
}
