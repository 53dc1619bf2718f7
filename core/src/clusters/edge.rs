//! An edge of a graph: a pair of rows and its similarity.

/// A pair of vertices and its similarity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// The smaller vertex.
    pub left: u32,
    /// The greater vertex.
    pub right: u32,
    /// The similarity of the two vertices, from 0 to 1.
    pub similarity: f64,
}

/// The stored form of an edge, in a file and in memory: the vertices, and the bits of the
/// similarity.
pub type PackedEdge = [u64; 2];

/// The sort key of an edge. Edges are ordered by the first number, then by the second.
pub type EdgeKey = (u64, u64);

impl Edge {
    /// Returns the edge between two vertices, given in either order.
    pub fn new(a: u32, b: u32, similarity: f64) -> Self {
        Self { left: a.min(b), right: a.max(b), similarity }
    }

    /// Returns the stored form.
    pub(super) fn pack(self) -> PackedEdge {
        [self.vertices(), self.similarity.to_bits()]
    }

    /// Restores an edge from the stored form.
    pub(super) fn unpack([vertices, similarity]: PackedEdge) -> Self {
        let similarity = f64::from_bits(similarity);
        Self { left: (vertices >> 32) as u32, right: vertices as u32, similarity }
    }

    /// Returns the vertices as one number, ordered by left and then by right.
    pub fn vertices(self) -> u64 {
        u64::from(self.left) << 32 | u64::from(self.right)
    }

    /// Returns the similarity as a whole number in units of 2⁻⁵³, so sums do not depend on the
    /// order of their terms.
    pub fn weight(self) -> u64 {
        (self.similarity * (1u64 << 53) as f64) as u64
    }

    /// Returns the key that orders edges from the greatest similarity to the least, and equally
    /// similar edges by their vertices.
    pub fn strongest_first(self) -> EdgeKey {
        // Similarities are not negative, so their bits are in the same order as their values.
        (!self.similarity.to_bits(), self.vertices())
    }
}

/// The number of bytes of an edge in a file.
pub(super) const SIZE: u64 = size_of::<PackedEdge>() as u64;
