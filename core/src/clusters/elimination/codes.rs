//! The codes to eliminate or keep.

/// Codes in the order in which elimination takes them: by descending length, and codes of the same
/// length by id.
///
/// A slice of strings implements this trait; it must be sorted in this order. A program that holds
/// its codes in another form implements the trait for that form.
///
/// ```
/// use neardup_core::Codes;
///
/// let codes = ["甲乙丙".to_owned(), "子丑".into()];
/// assert_eq!((Codes::len(&codes[..]), codes.code(1), codes.length(0)), (2, "子丑", 3));
/// ```
pub trait Codes: Sync {
    /// Returns the number of codes.
    fn len(&self) -> usize;

    /// Returns the code at a place in the order. No code is empty.
    fn code(&self, place: usize) -> &str;

    /// Returns the number of characters of a code.
    fn length(&self, place: usize) -> u32;

    /// Reports whether there are no codes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Codes for [String] {
    fn len(&self) -> usize {
        self.len()
    }

    fn code(&self, place: usize) -> &str {
        &self[place]
    }

    fn length(&self, place: usize) -> u32 {
        self[place].chars().count() as u32
    }
}

/// The code in favour of which another one is eliminated.
///
/// ```
/// use neardup_core::{PlainThreads, Survivor, eliminate_repeated};
///
/// let codes = ["abcdefgh".to_owned(), "abcdxx".into()];
/// let found = eliminate_repeated(&codes[..], 0.6, 1 << 24, &PlainThreads(1))?;
/// assert_eq!(found[1], Some(Survivor { place: 0, similarity: 4.0 / 6.0 }));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Survivor {
    /// The place of the code that stays.
    pub place: u32,
    /// The repeatability of the eliminated code with respect to the code that stays.
    pub similarity: f64,
}

/// A subset of the codes.
pub struct Subset<'a, C: ?Sized> {
    /// All codes.
    pub codes: &'a C,
    /// The places of the subset's codes in the order of all codes.
    pub places: &'a [u32],
}

impl<C: Codes + ?Sized> Codes for Subset<'_, C> {
    fn len(&self) -> usize {
        self.places.len()
    }

    fn code(&self, place: usize) -> &str {
        self.codes.code(self.places[place] as usize)
    }

    fn length(&self, place: usize) -> u32 {
        self.codes.length(self.places[place] as usize)
    }
}
