//! An edge of a graph: a pair of rows and its similarity.

/// A pair of vertices and its similarity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// The smaller vertex.
    pub left: u32,
    /// The greater vertex.
    pub right: u32,
    /// Their similarity, from 0 to 1.
    pub similarity: f64,
}

/// An edge in a file and in memory: the vertices, and the bits of the similarity.
pub type Packed = [u64; 2];

/// Where an edge stands in an order: by the first number, then by the second.
pub type Key = (u64, u64);

impl Edge {
    /// The edge between two vertices, in either order.
    pub fn new(a: u32, b: u32, similarity: f64) -> Self {
        Self { left: a.min(b), right: a.max(b), similarity }
    }

    /// As it is kept.
    pub(super) fn pack(self) -> Packed {
        [self.vertices(), self.similarity.to_bits()]
    }

    /// As it was kept.
    pub(super) fn unpack([vertices, similarity]: Packed) -> Self {
        let similarity = f64::from_bits(similarity);
        Self { left: (vertices >> 32) as u32, right: vertices as u32, similarity }
    }

    /// The vertices as one number, in the order of left and right.
    pub fn vertices(self) -> u64 {
        u64::from(self.left) << 32 | u64::from(self.right)
    }

    /// The similarity as a whole number of which sums do not depend on the order: in 2⁻⁵³.
    pub fn weight(self) -> u64 {
        (self.similarity * (1u64 << 53) as f64) as u64
    }

    /// The order from the greatest similarity to the least; equal ones by their vertices.
    pub fn strongest_first(self) -> Key {
        // Not negative, so that their bits are in their order.
        (!self.similarity.to_bits(), self.vertices())
    }
}

/// Bytes of an edge in a file.
pub(super) const SIZE: u64 = size_of::<Packed>() as u64;
