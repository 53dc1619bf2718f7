//! Writes corpora of made texts, so that the evaluations run where there are no real ones:
//!
//!     cargo run --release -p neardup-evaluation --bin make_corpora -- FOLDER

use std::path::Path;

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder] = &arguments[..] else {
        eprintln!("make_corpora: one argument: the folder that they go into");
        std::process::exit(2);
    };
    neardup_evaluation::made_corpora::write(Path::new(folder))
}
