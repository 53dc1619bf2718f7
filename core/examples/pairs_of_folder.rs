//! Prints the pairs of similar files of a folder, and of the folders in it:
//!
//! ```text
//! cargo run --release -p neardup-core --example pairs_of_folder -- FOLDER 0.8
//! ```

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// Adds the texts below a path. What is not UTF-8 is read as well as possible.
fn read(path: &Path, texts: &mut Vec<(PathBuf, String)>) -> Result<(), Box<dyn Error>> {
    if path.is_dir() {
        return fs::read_dir(path)?.try_for_each(|entry| read(&entry?.path(), texts));
    }
    texts.push((path.to_owned(), String::from_utf8_lossy(&fs::read(path)?).into_owned()));
    Ok(())
}

/// Returns a line for each pair of files whose words are that similar.
pub fn pairs_of_folder(folder: &Path, threshold: f64) -> Result<Vec<String>, Box<dyn Error>> {
    let mut files = Vec::new();
    read(folder, &mut files)?;
    files.sort();
    let texts: Vec<&String> = files.iter().map(|(_, text)| text).collect();
    let pairs = neardup_core::near_duplicates(&texts, threshold)?;
    let name = |row: u32| files[row as usize].0.display();
    let lines = pairs.iter().map(|p| format!("{:.3} {} {}", p.similarity, name(p.left), name(p.right)));
    Ok(lines.collect())
}

/// Reads the folder and the threshold from the command line.
pub fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, folder, threshold] = &arguments[..] else { return Err("usage: FOLDER THRESHOLD".into()) };
    pairs_of_folder(Path::new(folder), threshold.parse()?)?.iter().for_each(|line| println!("{line}"));
    Ok(())
}
