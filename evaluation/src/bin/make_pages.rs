//! Writes pages of many sites whose near duplicates are known, made of the articles of the corpora
//! in DATA:
//!
//!     cargo run --release -p neardup-evaluation --bin make_pages -- DATA PAGES FOLDER
//!
//! FOLDER gets `pages.jsonl` (id, url, html, and what is known of the page: site, share of the
//! frame, language, article, change) and `label_clusters.tsv` (id, article): the form that the
//! corpora have. What they are made of has licences of its own, which the pages inherit.

use neardup_evaluation::sites;

use std::fs::{File, create_dir_all};
use std::io::{BufWriter, Result, Write};
use std::path::PathBuf;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, count, folder] = &arguments[..] else {
        eprintln!("make_pages: three arguments: the folder of the corpora, how many pages, where they go");
        std::process::exit(2);
    };
    let count = match count.parse() {
        Ok(count) if count > 0 => count,
        _ => {
            eprintln!(
                "make_pages: PAGES is \"{count}\", and must be a number from 1 on, as in: make_pages {data} 1000 {folder}"
            );
            std::process::exit(2);
        }
    };
    let folder = PathBuf::from(folder);
    create_dir_all(&folder)?;
    let mut pages = BufWriter::new(File::create(folder.join("pages.jsonl"))?);
    let mut labels = BufWriter::new(File::create(folder.join("label_clusters.tsv"))?);
    writeln!(labels, "id\tcluster")?;
    for (number, page) in sites::pages(&PathBuf::from(data), count).iter().enumerate() {
        let known = serde_json::json!({
            "id": format!("p{number}"), "url": page.url, "html": page.html, "site": page.site, "share": page.share,
            "language": format!("{:?}", page.language), "article": page.article, "change": page.change.name(),
        });
        writeln!(pages, "{known}")?;
        writeln!(labels, "p{number}\t{}", page.article)?;
    }
    pages.flush()?;
    labels.flush()
}
