//! Long texts in the packed form in which the server stores them. The thread that reads a text
//! unpacks it.

use super::pglz;
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// The stored bytes.
    pub bytes: Vec<u8>,
    /// The length of the unpacked text in bytes, as the server states it.
    pub len: usize,
    /// The method by which the text is packed.
    pub packing: Packing,
}

impl Packed {
    /// Writes the text to `text`, replacing its content. Fails with [`Error::Damaged`] if the
    /// stored bytes are invalid, or with [`Error::NotText`] if the unpacked bytes are not UTF-8.
    pub fn unpack(&self, text: &mut String, stop: &Stop) -> Result<()> {
        let mut bytes = std::mem::take(text).into_bytes();
        bytes.clear();
        memory::reserve(&mut bytes, self.len, "unpacking a text")?;
        bytes.resize(self.len, 0);
        let is_whole = match self.packing {
            Packing::Pglz => pglz::unpack(&self.bytes, &mut bytes, stop)?,
            Packing::Lz4 => lz4_flex::block::decompress_into(&self.bytes, &mut bytes)
                .is_ok_and(|written| written == self.len),
        };
        if !is_whole {
            return Err(Error::Damaged);
        }
        *text = String::from_utf8(bytes).map_err(|_| Error::NotText)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(bytes: &[u8], len: usize, packing: Packing) -> Result<String> {
        let mut text = "what was there before".to_owned();
        Packed { bytes: bytes.to_vec(), len, packing }.unpack(&mut text, &Stop::default()).map(|()| text)
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
