//! The suffix filter: a lower bound of the Hamming distance of two suffixes, found by splitting
//! both at the middle token of one (Xiao et al., PPJoin+ (WWW 2008), section 5;
//! docs/design/algorithms.md section 8).

/// Returns a lower bound of the number of tokens in which two ascending lists differ. If the bound
/// exceeds `most`, the result may be any number greater than `most`. Splits the lists `depth`
/// times. O(2^depth · log length).
pub fn hamming_at_least(x: &[u32], y: &[u32], most: u32, depth: u32) -> u32 {
    let by_length = x.len().abs_diff(y.len()) as u32;
    if depth == 0 || by_length > most || x.is_empty() || y.is_empty() {
        return by_length;
    }
    let middle = y.len() / 2;
    let (y_left, y_right) = (&y[..middle], &y[middle + 1..]);
    let at = x.partition_point(|&token| token < y[middle]);
    let missing = u32::from(x.get(at) != Some(&y[middle]));
    let (x_left, x_right) = (&x[..at], &x[at + 1 - missing as usize..]);
    let right_by_length = x_right.len().abs_diff(y_right.len()) as u32;
    let others = right_by_length + missing;
    if others > most {
        return others;
    }
    let left = hamming_at_least(x_left, y_left, most - others, depth - 1);
    if left + others > most {
        return left + others;
    }
    left + missing + hamming_at_least(x_right, y_right, most - left - missing, depth - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn never_over_the_true_distance(
            x in btree_set(0..50u32, 0..40),
            y in btree_set(0..50u32, 0..40),
            most in 0..60u32,
            depth in 0..6u32,
        ) {
            let distance = x.symmetric_difference(&y).count() as u32;
            let (x, y): (Vec<_>, Vec<_>) = (x.into_iter().collect(), y.into_iter().collect());
            let bound = hamming_at_least(&x, &y, most, depth);
            prop_assert!(bound <= distance, "{} > {}", bound, distance);
            // When split to the end, the bound is the distance itself.
            let deep = hamming_at_least(&x, &y, most, 10);
            prop_assert_eq!(deep > most, distance > most);
        }
    }
}
