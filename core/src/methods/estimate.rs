//! Estimates the work of a method on all documents from its work on a sample of them.
//!
//! Each document is in the sample with the same probability, independently of all others. So the
//! sample has the same share of all pairs as of all pairs of documents: s(s − 1) / N(N − 1), for s
//! of N documents. Pairs, and the work for each compared pair, are those of the sample divided by
//! this share; the work for each document is divided by s / N. To find the documents of a sample,
//! all rows are read: this work counts once. The estimate of the pairs is unbiased. Its relative
//! standard error is about one divided by the square root of the number of pairs in the sample, and
//! larger if few documents are in most of the pairs.
//!
//! If all documents do not fit in the memory of the call, the sample has this memory times s / N,
//! so that it goes to temporary files where the call does.
//!
//! Memory is that of the sample divided by s / N, but for the dictionary: tokens repeat, so that
//! there are fewer new ones the more documents have been read. Their number grows with a power of
//! the number of documents whose exponent is the share of the tokens that are in one document only
//! (Heaps' law, for frequencies that follow Zipf's law).

use super::account::{Account, DictionaryUse};

/// The seconds that the filters take for one pair: a comparison of two bitmaps or two positions.
const FILTERED: f64 = 2e-9;
/// The seconds that the comparison of two sets or of two sketches takes.
const COMPARED: f64 = 100e-9;

/// The method's work on a sample.
#[derive(Debug, Clone, Default)]
pub struct SampleRun {
    /// The number of all documents.
    pub documents: u64,
    /// The number of bytes of memory that the call may use.
    pub memory: u64,
    /// The account of the method on the sample, with its counts and pairs.
    pub account: Account,
    /// The number of pairs that were known before the join.
    pub certain_pairs: u64,
    /// The share of the join after which it was ended, above 0 and at most 1.
    pub joined: f64,
    /// The number of bytes of the sampled texts.
    pub text_bytes: u64,
    /// The greatest number of bytes that were in temporary files at a time.
    pub temporary_bytes: u64,
    /// The processor seconds of finding the rows of the sample among all rows.
    pub find_seconds: f64,
    /// The processor seconds of reading, with finding the rows, and of preparing the join.
    pub read_seconds: f64,
    /// The processor seconds of the join.
    pub join_seconds: f64,
    /// Set if the method compares texts with each other, so that comparing pairs is most of the
    /// join.
    pub compares_texts: bool,
}

/// The estimated work on all documents.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Estimate {
    /// The number of pairs.
    pub pairs: u64,
    /// The number of candidates, or of compared pairs if the method has no other candidates.
    pub candidates: u64,
    /// The number of bytes of all texts.
    pub text_bytes: u64,
    /// The number of bytes of memory in use.
    pub memory: u64,
    /// The number of bytes in temporary files.
    pub temporary_bytes: u64,
    /// The processor seconds.
    pub cpu_seconds: f64,
}

impl SampleRun {
    /// Returns the estimate for all documents. O(1).
    pub fn estimate(&self) -> Estimate {
        let sampled = self.account.documents;
        if sampled == 0 {
            return Estimate::default();
        }
        let all = self.documents.max(sampled) as f64;
        let documents = all / sampled as f64;
        let joined = self.joined.clamp(f64::MIN_POSITIVE, 1.0);
        // The pairs of all documents for each pair of documents of the sample.
        let pairs = documents * (all - 1.0) / (sampled as f64 - 1.0).max(1.0);
        let found = self.account.pairs.saturating_sub(self.certain_pairs) as f64 / joined;
        let counts = self.account.counts;
        let candidates = counts.candidates.max(counts.verified);
        let compared = match self.compares_texts {
            true => self.join_seconds,
            false => {
                let filtered = counts.pruned_by_bitmap + counts.pruned_by_position + counts.candidates;
                let seconds = FILTERED * filtered as f64 + COMPARED * counts.verified as f64;
                seconds.min(self.join_seconds)
            }
        };
        let each = (self.read_seconds - self.find_seconds).max(0.0) + (self.join_seconds - compared) / joined;
        let most = if documents > 1.0 { self.memory as f64 } else { f64::INFINITY };
        Estimate {
            pairs: whole((self.certain_pairs as f64 + found) * pairs),
            candidates: whole(candidates as f64 / joined * pairs),
            text_bytes: whole(self.text_bytes as f64 * documents),
            memory: whole(self.peak_memory(documents).min(most)),
            temporary_bytes: whole(self.temporary_bytes as f64 * documents),
            cpu_seconds: self.find_seconds + each * documents + compared / joined * pairs,
        }
    }

    /// Reports whether the memory of the call is enough for everything that is held of all
    /// documents, or the sample has all of them.
    pub fn fits_in_memory(&self) -> bool {
        let documents = self.documents.max(1) as f64 / self.account.documents.max(1) as f64;
        documents <= 1.0 || self.peak_memory(documents) <= self.memory as f64
    }

    /// Returns the bytes of memory for this many times the documents of the sample.
    fn peak_memory(&self, documents: f64) -> f64 {
        let peak = self.account.peak_memory as f64;
        let DictionaryUse { bytes, tokens, lone } = self.account.dictionary.unwrap_or_default();
        let dictionary = (bytes as f64).min(peak);
        let exponent = if tokens > 0 { lone.min(tokens) as f64 / tokens as f64 } else { 1.0 };
        (peak - dictionary) * documents + dictionary * documents.powf(exponent)
    }
}

/// Rounds a number that is not negative; a number that is too large becomes the largest bigint.
fn whole(number: f64) -> u64 {
    // A conversion of a float saturates.
    (number.round() as u64).min(i64::MAX as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::joins::Counts;
    use proptest::prelude::*;

    fn run(documents: u64, sampled: u64, pairs: u64, verified: u64) -> SampleRun {
        let counts = Counts { candidates: 2 * verified, verified, ..Counts::default() };
        let account =
            Account { documents: sampled, pairs, counts, peak_memory: 1 << 20, ..Account::default() };
        SampleRun {
            documents,
            account,
            memory: 1 << 22,
            certain_pairs: 0,
            joined: 1.0,
            text_bytes: 10 * sampled,
            temporary_bytes: 5,
            find_seconds: 0.0,
            read_seconds: 1.0,
            join_seconds: 0.5,
            compares_texts: false,
        }
    }

    #[test]
    fn a_sample_of_all_documents_is_the_call() {
        let estimate = run(100, 100, 7, 9).estimate();
        let expected = Estimate {
            pairs: 7,
            candidates: 18,
            text_bytes: 1000,
            memory: 1 << 20,
            temporary_bytes: 5,
            cpu_seconds: estimate.cpu_seconds,
        };
        assert_eq!(estimate, expected);
        assert!((estimate.cpu_seconds - 1.5).abs() < 1e-9);
    }

    #[test]
    fn pairs_grow_with_the_square_and_documents_do_not() {
        let estimate = run(1000, 100, 7, 1_000_000).estimate();
        // 999,000 pairs of documents for 9,900 of the sample.
        assert_eq!((estimate.pairs, estimate.candidates), (706, 201_818_182));
        assert_eq!((estimate.text_bytes, estimate.temporary_bytes, estimate.memory), (10_000, 50, 1 << 22));
        // 0.104 of the 0.5 seconds of the join were spent on pairs.
        assert!((estimate.cpu_seconds - (10.0 * 1.396 + 0.104 * 999.0 / 9.9)).abs() < 1e-6, "{estimate:?}");
        // Of the second of reading, 0.6 were spent on finding the sample among all rows.
        let found = SampleRun { find_seconds: 0.6, ..run(1000, 100, 7, 0) }.estimate();
        assert!((found.cpu_seconds - (0.6 + 10.0 * 0.9)).abs() < 1e-9, "{found:?}");
        let texts = SampleRun { compares_texts: true, ..run(1000, 100, 7, 0) }.estimate();
        assert!((texts.cpu_seconds - (10.0 + 0.5 * 999.0 / 9.9)).abs() < 1e-9);
    }

    #[test]
    fn the_dictionary_grows_more_slowly_than_the_documents() {
        let of = |lone, documents| {
            let mut sample = run(documents, 100, 7, 9);
            sample.memory = u64::MAX;
            let dictionary = DictionaryUse { bytes: 80_000, tokens: 1000, lone };
            sample.account = Account { dictionary: Some(dictionary), ..sample.account };
            sample.estimate().memory
        };
        let (sample, dictionary) = (1 << 20, 80_000);
        assert_eq!(run(1600, 100, 7, 9).estimate().memory, 1 << 22);
        // All tokens are new, and none of them is.
        assert_eq!(of(1000, 1600), 16 * sample);
        assert_eq!(of(0, 1600), 16 * sample - 15 * dictionary);
        assert_eq!(of(500, 1600), 16 * sample - 12 * dictionary);
        for lone in [0, 500, u64::MAX] {
            assert_eq!(of(lone, 100), sample);
        }
        // The memory is 4 MB, and the sample took 1 MB.
        assert!(run(400, 100, 7, 9).fits_in_memory() && run(100, 100, 7, 9).fits_in_memory());
        assert!(!run(401, 100, 7, 9).fits_in_memory() && SampleRun::default().fits_in_memory());
    }

    #[test]
    fn a_join_that_was_ended_counts_as_if_it_went_on() {
        let estimate = SampleRun { joined: 0.25, certain_pairs: 3, ..run(100, 100, 7, 9) }.estimate();
        assert_eq!((estimate.pairs, estimate.candidates), (3 + 4 * 4, 4 * 18));
        assert_eq!(SampleRun { joined: 0.0, ..run(1 << 60, 1, 1, 1) }.estimate().pairs, i64::MAX as u64);
        assert_eq!(SampleRun::default().estimate(), Estimate::default());
    }

    proptest! {
        /// The mean of the estimates of all samples of some size is the number of pairs.
        #[test]
        fn the_estimate_of_pairs_is_unbiased(groups in prop::collection::vec(0..4u32, 2..12), size in 2..12u32) {
            let count = |sample: u32| {
                let of = |group: u32| {
                    let chosen = groups.iter().enumerate().filter(|&(n, &own)| sample >> n & 1 == 1 && own == group);
                    chosen.count() as u64
                };
                (0..4).map(|group| of(group) * of(group).saturating_sub(1) / 2).sum::<u64>()
            };
            let (documents, size) = (groups.len() as u64, size.min(groups.len() as u32));
            let (mut sum, mut samples) = (0u64, 0u64);
            for sample in (0..1u32 << groups.len()).filter(|sample| sample.count_ones() == size) {
                // Hundredfold, as the estimate is rounded.
                sum += SampleRun { joined: 1.0, ..run(documents, size.into(), 100 * count(sample), 0) }.estimate().pairs;
                samples += 1;
            }
            let (mean, all) = (sum as f64 / samples as f64, 100 * count(u32::MAX));
            prop_assert!((mean - all as f64).abs() <= 1.0, "{mean} {all}");
        }
    }
}
