//! Repeated runs out of marked places, for the tests that compare with the definition.

/// A run: row, first and last place, row and first place of the source, and the least number of
/// documents of a place.
pub(crate) type Run = [usize; 6];

/// A marked place: row and place; row and place of its source, and the number of documents.
pub(crate) type Marked = ((usize, usize), (usize, usize, usize));

/// Joins marked places that follow each other, and whose sources do, in the order of the places.
pub(crate) fn joined(marks: impl IntoIterator<Item = Marked>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for ((row, place), (of_row, of_place, documents)) in marks {
        match runs.last_mut() {
            Some([r, first, last, of, of_first, fewest])
                if *r == row
                    && *last + 1 == place
                    && *of == of_row
                    && *of_first + place - *first == of_place =>
            {
                *last = place;
                *fewest = documents.min(*fewest);
            }
            _ => runs.push([row, place, place, of_row, of_place, documents]),
        }
    }
    runs
}
