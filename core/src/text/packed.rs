//! Long texts in the packed form in which the server stores them. The thread that reads a text
//! unpacks it, all of it ([`PackedText`]) or only its beginning ([`UnpackedBeginning`]).

use super::pglz::{self, Unpacking};
use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::memory;

/// The method by which a text is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// The server's own method.
    Pglz,
    /// A block of LZ4.
    Lz4,
}

/// A packed text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedText<B = Vec<u8>> {
    /// The stored bytes.
    pub bytes: B,
    /// The length of the unpacked text in bytes, as the server states it.
    pub len: usize,
    /// The method by which the text is packed.
    pub packing: Packing,
}

impl PackedText {
    /// Returns a copy.
    pub(crate) fn copied(&self) -> Result<Self> {
        let bytes = memory::collect(self.bytes.iter().copied(), "copying a text")?;
        Ok(Self { bytes, len: self.len, packing: self.packing })
    }
}

impl<B: AsRef<[u8]>> PackedText<B> {
    /// Writes the text to `text`, replacing its content. Fails with [`Error::Damaged`] if the
    /// stored bytes are invalid, or with [`Error::NotText`] if the unpacked bytes are not UTF-8.
    pub fn unpack(&self, text: &mut String, stop: &Stop) -> Result<()> {
        let mut bytes = std::mem::take(text).into_bytes();
        bytes.clear();
        memory::fill(&mut bytes, 0, self.len, "unpacking a text")?;
        self.unpack_until(&mut Unpacking::default(), &mut bytes, self.len, stop)?;
        *text = String::from_utf8(bytes).map_err(|_| Error::NotText)?;
        Ok(())
    }

    /// Goes on until `until` bytes are unpacked, or more. `bytes` is as long as the text.
    fn unpack_until(
        &self,
        progress: &mut Unpacking,
        bytes: &mut [u8],
        until: usize,
        stop: &Stop,
    ) -> Result<()> {
        let packed = self.bytes.as_ref();
        let is_valid = match self.packing {
            Packing::Pglz => pglz::unpack_until(packed, progress, bytes, until, stop)?,
            // A block is unpacked as a whole.
            Packing::Lz4 => {
                *progress = Unpacking { taken: packed.len(), at: self.len };
                lz4_flex::block::decompress_into(packed, bytes).is_ok_and(|written| written == self.len)
            }
        };
        if is_valid { Ok(()) } else { Err(Error::Damaged) }
    }
}

/// A text as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredText<'a> {
    /// A text that is not packed.
    Plain(&'a str),
    /// A packed text.
    Packed(PackedText<&'a [u8]>),
}

impl StoredText<'_> {
    /// Returns the length of the text in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Plain(text) => text.len(),
            Self::Packed(packed) => packed.len,
        }
    }

    /// Writes the text to `text`, replacing its content. Fails as [`PackedText::unpack`] does.
    pub fn unpack(&self, text: &mut String, stop: &Stop) -> Result<()> {
        match self {
            Self::Plain(plain) => {
                text.clear();
                memory::reserve_text(text, plain.len(), "copying a text")?;
                text.push_str(plain);
                Ok(())
            }
            Self::Packed(packed) => packed.unpack(text, stop),
        }
    }
}

/// The beginning of a text that is read piece by piece, so that only what is read is unpacked. It
/// keeps its memory for further texts.
#[derive(Debug, Default)]
pub struct UnpackedBeginning {
    /// The unpacked bytes, and others after them.
    bytes: Vec<u8>,
    progress: Unpacking,
}

impl UnpackedBeginning {
    /// The number of bytes that are kept for the next text.
    const KEPT: usize = 1 << 20;

    /// Starts with another text.
    pub fn restart(&mut self) {
        self.progress = Unpacking::default();
        if self.bytes.len() > Self::KEPT {
            self.bytes = Vec::new();
        }
    }

    /// Returns the text from byte `from` on, where a character begins, up to byte `until` or
    /// somewhere after it. The text is the same since the last restart. Fails as
    /// [`PackedText::unpack`] does, if this shows in the part of the text that was unpacked.
    pub fn piece<'a>(
        &'a mut self,
        text: &StoredText<'a>,
        from: usize,
        until: usize,
        stop: &Stop,
    ) -> Result<&'a str> {
        let packed = match text {
            StoredText::Plain(text) => {
                let end = text.ceil_char_boundary(until.min(text.len()));
                return text.get(from..end).ok_or(Error::NotText);
            }
            StoredText::Packed(packed) => packed,
        };
        if let Some(missing) = packed.len.checked_sub(self.bytes.len()) {
            memory::fill(&mut self.bytes, 0, missing, "unpacking a text")?;
        }
        if self.progress.at < until.min(packed.len) || self.progress == Unpacking::default() {
            packed.unpack_until(&mut self.progress, &mut self.bytes[..packed.len], until, stop)?;
        }
        let is_whole = self.progress.at == packed.len;
        let piece = self.bytes[..self.progress.at].get(from..).unwrap_or_default();
        match std::str::from_utf8(piece) {
            Ok(piece) => Ok(piece),
            // The last character is not complete yet.
            Err(error) if error.error_len().is_none() && !is_whole => {
                std::str::from_utf8(&piece[..error.valid_up_to()]).map_err(|_| Error::NotText)
            }
            Err(_) => Err(Error::NotText),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(bytes: &[u8], len: usize, packing: Packing) -> Result<String> {
        let mut text = "what was there before".to_owned();
        PackedText { bytes: bytes.to_vec(), len, packing }.unpack(&mut text, &Stop::default()).map(|()| text)
    }

    #[test]
    fn texts_of_both_packings() {
        let text = "abcdé".repeat(3);
        // Six literal bytes, then twelve copied from six bytes back.
        let pglz = b"\x40abcd\xc3\xa9\x09\x06";
        assert_eq!(unpacked(pglz, text.len(), Packing::Pglz), Ok(text.clone()));
        // The last five bytes of a block are literal.
        let lz4 = b"\x63abcd\xc3\xa9\x06\x00\x50bcd\xc3\xa9";
        assert_eq!(unpacked(lz4, text.len(), Packing::Lz4), Ok(text));
        assert_eq!(unpacked(b"", 0, Packing::Pglz), Ok(String::new()));
    }

    /// Returns what is read of a text in pieces that end at or after every `step` bytes.
    fn in_pieces(text: &StoredText<'_>, step: usize) -> Result<String> {
        let (mut beginning, mut all) = (UnpackedBeginning::default(), String::new());
        for until in (0..text.bytes() + step).step_by(step) {
            let piece = beginning.piece(text, all.len(), until, &Stop::default())?;
            all.push_str(piece);
            assert!(all.len() + 3 >= until.min(text.bytes()));
        }
        Ok(all)
    }

    #[test]
    fn pieces_are_the_text() {
        let text = "abcdé".repeat(3);
        let pglz: &[u8] = b"\x40abcd\xc3\xa9\x09\x06";
        // An item for each byte.
        let bytewise: Vec<u8> = text.as_bytes().chunks(8).flat_map(|bytes| [&[0], bytes].concat()).collect();
        let lz4: &[u8] = b"\x63abcd\xc3\xa9\x06\x00\x50bcd\xc3\xa9";
        let of = |bytes, packing| StoredText::Packed(PackedText { bytes, len: text.len(), packing });
        let (pglz, bytewise, lz4) =
            (of(pglz, Packing::Pglz), of(&bytewise, Packing::Pglz), of(lz4, Packing::Lz4));
        for stored in [pglz, bytewise, lz4, StoredText::Plain(&text)] {
            for step in 1..30 {
                assert_eq!(in_pieces(&stored, step).as_ref(), Ok(&text));
            }
            let mut whole = "what was there before".to_owned();
            assert_eq!(stored.unpack(&mut whole, &Stop::default()), Ok(()));
            assert_eq!(whole, text);
        }
    }

    #[test]
    fn pieces_of_what_is_none() {
        for (bytes, len, packing, expected) in [
            (&b"\xff\xff\xff"[..], 100, Packing::Pglz, Error::Damaged),
            (b"\xff\xff\xff", 100, Packing::Lz4, Error::Damaged),
            (b"", 100, Packing::Pglz, Error::Damaged),
            (b"\x00a\xff", 2, Packing::Pglz, Error::NotText),
            // Half a character at the end.
            (b"\x00a\xc3", 2, Packing::Pglz, Error::NotText),
            (b"\x20a\xc3", 2, Packing::Lz4, Error::NotText),
        ] {
            let stored = StoredText::Packed(PackedText { bytes, len, packing });
            assert_eq!(in_pieces(&stored, 1), Err(expected));
        }
        // After the piece that was asked for, bytes may be anything.
        let bytes: &[u8] = b"\x00abcdefgh\xff\xff\xff\xff";
        let stored = StoredText::Packed(PackedText { bytes, len: 100, packing: Packing::Pglz });
        let mut beginning = UnpackedBeginning::default();
        assert_eq!(beginning.piece(&stored, 0, 3, &Stop::default()), Ok("abcdefgh"));
        assert_eq!(beginning.piece(&stored, 3, 9, &Stop::default()), Err(Error::Damaged));
    }

    #[test]
    fn what_is_none() {
        for packing in [Packing::Pglz, Packing::Lz4] {
            assert_eq!(unpacked(b"\xff\xff\xff", 100, packing), Err(Error::Damaged));
            assert_eq!(unpacked(b"", 100, packing), Err(Error::Damaged));
        }
        assert_eq!(unpacked(b"\x00\xff", 1, Packing::Pglz), Err(Error::NotText));
        assert_eq!(unpacked(b"\x10\xff", 1, Packing::Lz4), Err(Error::NotText));
    }
}
