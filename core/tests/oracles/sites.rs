//! The pages of many sites that evaluations are made on are what they say: the same each time, with
//! the frames, the changes and the truth that they are said to have. The corpora that they are made
//! of are in the folder NEARDUP_DATA.

use std::collections::{HashMap, HashSet};

use neardup_core::text::html::html_text;

use crate::common::{corpora, sites};
use sites::articles::Language;
use sites::changes::Change;

const PAGES: usize = 3000;

#[test]
fn pages_are_what_they_say() {
    let Some(data) = corpora::folder("sites") else { return };
    let pages = sites::pages(&data, PAGES);
    assert_eq!(pages.len(), PAGES);
    let again = sites::pages(&data, PAGES);
    assert!(
        pages.iter().zip(&again).all(|(a, b)| (&a.html, &a.url) == (&b.html, &b.url)),
        "the same each time"
    );
    assert_eq!(pages.iter().map(|page| &page.url).collect::<HashSet<_>>().len(), PAGES);

    // Both languages, all shares of the frame and all changes, on one site and on two.
    let languages = [Language::English, Language::Chinese];
    for language in languages {
        for share in sites::SHARES {
            assert!(pages.iter().any(|page| page.language == language && page.share == share));
        }
    }
    let truth = sites::truth(&pages);
    for change in Change::ALL {
        for same in [true, false] {
            let found = truth.iter().any(|&(a, b)| {
                let [a, b] = [a, b].map(|page| &pages[page as usize]);
                (a.site == b.site) == same && [a.change, b.change].contains(&change)
            });
            assert!(found, "{change:?} on one site: {same}");
        }
    }
    // All pairs of pages with one article, and no others.
    let mut of: HashMap<u32, usize> = HashMap::new();
    pages.iter().for_each(|page| *of.entry(page.article).or_default() += 1);
    assert_eq!(truth.len(), of.values().map(|n| n * (n - 1) / 2).sum::<usize>());
    assert!(truth.iter().all(|&(a, b)| a < b && pages[a as usize].article == pages[b as usize].article));

    // The share of the frame, over all pages of that share.
    for (share, language) in
        sites::SHARES.iter().flat_map(|&share| languages.map(|language| (share, language)))
    {
        let (mut frame, mut all) = (0, 0);
        for page in pages.iter().filter(|page| (page.share, page.language) == (share, language)) {
            let letters = |html: &str| html_text(html, None).chars().filter(|c| !c.is_whitespace()).count();
            let body = page.html.split("<main>").nth(1).and_then(|rest| rest.split("</main>").next());
            let (whole, body) = (letters(&page.html), letters(body.expect("an article")));
            frame += whole - body;
            all += whole;
        }
        let measured = 100.0 * frame as f64 / all as f64;
        assert!(
            (measured - f64::from(share)).abs() < 8.0,
            "{measured:.0} of hundred are the frame, not {share}"
        );
    }
}
