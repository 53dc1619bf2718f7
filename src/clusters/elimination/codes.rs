//! The codes that are eliminated or stay.

/// Codes in the order in which they are taken: descending length, ties by id.
pub trait Codes: Sync {
    /// How many there are.
    fn len(&self) -> usize;

    /// The code at a place in the order. None is empty.
    fn code(&self, place: usize) -> &str;

    /// The number of its characters.
    fn length(&self, place: usize) -> u32;

    /// Whether there are none.
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

/// The code that another one is eliminated for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Survivor {
    /// The place of the code that stays.
    pub place: u32,
    /// The repeatability over it.
    pub similarity: f64,
}

/// Some codes of all.
pub struct Subset<'a, C: ?Sized> {
    /// All of them.
    pub codes: &'a C,
    /// Their places in the order of all.
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
