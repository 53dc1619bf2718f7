//! What a file has twice, by the suffix array of its bytes: what deduplicate-text-datasets does, on
//! one thread and in one piece.
//!
//!     suffix-array-peer FILE BYTES
//!
//! Prints the number of bytes that are in a run of at least BYTES bytes that the file has twice,
//! and the number of the ranges that they form.

use libsais::SuffixArrayConstruction;

/// The number of bytes that two suffixes have in common, up to `most`.
fn common(a: &[u8], b: &[u8], most: usize) -> usize {
    a.iter().zip(b).take(most).take_while(|(x, y)| x == y).count()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    const USAGE: &str = "usage: suffix-array-peer FILE BYTES";
    let mut args = std::env::args().skip(1);
    let (file, least) = (args.next().ok_or(USAGE)?, args.next().ok_or(USAGE)?.parse::<usize>()?);
    let text = std::fs::read(file)?;
    let construction = SuffixArrayConstruction::for_text(&text).in_owned_buffer32().single_threaded();
    let suffixes = construction.run().map_err(|error| format!("{error:?}"))?.into_vec();
    // Suffixes that begin with the same bytes are beside each other.
    let mut starts: Vec<usize> = Vec::new();
    let mut last = usize::MAX;
    for two in suffixes.windows(2) {
        let [a, b] = [two[0] as usize, two[1] as usize];
        if common(&text[a..], &text[b..], least) == least {
            if last != a {
                starts.push(a);
            }
            starts.push(b);
            last = b;
        }
    }
    drop(suffixes);
    starts.sort_unstable();
    let (mut bytes, mut ranges, mut end) = (0, 0, 0);
    for start in starts {
        ranges += usize::from(start > end || end == 0);
        bytes += start + least - start.max(end);
        end = start + least;
    }
    println!("{bytes} {ranges}");
    Ok(())
}
