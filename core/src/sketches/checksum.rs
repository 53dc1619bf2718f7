//! Checksums of texts.

use md5::{Digest, Md5};

use crate::error::Result;
use crate::executor::Stop;
use crate::text::characters::is_unseen;

/// Returns the MD5 of a text. If `clean`, white space, control and format characters are removed
/// first. Returns `None` if no text is left.
pub fn checksum(text: &str, clean: bool, stop: &Stop) -> Result<Option<[u64; 2]>> {
    const CHECK_EVERY: usize = 1 << 16;
    let mut hash = Md5::new();
    let mut any = false;
    let mut rest = text;
    while !rest.is_empty() {
        stop.check()?;
        let (chunk, after) = rest.split_at(rest.floor_char_boundary(CHECK_EVERY));
        rest = after;
        if clean {
            for run in chunk.split(is_left_out).filter(|run| !run.is_empty()) {
                hash.update(run);
                any = true;
            }
        } else {
            hash.update(chunk);
            any = true;
        }
    }
    // MD5 has 16 bytes.
    let whole = u128::from_be_bytes(hash.finalize().into());
    Ok(any.then_some([(whole >> 64) as u64, whole as u64]))
}

fn is_left_out(c: char) -> bool {
    !c.is_ascii_graphic() && is_unseen(c)
}
