//! Precision and recall of characters.

use std::ops::AddAssign;

use crate::bootstrap::Part;

/// Characters found and planted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Score {
    /// Found and planted.
    pub both: usize,
    /// Found.
    pub found: usize,
    /// Planted.
    pub truth: usize,
}

impl AddAssign for Score {
    fn add_assign(&mut self, other: Self) {
        self.both += other.both;
        self.found += other.found;
        self.truth += other.truth;
    }
}

impl Score {
    /// Twice what is found and planted, of both.
    pub fn f1(self) -> f64 {
        2.0 * self.both as f64 / (self.found + self.truth).max(1) as f64
    }

    /// What it adds to F1, which is a share.
    pub fn part(self) -> Part {
        [2.0 * self.both as f64, (self.found + self.truth) as f64]
    }

    /// Precision, recall and F1 as cells of a table.
    pub fn cells(self) -> String {
        let share = |whole: usize| if whole == 0 { 0.0 } else { self.both as f64 / whole as f64 };
        let (precision, recall) = (share(self.found), share(self.truth));
        let f1 = self.f1();
        let precision = if self.found == 0 { "-".to_owned() } else { format!("{precision:.3}") };
        format!("{precision} | {recall:.3} | {f1:.3}")
    }
}
