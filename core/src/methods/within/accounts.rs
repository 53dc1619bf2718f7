//! The account of several groups of rows together.

use crate::methods::account::{Account, DictionaryUse, Unsigned};

impl Account {
    /// Adds the account of another part of the work: of rows that are not compared with those of
    /// this part.
    pub(super) fn add(&mut self, other: &Self) {
        self.skipped_null += other.skipped_null;
        self.bytes += other.bytes;
        self.skipped_empty += other.skipped_empty;
        self.tokens += other.tokens;
        self.distinct_tokens += other.distinct_tokens;
        self.distinct_sets += other.distinct_sets;
        self.counts.add(&other.counts);
        self.peak_memory = self.peak_memory.max(other.peak_memory);
        if let Some(DictionaryUse { bytes, tokens, lone }) = other.dictionary {
            let known = self.dictionary.get_or_insert_default();
            *known = DictionaryUse {
                bytes: known.bytes.max(bytes),
                tokens: known.tokens + tokens,
                lone: known.lone + lone,
            };
        }
        self.promised_recall = other.promised_recall.or(self.promised_recall);
        self.add_recall(other.measured_recall, other.measured_by);
        self.handed_over |= other.handed_over;
        self.codes = self.codes.and(other.codes);
        let (count, of) = (self.unsigned.count + other.unsigned.count, self.unsigned.of + other.unsigned.of);
        self.unsigned = Unsigned { count, of, ..other.unsigned };
        self.short_texts.add_all(&other.short_texts);
        self.frequent.add(&other.frequent);
        // What is compared with all others is so within a part.
        if other.compared.texts > self.compared.texts {
            self.compared = other.compared;
        }
        if other.all_with_all.sketches > self.all_with_all.sketches {
            self.all_with_all = other.all_with_all;
        }
    }

    /// Adds a recall that was measured on so many other pairs.
    fn add_recall(&mut self, recall: Option<f64>, pairs: u64) {
        let Some(recall) = recall else { return };
        let (known, all) = (self.measured_by as f64, (self.measured_by + pairs).max(1) as f64);
        let found = self.measured_recall.unwrap_or(1.0) * known + recall * pairs as f64;
        self.measured_recall = Some(if self.measured_by + pairs == 0 { recall } else { found / all });
        self.measured_by += pairs;
    }
}
