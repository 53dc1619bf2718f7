//! The conditions of a query on an index, and what distances are measured to.

use neardup_core::features::normalization::Normalization;
use neardup_core::search::edit_ball::EditBall;
use neardup_core::search::grams::edit::Sought;
use neardup_core::search::prefix::SearchReach;
use neardup_core::search::runs::cover::QueryAnchors;
use neardup_core::verify::edit;

/// The number of steps from distance 0 to 1. A distance has 16 bits in the key of a scan.
const STEPS: f64 = 65_000.0;
/// The step of a row outside the ball.
pub(crate) const OUTSIDE: u32 = STEPS as u32 + 1;

/// Returns the last step whose distance is at most `1 - similarity`, or the step before it. So the
/// step is a lower bound of the distance of a row whose similarity is at most `similarity`.
pub(crate) fn step_of(similarity: f64) -> u32 {
    let distance = 1.0 - similarity;
    let step = (distance * STEPS) as u32;
    // The distance of the step must not exceed the real distance, not even by rounding.
    if distance_of(step) > distance { step.saturating_sub(1) } else { step }
}

/// Returns the distance of a step.
pub(crate) fn distance_of(step: u32) -> f64 {
    if step < OUTSIDE { f64::from(step) / STEPS } else { f64::INFINITY }
}

/// A probe for rows whose sets may be in a ball. It does not depend on the parameters that the
/// first rows of the index settle.
#[derive(Debug, Clone)]
pub(crate) struct SetProbe {
    /// The tokens of the ball's set, in ascending order, with repeats if these count.
    pub tokens: Vec<u32>,
    /// The parameters of the search, which say which sets can be in the ball.
    pub reach: SearchReach,
    /// The least similarity of the rows in the ball.
    pub similarity: f64,
}

/// A probe for strings that may be in a ball.
#[derive(Debug, Clone)]
pub(crate) struct GramProbe {
    /// The elements of the ball's string, in ascending order.
    pub elements: Vec<u32>,
    /// What the ball demands of strings.
    pub demand: Sought,
    /// A ball by edit distance, as bytes.
    pub edits: Option<Vec<u8>>,
    /// The form in which the index has the texts.
    pub normalization: Option<Normalization>,
}

impl GramProbe {
    /// Returns the ball, if it is one by edit distance.
    pub(crate) fn ball(&self) -> Option<EditBall<'_>> {
        self.edits.as_ref().and_then(|bytes| EditBall::parse(bytes).ok())
    }

    /// Returns the distance by edits that all texts have whose distance is in a step, if there can
    /// be no more than one. Two different fractions of at most 255 are farther apart than a step,
    /// and the longer a text is, the farther it is.
    pub(crate) fn only_distance(&self, step: u32) -> Option<f64> {
        const LONGEST: u32 = 255;
        let characters = self.demand.edit()?.characters();
        let longest = f64::from(characters) / (1.0 - distance_of(step + 1));
        if step + 1 >= OUTSIDE || !(0.0..=f64::from(LONGEST)).contains(&longest) {
            return None;
        }
        (characters..=longest as u32).find_map(|longer| {
            let edits = (distance_of(step) * f64::from(longer)) as u32;
            let similar = [edits, edits + 1].map(|edits| edit::similarity(edits.min(longer), longer));
            similar.into_iter().find(|&similar| step_of(similar) == step).map(|similar| 1.0 - similar)
        })
    }
}

/// The target that distances are measured to.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    /// A sketch that was made with the settings of the index.
    Sketch(Vec<u8>),
    /// The middle of a ball that the index serves, by the probe that finds the rows in the ball. A
    /// row outside the ball is infinitely far from it. From the sketch of an empty document every
    /// row has the greatest distance: no row is in its ball.
    Ball(Box<Probe>),
    /// A target with which values of the index cannot be compared, or can be compared only by data
    /// that the index does not keep. The server must compute the distance with the operator.
    Unlike,
}

/// A condition of a query.
#[derive(Debug, Clone)]
pub(crate) enum Probe {
    /// No row meets the condition.
    Nothing,
    /// Rows with one of these signatures.
    Signatures {
        /// The signatures, in ascending order.
        signatures: Vec<u64>,
        /// True if every row with one of the signatures meets the condition.
        exact: bool,
    },
    /// Rows whose sketches differ from `sketch` in at most `most` values or bits.
    Near {
        /// Signatures of which each such row has at least one. None if `most` is so great that such
        /// a row need not have any signature of the sketch.
        signatures: Option<Vec<u64>>,
        /// The sketch with which the sketches of rows are compared.
        sketch: Vec<u8>,
        /// The largest number of values or bits that may differ.
        most: u32,
    },
    /// Rows whose sets may be in a ball.
    Sets(SetProbe),
    /// Rows whose strings may be in a ball.
    Grams(GramProbe),
    /// Rows that may have a run in common with a text.
    Runs {
        /// The parts of the signatures that the text's anchors alone decide, in ascending order.
        /// Each such row has an anchor with one of them.
        hashes: Vec<u64>,
        /// The anchors. They tell which rows need not be looked at.
        anchors: QueryAnchors,
    },
    /// All rows, because the index cannot decide the condition.
    Everything,
}

impl Probe {
    /// Returns the signatures to look up. None means that all rows must be read.
    pub(crate) fn signatures(&self) -> Option<&[u64]> {
        match self {
            Self::Nothing => Some(&[]),
            Self::Signatures { signatures, .. } | Self::Runs { hashes: signatures, .. } => Some(signatures),
            Self::Near { signatures, .. } => signatures.as_deref(),
            Self::Sets(_) | Self::Grams(_) | Self::Everything => None,
        }
    }

    /// Reports whether the index finds the rows without reading every row.
    pub(crate) fn is_served(&self) -> bool {
        matches!(self, Self::Sets(_) | Self::Grams(_)) || self.signatures().is_some()
    }

    /// Reports whether the rows that the probe finds need no recheck.
    pub(crate) fn is_exact(&self) -> bool {
        matches!(self, Self::Nothing | Self::Signatures { exact: true, .. } | Self::Near { .. })
    }

    /// Reports whether the sketch of a row decides the condition.
    pub(crate) fn is_near(&self) -> bool {
        matches!(self, Self::Near { .. })
    }

    /// Returns the number of lists or signatures that are looked up.
    pub(crate) fn lookups(&self) -> f64 {
        match self {
            Self::Sets(sets) => sets.reach.lookups().into(),
            Self::Grams(grams) => grams.elements.len() as f64,
            probe => probe.signatures().map_or(0.0, |signatures| signatures.len() as f64),
        }
    }

    /// Returns a number by which probes are sorted, the cheapest first.
    pub(crate) fn effort(&self) -> usize {
        match self {
            Self::Everything => usize::MAX,
            Self::Sets(sets) => sets.tokens.len(),
            Self::Grams(grams) => grams.elements.len(),
            probe => probe.signatures().map_or(usize::MAX - 1, <[u64]>::len),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pg_steps_are_below_distances_and_in_order() {
        let mut last = 0;
        for shared in (0..=997).rev() {
            let similarity = f64::from(shared) / 997.0;
            let step = step_of(similarity);
            assert!((last..OUTSIDE).contains(&step) && distance_of(step) <= 1.0 - similarity);
            assert!(distance_of(step + 2) > 1.0 - similarity);
            last = step;
        }
        assert_eq!((step_of(1.0), step_of(0.0), distance_of(OUTSIDE)), (0, OUTSIDE - 1, f64::INFINITY));
    }
}
