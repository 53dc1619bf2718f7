//! The bytes of the index: everything is little-endian and of fixed width. See docs/design/signature-index.md, "Pages";
//! rows, pairs and items are in `items`.

/// Bytes of a page; checked against the server's in `buffer`.
pub(crate) const PAGE: usize = 8192;
/// Bytes of the server's page header.
pub(crate) const HEADER: usize = 24;
/// Bytes of a page between its header and its tail.
pub(crate) const CONTENTS: usize = PAGE - HEADER - Tail::SIZE;
/// Version of the pages, and of an index whose segments have pairs of signature and row.
pub(crate) const VERSION: u8 = 1;
/// Version of an index whose segments have lists of classes. Another one than these asks for REINDEX.
pub(crate) const VERSION_LISTS: u8 = 2;
/// First bytes of the metapage's contents.
pub(crate) const MAGIC: u32 = 0x5844_4e53;
/// Last bytes of every page.
const PAGE_MAGIC: u16 = 0x5344;
/// No block.
pub(crate) const NONE: u32 = u32::MAX;

/// What a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Block 0.
    Meta = 1,
    /// Items in order of insertion.
    Pending = 2,
    /// Rows of a segment.
    Rows = 3,
    /// Pairs of signature and row number.
    Signatures = 4,
    /// Where the lists of frequent signatures are.
    ListDirectory = 5,
    /// The lists' bytes.
    Lists = 6,
    /// Extents and fences of a segment.
    Root = 7,
    /// Nothing: to be reused.
    Deleted = 8,
    /// The order of tokens by which an index of sets cuts prefixes off.
    Order = 9,
}

impl Kind {
    fn from_byte(byte: u8) -> Option<Self> {
        use Kind::{Deleted, ListDirectory, Lists, Meta, Order, Pending, Root, Rows, Signatures};
        [Meta, Pending, Rows, Signatures, ListDirectory, Lists, Root, Deleted, Order]
            .into_iter()
            .find(|&kind| kind as u8 == byte)
    }
}

/// Declares a struct with its bytes: its fields concatenated.
macro_rules! bytes {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Default)]
        pub(crate) struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl $name {
            /// Bytes of it.
            pub(crate) const SIZE: usize = 0 $(+ size_of::<$type>())*;

            /// Reads it from the first [`Self::SIZE`] bytes.
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

            /// Writes it to the first [`Self::SIZE`] bytes.
            pub(crate) fn write(&self, bytes: &mut [u8]) {
                let mut at = 0;
                $({
                    let field = self.$field.to_le_bytes();
                    bytes[at..at + field.len()].copy_from_slice(&field);
                    at += field.len();
                })*
                let _ = at;
            }
        }
    };
}

bytes! {
    /// The special space of a page.
    Tail {
        /// Id of the segment, or sequence of the pending page.
        id: u64,
        /// Number of the page in what it belongs to.
        number: u32,
        /// Next page of a chain.
        next: u32,
        /// Zero.
        unused: u32,
        /// A [`Kind`].
        kind: u8,
        /// [`VERSION`].
        version: u8,
        /// [`PAGE_MAGIC`].
        magic: u16,
    }
}
const _: () = assert!(Tail::SIZE == 24 && HEADER.is_multiple_of(8) && CONTENTS == 8144);

impl Tail {
    /// The tail of a page.
    pub(crate) fn new(kind: Kind, id: u64, number: u32) -> Self {
        Self { id, number, next: NONE, unused: 0, kind: kind as u8, version: VERSION, magic: PAGE_MAGIC }
    }

    /// The kind of the page; none if this is not a page of ours.
    pub(crate) fn kind(&self) -> Option<Kind> {
        if self.magic == PAGE_MAGIC && self.version == VERSION { Kind::from_byte(self.kind) } else { None }
    }
}

bytes! {
    /// The metapage's contents but for the directory, which follows.
    Meta {
        /// [`MAGIC`].
        magic: u32,
        /// [`VERSION`] or [`VERSION_LISTS`].
        version: u32,
        /// The operator class, see `keys::Class`.
        class: u8,
        /// Version of the hash functions.
        hash_version: u8,
        /// Version of the tokenizer and its tables.
        text_version: u8,
        /// Of what the sketches were made, see `sketches::wire::Source`; of sets, see `token_set::Origin`.
        tokenizer: u8,
        /// Words of a shingle.
        k: u32,
        /// Values or bits of a sketch; 64-bit words of a set's bitmap, 0 until that is settled.
        width: u32,
        /// Bands of a sketch; bits of a set's classes, 0 until that is settled.
        bands: u32,
        /// Seed of a sketch; of sets, the hash of the order.
        seed: u64,
        /// Least similarity that bands or prefixes find.
        threshold: f64,
        /// Differing values or bits that bands find; of sets, the measure, and 256 where repeats count.
        distance: u32,
        /// Bytes of a sketch.
        payload: u32,
        /// The id that the next segment gets.
        next_id: u64,
        /// Grows with every change of the directory.
        generation: u64,
        /// Sequence of the first pending page.
        head_sequence: u64,
        /// Sequence of the last pending page.
        tail_sequence: u64,
        /// Block of the first pending page.
        head: u32,
        /// Block of the last pending page.
        tail: u32,
        /// Segments in the directory.
        segments: u32,
        /// First block of the order of tokens, [`NONE`] until it is settled; 0 in an index of [`VERSION`].
        order: u32,
    }
}
const _: () = assert!(Meta::SIZE == 96);

/// What the segments of an index have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Bytes of a sketch beside its row.
    pub payload: usize,
    /// Bits of a class, where signatures are kept as lists of classes.
    pub class_bits: Option<u32>,
}

/// Segments that a directory may have.
pub(crate) const MOST_SEGMENTS: usize = 64;

bytes! {
    /// A segment in the directory.
    Descriptor {
        /// Its id, in the tails of its pages.
        id: u64,
        /// Pairs in its signature pages.
        pairs: u64,
        /// Pairs of row and signature, those in lists too.
        postings: u64,
        /// Unlike signatures.
        signatures: u64,
        /// Bytes of its lists.
        list_bytes: u64,
        /// First block of its root.
        root: u32,
        /// Rows.
        rows: u32,
        /// Of these, dead.
        dead: u32,
        /// Of these, NULL.
        nulls: u32,
        /// Of these, continuations of other rows.
        continued: u32,
        /// Pages of rows, the first of the numbered pages.
        row_pages: u32,
        /// Pages of signatures, the next ones.
        signature_pages: u32,
        /// Lists; of [`VERSION_LISTS`], parts of the classes, and one more list.
        lists: u32,
        /// Rows of the most frequent signature.
        longest: u32,
        /// All its pages with the root.
        pages: u32,
    }
}
const _: () = assert!(Descriptor::SIZE == 80);
const _: () = assert!(Meta::SIZE + MOST_SEGMENTS * Descriptor::SIZE <= CONTENTS);

bytes! {
    /// Where a list is.
    List {
        /// In the stream of the lists' bytes.
        offset: u64,
        /// So many bytes.
        length: u32,
        /// Rows in it.
        rows: u32,
    }
}

impl List {
    /// On a page.
    pub(crate) const PER_PAGE: usize = CONTENTS / Self::SIZE;
}

bytes! {
    /// The beginning of a root page.
    RootHead {
        /// Extents on this page; they follow the fences.
        extents: u32,
        /// Fences, on the first page only.
        fences: u32,
        /// Signature pages from one fence to the next.
        step: u32,
        /// Zero.
        unused: u32,
    }
}

impl RootHead {
    /// Fences of a segment.
    pub(crate) const MOST_FENCES: usize = 256;
    /// Extents that fit on a page beside its fences.
    pub(crate) const fn room(fences: usize) -> usize {
        (CONTENTS - Self::SIZE - fences * 8) / Extent::SIZE
    }
}

bytes! {
    /// A run of blocks.
    Extent {
        /// The first.
        start: u32,
        /// So many.
        length: u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The names begin with pg_ for scripts/pgrx_test.sh; no server is needed.
    #[test]
    fn pg_golden_tail() {
        let mut bytes = [0; Tail::SIZE];
        let tail = Tail { next: 5, ..Tail::new(Kind::Rows, 0x0102_0304_0506_0708, 9) };
        tail.write(&mut bytes);
        assert_eq!(bytes, [8, 7, 6, 5, 4, 3, 2, 1, 9, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 3, 1, 0x44, 0x53]);
        assert_eq!(Tail::read(&bytes), tail);
        assert_eq!(tail.kind(), Some(Kind::Rows));
        assert_eq!(Tail { version: 2, ..tail }.kind(), None);
        assert_eq!(Tail { kind: 10, ..tail }.kind(), None);
    }

    #[test]
    fn pg_golden_metapage() {
        let meta = Meta {
            magic: MAGIC,
            version: 1,
            class: 3,
            seed: 1,
            threshold: 0.8,
            head: NONE,
            tail: 6,
            ..Meta::default()
        };
        let mut bytes = [0; Meta::SIZE];
        meta.write(&mut bytes);
        assert_eq!(bytes[..9], [0x53, 0x4e, 0x44, 0x58, 1, 0, 0, 0, 3]);
        assert_eq!(bytes[24..40], [1, 0, 0, 0, 0, 0, 0, 0, 0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xe9, 0x3f]);
        assert_eq!(bytes[80..88], [0xff, 0xff, 0xff, 0xff, 6, 0, 0, 0]);
        assert_eq!(Meta::read(&bytes), meta);
        let descriptor = Descriptor { id: 1, root: 0x0a0b_0c0d, pages: 3, ..Descriptor::default() };
        let mut bytes = [0; Descriptor::SIZE];
        descriptor.write(&mut bytes);
        assert_eq!((bytes[0], &bytes[40..44], bytes[76]), (1, &[0x0d, 0x0c, 0x0b, 0x0a][..], 3));
        assert_eq!(Descriptor::read(&bytes), descriptor);
    }
}
