//! The conditions of a query on an index, and the rows that meet them.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::Datum;

use super::class::OperatorClass;
use super::grams::GramProbe;
use super::keys::ClassKeys;
use super::sets::SetKeys;
use super::sets::probe::{OUTSIDE, SetProbe, distance_of, step_of};
use super::values::elements;
use crate::pg::index::layout::items::{HeapRow, Item, number};
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::error::{Result, SqlError};
use neardup_core::joins::search::ball::SetBall;
use neardup_core::joins::search::runs::cover::QueryAnchors;
use neardup_core::joins::search::runs::signature::of_anchor;
use neardup_core::sketches::balls::{MinhashBall, SimhashBall};
use neardup_core::sketches::minhash;
use neardup_core::sketches::simhash;
use neardup_core::sketches::wire::{Minhash, Simhash};

/// The strategy number of `<@`: a value in a ball.
pub(crate) const IN_BALL: u16 = 1;
/// The strategy number of `&&`: arrays that share an element.
pub(crate) const OVERLAPS: u16 = 2;
/// The strategy number of `<%>`, `<~>` and `<->`: the distance to order by.
pub(crate) const DISTANCE: u16 = 3;

/// The target that distances are measured to.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    /// A sketch that was made with the settings of the index.
    Sketch(Vec<u8>),
    /// The sketch of an empty document. Every row has the greatest distance from it.
    Empty,
    /// The middle of a ball that an index of sets serves. A row outside the ball is infinitely far
    /// from it. None means that no row can be in the ball.
    Ball(Option<SetProbe>),
    /// The middle of a ball that an index of grams serves.
    Grams(GramProbe),
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
    /// Rows whose sketches differ from `target` in at most `most` values or bits.
    Near {
        /// Signatures of which each such row has at least one. None if `most` is so great that such
        /// a row need not have any signature of the target.
        signatures: Option<Vec<u64>>,
        /// The sketch with which the sketches of rows are compared.
        target: Target,
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

impl ClassKeys {
    /// Makes a probe of a condition of a query.
    ///
    /// # Safety
    /// `argument` has the right-hand type of the class's operator with this strategy number.
    pub(crate) unsafe fn probe(&self, strategy: u16, argument: Datum) -> Result<Probe> {
        match (self.class, strategy) {
            (OperatorClass::Bigint | OperatorClass::Uuid, OVERLAPS) => {
                // SAFETY: an array of the class's type: `&&` has the same type on both sides.
                let signatures = unsafe { elements(self.class, argument)? };
                Ok(if signatures.is_empty() {
                    Probe::Nothing
                } else {
                    Probe::Signatures { signatures, exact: self.class == OperatorClass::Bigint }
                })
            }
            (OperatorClass::Minhash, IN_BALL) => {
                // SAFETY: a ball, which is a varlena.
                let ball = MinhashBall::parse(unsafe { varlena_bytes(argument) })?;
                let most = self.meta.width.saturating_sub(ball.least_agreeing);
                Ok(self.near_target(self.minhash_target(&ball.middle), most))
            }
            (OperatorClass::Simhash, IN_BALL) => {
                // SAFETY: a ball, which is a varlena.
                let ball = SimhashBall::parse(unsafe { varlena_bytes(argument) })?;
                Ok(self.near_target(self.simhash_target(&ball.middle), ball.distance.into()))
            }
            (OperatorClass::TextSet | OperatorClass::ArraySet | OperatorClass::VectorSet, IN_BALL)
            | (OperatorClass::BallSet, IN_BALL | OVERLAPS) => {
                let sets = self.sets.as_ref().expect("of a class of sets");
                // SAFETY: a ball, which is a varlena.
                sets.probe(unsafe { varlena_bytes(argument) })
            }
            (OperatorClass::TextGrams, IN_BALL) | (OperatorClass::BallGrams, OVERLAPS) => {
                let grams = self.grams.as_ref().expect("of a class of grams");
                // SAFETY: a ball, which is a varlena.
                grams.probe(unsafe { varlena_bytes(argument) })
            }
            (OperatorClass::TextRuns, OVERLAPS) => {
                let runs = self.runs.as_ref().expect("of the class of runs");
                // SAFETY: a query for runs, which is a varlena.
                runs.probe(unsafe { varlena_bytes(argument) })
            }
            _ => Ok(Probe::Everything),
        }
    }

    fn near_target(&self, target: Target, most: u32) -> Probe {
        let sketch = match &target {
            Target::Unlike => return Probe::Everything,
            Target::Empty | Target::Ball(_) | Target::Grams(_) => return Probe::Nothing,
            Target::Sketch(sketch) => sketch,
        };
        let signatures = (most < self.meta.bands).then(|| {
            let mut signatures = Vec::new();
            self.signatures_of(HeapRow::new(0, 0), sketch, &mut signatures);
            // If at most d values differ, at least one of any d + 1 bands agrees.
            signatures.truncate(most as usize + 1);
            signatures
        });
        Probe::Near { signatures, target, most }
    }

    fn minhash_target(&self, sketch: &Minhash<'_>) -> Target {
        if self.minhash_header().check_like(&sketch.header).is_err() {
            Target::Unlike
        } else if sketch.header.empty {
            Target::Empty
        } else {
            Target::Sketch(sketch.values.to_vec())
        }
    }

    fn simhash_target(&self, sketch: &Simhash<'_>) -> Target {
        if self.simhash_header().check_like(&sketch.header).is_err() {
            Target::Unlike
        } else if sketch.header.empty {
            Target::Empty
        } else {
            Target::Sketch(sketch.bits.to_vec())
        }
    }

    /// Returns the target that an `ORDER BY` measures distances to.
    ///
    /// # Safety
    /// `argument` is a sketch of the class's kind, or a ball.
    pub(crate) unsafe fn target(&self, argument: Datum) -> Result<Target> {
        // SAFETY: the caller's promise; the argument is a varlena.
        let bytes = unsafe { varlena_bytes(argument) };
        match self.class {
            OperatorClass::Minhash => Ok(self.minhash_target(&Minhash::parse(bytes)?)),
            OperatorClass::Simhash => Ok(self.simhash_target(&Simhash::parse(bytes)?)),
            OperatorClass::TextSet | OperatorClass::ArraySet | OperatorClass::VectorSet => {
                self.sets.as_ref().expect("of a class of sets").target(bytes)
            }
            OperatorClass::TextGrams => self.grams.as_ref().expect("of the class of grams").target(bytes),
            class => Err(SqlError::new(
                PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
                format!("{} knows no distance", class.name()),
            )),
        }
    }

    /// Returns probes, and for each of them the greatest difference up to which it finds all rows.
    /// The last probe finds all rows that the signatures can find; the probes before it find fewer
    /// rows, but in less time.
    pub(crate) fn near(&self, target: &Target) -> Vec<(Probe, u64)> {
        /// The number of bands in the first probe.
        const FEW: u32 = 32;
        match target {
            Target::Sketch(_) if self.has_value_lists() => {
                let values = self.meta.width;
                // Each of the later probes finds the rows with half as many values in common.
                let agreeing = (1..).map(|n| values >> n).take_while(|&agreeing| agreeing > 0);
                let mosts = [values / 4].into_iter().chain(agreeing.map(|agreeing| values - agreeing));
                mosts.map(|most| (self.near_target(target.clone(), most), most.into())).collect()
            }
            Target::Sketch(_) if self.meta.bands > 0 => {
                let bands = self.meta.bands;
                let counts = (0..).map(|n| FEW << (2 * n)).take_while(|&few| few < bands);
                let mosts = counts.chain([bands]).map(|bands| bands - 1);
                mosts.map(|most| (self.near_target(target.clone(), most), most.into())).collect()
            }
            Target::Ball(Some(probe)) => match &self.sets {
                Some(sets) => sets.near(probe),
                None => Vec::new(),
            },
            Target::Grams(probe) => vec![(Probe::Grams(probe.clone()), u64::from(OUTSIDE) - 1)],
            Target::Sketch(_) | Target::Empty | Target::Ball(None) | Target::Unlike => Vec::new(),
        }
    }

    /// Reports whether each value of a sketch is a band of its own. In this case, a row that shares
    /// no band differs in every value.
    pub(crate) fn has_single_values(&self) -> bool {
        self.meta.bands == self.meta.width
    }

    /// Reports whether all rows that the probes of [`ClassKeys::near`] do not find are equally far
    /// from the target, at [`ClassKeys::farthest`].
    pub(crate) fn tells_all(&self, target: &Target) -> bool {
        match target {
            Target::Sketch(_) => self.has_single_values(),
            Target::Empty | Target::Ball(_) | Target::Grams(_) => true,
            Target::Unlike => false,
        }
    }

    /// Reports whether distances are those to the middle of a ball.
    fn has_balls(&self) -> bool {
        self.sets.is_some() || self.grams.is_some()
    }

    /// Returns the greatest possible difference between a row and a target.
    pub(crate) fn farthest(&self) -> u32 {
        if self.has_balls() { OUTSIDE } else { self.meta.width }
    }

    /// Returns the number of values or bits in which a sketch differs from the target, or 0 if that
    /// is not known. A set that is not known to be in the target's ball counts as outside it.
    pub(crate) fn difference(&self, target: &Target, row: HeapRow, sketch: &[u8]) -> u32 {
        match target {
            Target::Unlike => 0,
            Target::Sketch(target) if !row.has(HeapRow::EMPTY) => match self.class {
                OperatorClass::Simhash => simhash::hamming(target, sketch),
                _ => self.meta.width - minhash::agreeing(target, sketch),
            },
            _ => self.farthest(),
        }
    }

    /// Converts a number of differences to the distance that the operator returns.
    pub(crate) fn distance(&self, difference: u32) -> f64 {
        match self.class {
            OperatorClass::Simhash => difference.into(),
            _ if self.has_balls() => distance_of(difference),
            _ => minhash::distance(self.meta.width - difference, self.meta.width as u16),
        }
    }

    /// Reports whether a probe finds a pending item.
    pub(crate) fn finds(&self, probe: &Probe, item: &Item<'_>) -> bool {
        match probe {
            Probe::Signatures { signatures, .. } => {
                item.bytes.chunks_exact(8).any(|bytes| signatures.binary_search(&number(bytes)).is_ok())
            }
            Probe::Runs { hashes, .. } => {
                let is_sought = |signature| hashes.binary_search(&of_anchor(signature)).is_ok();
                item.bytes.chunks_exact(8).map(number).any(is_sought)
            }
            probe => self.accepts(probe, item.row, item.bytes),
        }
    }

    /// Reports whether a probe finds a row of a segment. If the probe has signatures to look up,
    /// the row must have been found by them.
    pub(crate) fn accepts(&self, probe: &Probe, row: HeapRow, sketch: &[u8]) -> bool {
        match probe {
            Probe::Nothing => false,
            Probe::Signatures { .. }
            | Probe::Runs { .. }
            | Probe::Sets(_)
            | Probe::Grams(_)
            | Probe::Everything => true,
            Probe::Near { target, most, .. } => {
                !row.has(HeapRow::NULL | HeapRow::EMPTY) && self.difference(target, row, sketch) <= *most
            }
        }
    }
}

impl SetKeys {
    /// Makes a probe of the condition that a row is in a ball.
    pub(crate) fn probe(&self, bytes: &[u8]) -> Result<Probe> {
        if self.unfit(bytes).is_some() {
            return Ok(Probe::Everything);
        }
        let ball = SetBall::parse(bytes)?;
        let document = ball.document()?;
        let tokens = self.tokens(&document)?;
        let similarity = ball.similarity;
        let reach = self.spec.reach(similarity, tokens.len() as u32)?;
        Ok(reach.map_or(Probe::Nothing, |reach| Probe::Sets(SetProbe { tokens, reach, similarity })))
    }

    /// Returns probes for the rows of a ball, the most similar rows first. Each probe looks up at
    /// least twice as many tokens as the one before it, so that all of them together cost little
    /// more than the last one.
    fn near(&self, probe: &SetProbe) -> Vec<(Probe, u64)> {
        let mut probes = vec![(Probe::Sets(probe.clone()), u64::from(OUTSIDE) - 1)];
        let mut fewest = probe.reach.probes();
        for similarity in (1..10).map(|n| f64::from(n) / 10.0) {
            if similarity > probe.similarity
                && let Ok(Some(reach)) = self.spec.reach(similarity, probe.tokens.len() as u32)
                && reach.probes().saturating_mul(2) <= fewest
            {
                fewest = reach.probes();
                let nearer = SetProbe { tokens: probe.tokens.clone(), reach, similarity };
                probes.push((Probe::Sets(nearer), step_of(similarity).into()));
            }
        }
        probes.reverse();
        probes
    }

    /// Returns the target for distances to the middle of a ball.
    pub(crate) fn target(&self, bytes: &[u8]) -> Result<Target> {
        Ok(match self.probe(bytes)? {
            Probe::Sets(probe) => Target::Ball(Some(probe)),
            Probe::Nothing => Target::Ball(None),
            _ => Target::Unlike,
        })
    }
}
