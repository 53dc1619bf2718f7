//! The pairs of rows with equal keys, of two lists of rows in the order of their keys.

/// Goes on to the next positions, from the present ones on, of rows with equal keys, or to the end
/// of the first rows. Returns how many rows were looked at, and stops after `most` of them. Both
/// lists are in the order of their keys.
pub(super) fn find_equal_keys(
    keys: &[u64],
    [firsts, seconds]: [&[u32]; 2],
    at: &mut (usize, usize),
    most: usize,
) -> usize {
    let key = |row: u32| keys[row as usize];
    let mut looked = 0;
    while let Some(wanted) = firsts.get(at.0).map(|&row| key(row)) {
        let found = seconds.get(at.1).map(|&row| key(row));
        if found == Some(wanted) || looked > most {
            break;
        }
        looked += 1;
        // Only the first one of the second rows may have a smaller key.
        if found.is_none_or(|found| found > wanted) {
            at.0 += 1;
        }
        if let Some(&row) = firsts.get(at.0) {
            at.1 = seconds.partition_point(|&other| key(other) < key(row));
        }
    }
    looked
}
