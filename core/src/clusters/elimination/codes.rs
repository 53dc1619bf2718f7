//! The codes to eliminate or keep.

/// Codes in the order in which they are taken: by descending length, ties by id.
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
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Survivor {
    /// The place of the code that stays.
    pub place: u32,
    /// The repeatability of the eliminated code over it.
    pub similarity: f64,
}

/// A subset of the codes.
pub struct Subset<'a, C: ?Sized> {
    /// All codes.
    pub codes: &'a C,
    /// The places of the subset in the order of all.
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
