//! The bytes of the index. Everything is little-endian and of fixed width. See
//! docs/design/signature-index.md, "Pages". Rows, pairs and items are in `items`.

/// The number of bytes of a page. `buffer` checks that the server's pages have this size.
pub(crate) const PAGE: usize = 8192;
/// The number of bytes of the server's page header.
pub(crate) const HEADER: usize = 24;
/// The number of bytes of a page between its header and its tail.
pub(crate) const CONTENTS: usize = PAGE - HEADER - Tail::SIZE;
/// The version of everything below, of pages of each family. An index of another version needs a
/// REINDEX. Before the first release there were 1 to 8.
pub(crate) const FORMAT: u8 = 9;
/// The first bytes of the metapage's contents.
pub(crate) const MAGIC: u32 = 0x5844_4e53;
/// The last bytes of every page.
const PAGE_MAGIC: u16 = 0x5344;
/// The number that means no block.
pub(crate) const NONE: u32 = u32::MAX;

/// The kind of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum PageKind {
    /// The metapage, block 0.
    Meta = 1,
    /// Items in order of insertion.
    Pending = 2,
    /// Rows of a segment.
    Rows = 3,
    /// Pairs of signature and row number.
    Signatures = 4,
    /// The places of the lists of frequent signatures.
    ListDirectory = 5,
    /// The bytes of the lists.
    Lists = 6,
    /// Extents and fences of a segment.
    Root = 7,
    /// A free page, which can be reused.
    Deleted = 8,
    /// The order of tokens by which an index of sets takes prefixes.
    Order = 9,
}

/// What the segments of an index have. The numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum StoredFamily {
    /// Pairs of signature and row.
    Pairs = 0,
    /// Lists of the classes of sets.
    Sets = 1,
    /// Lists of anchors, most of which are of a single row.
    Runs = 2,
    /// Lists of the single values of minhash sketches.
    Values = 3,
    /// Lists of the elements of strings, and rows in the order of their groups with the starts of
    /// their strings.
    Grams = 4,
}

/// Declares a struct and its bytes, which are its fields concatenated.
macro_rules! bytes {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Default)]
        pub(crate) struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl $name {
            /// The number of bytes.
            pub(crate) const SIZE: usize = 0 $(+ size_of::<$type>())*;

            /// Reads the struct from the first [`Self::SIZE`] bytes.
            pub(crate) fn read(bytes: &[u8]) -> Self {
                let mut rest = &bytes[..Self::SIZE];
                $(let $field = {
                    let (head, tail) = rest.split_first_chunk().expect("within the size");
                    rest = tail;
                    <$type>::from_le_bytes(*head)
                };)*
                let _ = rest;
                Self { $($field,)* }
            }

            /// Returns the bytes of the struct.
            pub(crate) fn to_bytes(self) -> [u8; Self::SIZE] {
                let (mut bytes, mut at) = ([0; Self::SIZE], 0);
                $({
                    let field = self.$field.to_le_bytes();
                    bytes[at..at + field.len()].copy_from_slice(&field);
                    at += field.len();
                })*
                let _ = at;
                bytes
            }
        }
    };
}

bytes! {
    /// The special space of a page.
    Tail {
        /// The id of the segment, or the sequence number of the pending page.
        id: u64,
        /// The number of the page within the segment, root or order that it belongs to.
        number: u32,
        /// The next page of a chain.
        next: u32,
        /// Zero.
        unused: u32,
        /// A [`PageKind`].
        kind: u8,
        /// [`FORMAT`].
        version: u8,
        /// [`PAGE_MAGIC`].
        magic: u16,
    }
}
const _: () = assert!(Tail::SIZE == 24 && HEADER.is_multiple_of(8) && CONTENTS == 8144);

impl Tail {
    /// Makes the tail of a page.
    pub(crate) fn new(kind: PageKind, id: u64, number: u32) -> Self {
        Self { id, number, next: NONE, unused: 0, kind: kind as u8, version: FORMAT, magic: PAGE_MAGIC }
    }

    /// Reports whether this is a page of ours, and of this kind.
    pub(crate) fn has(&self, kind: PageKind) -> bool {
        self.magic == PAGE_MAGIC && self.version == FORMAT && self.kind == kind as u8
    }
}

bytes! {
    /// The first part of the metapage's contents. The descriptors of the segments follow it.
    Meta {
        /// [`MAGIC`].
        magic: u32,
        /// [`FORMAT`].
        version: u16,
        /// The [`StoredFamily`].
        family: u8,
        /// The number of group columns; see `layout::group`.
        groups: u8,
        /// The operator class; see `class::OperatorClass`.
        class: u8,
        /// The version of the hash functions.
        hash_version: u8,
        /// The version of the tokenizer and its tables.
        text_version: u8,
        /// The origin of the sets or sketches; see `features::origin::Origin`. In an index of sets,
        /// runs or grams, the upper half has the normalization form of the texts; see
        /// `families::cut`.
        tokenizer: u8,
        /// The number of words of a shingle. In an index of runs, the number of tokens of a gram;
        /// in an index of grams, the number of characters of one.
        k: u32,
        /// The number of values or bits of a sketch. In an index of sets, the number of 64-bit
        /// words of a set's bitmap, 0 until it is settled.
        width: u32,
        /// The number of bands of a sketch. In an index of sets, the number of bits of a class, 0
        /// until it is settled. In an index of runs or grams, the number of bits of a signature.
        bands: u32,
        /// The seed of a sketch. In an index of sets, the hash of the order.
        seed: u64,
        /// The least similarity that bands or prefixes find.
        threshold: f64,
        /// The number of differing values or bits up to which bands find all rows. In an index of
        /// sets, the number of the measure, plus 256 if repeats count; in an index of grams, the
        /// number of the measure. In an index of runs, the number of tokens of the least run that
        /// it finds.
        distance: u32,
        /// The number of bytes of a sketch.
        payload: u32,
        /// The id of the next segment.
        next_id: u64,
        /// A number that grows with every change of the directory.
        generation: u64,
        /// The sequence number of the first pending page.
        head_sequence: u64,
        /// The sequence number of the last pending page.
        tail_sequence: u64,
        /// The block of the first pending page.
        head: u32,
        /// The block of the last pending page.
        tail: u32,
        /// The number of segments in the directory.
        segments: u32,
        /// The first block of the order of tokens, [`NONE`] until it is settled; 0 without sets.
        order: u32,
    }
}
const _: () = assert!(Meta::SIZE == 96);

/// The layout of the segments of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SegmentLayout {
    /// The number of bytes stored next to a row: those of its group, and its sketch.
    pub payload: usize,
    /// The number of bytes of a group, which come first; 0 in an index without group columns.
    pub group: usize,
    /// The number of bits of a class, if signatures are stored as lists of classes.
    pub class_bits: Option<u32>,
    /// The form of the pieces of lists.
    pub pieces: Pieces,
}

/// The form of the pieces of lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pieces {
    /// Each piece has a code of gaps.
    Coded,
    /// A piece of one row has the row itself in place of the code.
    CodedOrSingle,
    /// The same, but the rows of a piece of many rows are plain. The rows of a segment are in the
    /// order of the groups of their strings, so that those of a list are near to one another.
    Grouped,
}

/// The largest number of segments in a directory.
pub(crate) const MOST_SEGMENTS: usize = 64;

bytes! {
    /// A segment in the directory.
    Descriptor {
        /// The id of the segment, which is in the tails of its pages.
        id: u64,
        /// The number of pairs in its signature pages.
        pairs: u64,
        /// The number of pairs of row and signature, including those in lists.
        postings: u64,
        /// The number of distinct signatures.
        signatures: u64,
        /// The number of bytes of its lists.
        list_bytes: u64,
        /// The first block of its root.
        root: u32,
        /// The number of rows.
        rows: u32,
        /// The number of dead rows.
        dead: u32,
        /// The number of rows that are NULL.
        nulls: u32,
        /// The number of rows that continue other rows.
        continued: u32,
        /// The number of row pages, which come first in the numbering.
        row_pages: u32,
        /// The number of signature pages, which come after the row pages.
        signature_pages: u32,
        /// The number of lists. In the families with lists, the number of parts, plus one for the
        /// list after the parts.
        lists: u32,
        /// The number of rows of the most frequent signature.
        longest: u32,
        /// The number of all its pages, including the root.
        pages: u32,
    }
}
const _: () = assert!(Descriptor::SIZE == 80);
const _: () = assert!(Meta::SIZE + MOST_SEGMENTS * Descriptor::SIZE <= CONTENTS);

bytes! {
    /// The place of a list.
    List {
        /// The offset in the stream of the lists' bytes.
        offset: u64,
        /// The number of bytes.
        length: u32,
        /// The number of rows in the list.
        rows: u32,
    }
}

impl List {
    /// The number of entries on a page.
    pub(crate) const PER_PAGE: usize = CONTENTS / Self::SIZE;
}

bytes! {
    /// The head of a root page.
    RootHead {
        /// The number of extents on this page. They follow the fences.
        extents: u32,
        /// The number of fences, which are on the first page only.
        fences: u32,
        /// The number of signature pages from one fence to the next.
        step: u32,
        /// Zero.
        unused: u32,
    }
}

impl RootHead {
    /// The largest number of fences of a segment.
    pub(crate) const MOST_FENCES: usize = 256;
    /// Returns the number of extents that fit on a page in addition to its fences.
    pub(crate) const fn room(fences: usize) -> usize {
        (CONTENTS - Self::SIZE - fences * 8) / Extent::SIZE
    }
}

bytes! {
    /// A run of blocks.
    Extent {
        /// The first block.
        start: u32,
        /// The number of blocks.
        length: u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The names begin with pg_ for scripts/pgrx_test.sh. The tests need no server.
    #[test]
    fn pg_golden_tail() {
        let tail = Tail { next: 5, ..Tail::new(PageKind::Rows, 0x0102_0304_0506_0708, 9) };
        let bytes = tail.to_bytes();
        assert_eq!(bytes, [8, 7, 6, 5, 4, 3, 2, 1, 9, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 3, 9, 0x44, 0x53]);
        assert_eq!(Tail::read(&bytes), tail);
        assert!(tail.has(PageKind::Rows) && !tail.has(PageKind::Root));
        assert!(!Tail { version: 8, ..tail }.has(PageKind::Rows));
    }

    #[test]
    fn pg_golden_metapage() {
        let meta = Meta {
            magic: MAGIC,
            version: FORMAT.into(),
            family: StoredFamily::Runs as u8,
            class: 3,
            seed: 1,
            threshold: 0.8,
            head: NONE,
            tail: 6,
            ..Meta::default()
        };
        let bytes = meta.to_bytes();
        assert_eq!(bytes[..9], [0x53, 0x4e, 0x44, 0x58, 9, 0, 2, 0, 3]);
        assert_eq!(bytes[24..40], [1, 0, 0, 0, 0, 0, 0, 0, 0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xe9, 0x3f]);
        assert_eq!(bytes[80..88], [0xff, 0xff, 0xff, 0xff, 6, 0, 0, 0]);
        assert_eq!(Meta::read(&bytes), meta);
        let descriptor = Descriptor { id: 1, root: 0x0a0b_0c0d, pages: 3, ..Descriptor::default() };
        let bytes = descriptor.to_bytes();
        assert_eq!((bytes[0], &bytes[40..44], bytes[76]), (1, &[0x0d, 0x0c, 0x0b, 0x0a][..], 3));
        assert_eq!(Descriptor::read(&bytes), descriptor);
    }
}
