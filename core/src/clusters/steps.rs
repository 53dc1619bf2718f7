//! Steps of similarity, each 0.05 wide, for what is shown or counted by similarity.

/// The number of steps below a similarity of 1, which is a step of its own.
pub const STEPS: usize = 20;

/// Returns the step of a similarity.
pub fn step_of(similarity: f64) -> usize {
    // A similarity that equals a multiple of 0.05 up to rounding belongs to it.
    const ROUNDING: f64 = 1e-9;
    ((similarity + ROUNDING) * STEPS as f64).floor().clamp(0.0, STEPS as f64) as usize
}

/// Returns the least similarity of a step, as a user would write it.
pub fn least_of(step: usize) -> f64 {
    5.0 * step as f64 / 100.0
}

/// Returns the thresholds from `lowest` on that begin a step, and `lowest` itself.
pub fn thresholds(lowest: f64) -> Vec<f64> {
    let lowest = lowest.clamp(0.0, 1.0);
    let first = step_of(lowest);
    let mut all = if least_of(first) == lowest { Vec::new() } else { vec![lowest] };
    all.extend((first..=STEPS).map(least_of).filter(|&least| least >= lowest));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_hold_their_least_similarity() {
        for n in 0..=STEPS {
            assert_eq!(step_of(least_of(n)), n);
            assert_eq!(step_of(n as f64 / 20.0), n);
            assert_eq!(step_of((least_of(n) - 1e-6).max(0.0)), n.saturating_sub(1));
        }
        assert_eq!([11, 7].map(least_of), [0.55, 0.35]);
    }

    #[test]
    fn thresholds_are_the_lowest_and_those_of_steps() {
        assert_eq!(thresholds(0.8), [0.8, 0.85, 0.9, 0.95, 1.0]);
        assert_eq!(thresholds(0.87), [0.87, 0.9, 0.95, 1.0]);
        assert_eq!(thresholds(1.0), [1.0]);
        assert_eq!(thresholds(0.0).len(), STEPS + 1);
    }
}
