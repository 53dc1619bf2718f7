//! The longest common subsequence of pairs of real documents against lengths that other programs
//! found (`char_pairs.tsv` in the folder NEARDUP_DATA).

use std::collections::{HashMap, HashSet};
use std::path::Path;

use neardup_core::executor::Stop;
use neardup_core::verify::lcs::{Lcs, LcsBounds, containment, resemblance, symbols};

use crate::common::corpora;

/// The texts of some documents of a corpus.
fn texts(data: &Path, corpus: &str, wanted: &HashSet<&str>) -> HashMap<String, Vec<u32>> {
    corpora::documents(data, corpus)
        .map(|document| (corpora::id(&document), corpora::text(&document)))
        .filter(|(id, _)| wanted.contains(&**id))
        .map(|(id, text)| (id, symbols(&text).expect("memory")))
        .collect()
}

#[test]
fn pairs_of_real_documents() {
    let Some(data) = corpora::folder("char_pairs") else { return };
    let Ok(table) = std::fs::read_to_string(data.join("char_pairs.tsv")) else {
        return corpora::say(&format!(
            "char_pairs: no char_pairs.tsv at {}, nothing compared",
            data.display()
        ));
    };
    let mut of_corpus: HashMap<&str, Vec<Vec<&str>>> = HashMap::new();
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        of_corpus.entry(fields[0]).or_default().push(fields);
    }
    let (stop, mut lcs) = (Stop::default(), Lcs::default());
    let mut compared = 0;
    for (corpus, pairs) in of_corpus {
        let texts = texts(&data, corpus, &pairs.iter().flat_map(|pair| pair[1..3].to_vec()).collect());
        for pair in pairs {
            let (a, b) = (&texts[pair[1]], &texts[pair[2]]);
            assert_eq!((a.len().to_string(), b.len().to_string()), (pair[4].to_owned(), pair[5].to_owned()));
            let length = lcs.length(a, b, LcsBounds::default(), &stop).unwrap().unwrap();
            let measures = [
                length.to_string(),
                format!("{:.6}", resemblance(length, a.len(), b.len())),
                format!("{:.6}", containment(length, b.len())),
                format!("{:.6}", containment(length, a.len())),
            ];
            assert_eq!(measures, pair[6..10], "{pair:?}");
            assert_eq!(lcs.length(a, b, LcsBounds::least(length), &stop).unwrap(), Some(length));
            assert_eq!(lcs.length(a, b, LcsBounds::least(length + 1), &stop).unwrap(), None);
            let mut matched = Vec::new();
            assert!(lcs.matches(a, b, LcsBounds::default(), &stop, |x, y| matched.push((x, y))).unwrap());
            assert_eq!(matched.len(), length);
            assert!(matched.iter().all(|&(x, y)| a[x] == b[y]));
            assert!(matched.windows(2).all(|two| two[0].0 > two[1].0 && two[0].1 > two[1].1));
            compared += 1;
        }
    }
    corpora::say(&format!("char_pairs: {compared} pairs"));
}
