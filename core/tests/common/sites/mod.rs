//! Pages of many sites, made of real articles in made frames, with the truth about who has which
//! article: what the papers are about, and no labelled corpus has.
//!
//! A site has a frame of its own: a header, a menu, a column with its latest titles,
//! advertisements, a footer. Frames are 10 to 90 % of a page's text. An article stands on one page
//! or on several, few of them on many, as on the web; on the same site, on its mirror, or on
//! others; as it is, or edited, cut, or with its paragraphs moved. Unlike articles have one frame
//! in common, and one article is in unlike frames. The same number of pages of the same corpora is
//! the same to the byte.
#![allow(dead_code, reason = "each evaluation uses some of it")]

pub mod articles;
pub mod changes;
mod frames;
mod random;

use std::path::Path;

use articles::{Article, Language};
use changes::Change;
use frames::Frame;
use random::Random;

/// Shares of a frame in the text of its pages, in hundredths; a site has one of them.
pub const SHARES: [u32; 5] = [10, 30, 50, 70, 90];
/// About how many pages a site has.
const PAGES_A_SITE: usize = 40;
/// No article stands on more pages.
const MOST_COPIES: usize = 40;

/// A page, and the truth about it.
pub struct Page {
    pub url: String,
    pub html: String,
    pub site: u32,
    /// How much of the site's pages is its frame, about, in hundredths.
    pub share: u32,
    pub language: Language,
    /// Which article it has; pages with the same one are near duplicates.
    pub article: u32,
    /// What was done to the article on this page.
    pub change: Change,
}

/// So many pages of the articles of the corpora in `data`.
pub fn pages(data: &Path, count: usize) -> Vec<Page> {
    let mut articles = articles::read(data);
    let mut random = Random::new(1);
    random.shuffle(&mut articles);
    let sites = sites(&articles, count.div_ceil(PAGES_A_SITE).max(10));
    let placed = place(&articles, &sites, count, &mut random);
    let mut titles: Vec<Vec<&str>> = vec![Vec::new(); sites.len()];
    for place in &placed {
        titles[place.site].push(&articles[place.article].title);
    }
    let page = |(number, place): (usize, &Place)| {
        let (article, frame) = (&articles[place.article], &sites[place.site]);
        let random = |page: usize| Random::new(1 << 40 | page as u64);
        let (paragraphs, change) = changes::change(article, place.change, &articles, &mut random(number));
        let shown = random(place.shown_like.unwrap_or(number));
        Page {
            url: format!("https://{}{}/{number}", if place.mirror { "mirror." } else { "" }, frame.host()),
            html: frame.page(&article.title, &paragraphs, number, &titles[place.site], shown),
            site: (place.site + if place.mirror { sites.len() } else { 0 }) as u32,
            share: frame.share,
            language: article.language,
            article: place.article as u32,
            change,
        }
    };
    placed.iter().enumerate().map(page).collect()
}

/// Where a copy of an article stands, and what is to be done to it.
#[derive(Clone, Copy)]
struct Place {
    article: usize,
    site: usize,
    /// Whether it is the mirror of that site, which has a name of its own and the same frame.
    mirror: bool,
    change: Change,
    /// The page that has the same date, titles and advertisement.
    shown_like: Option<usize>,
}

/// Sites with all shares of the frame in turn, two English ones to a Chinese one.
fn sites(articles: &[Article], count: usize) -> Vec<Frame> {
    let usual = |language| {
        let of = || articles.iter().filter(|article| article.language == language);
        of().map(Article::letters).sum::<usize>() / of().count()
    };
    let (english, chinese) = (usual(Language::English), usual(Language::Chinese));
    (0..count)
        .map(|site| match site % 3 {
            2 => Frame::new(site, Language::Chinese, SHARES[site / 3 % SHARES.len()], chinese),
            _ => Frame::new(site, Language::English, SHARES[site / 3 % SHARES.len()], english),
        })
        .collect()
}

/// Deals articles out to sites, each to as many pages as the law of the web has it, and then all
/// over again where there are not articles enough.
fn place(articles: &[Article], sites: &[Frame], count: usize, random: &mut Random) -> Vec<Place> {
    let of = |language| -> Vec<usize> {
        (0..sites.len()).filter(|&site| sites[site].language == language).collect()
    };
    let (english, chinese) = (of(Language::English), of(Language::Chinese));
    let mut placed = Vec::new();
    for article in (0..articles.len()).cycle() {
        let sites = match articles[article].language {
            Language::English => &english,
            Language::Chinese => &chinese,
        };
        let (site, first) = (*random.choose(sites), placed.len());
        let original = Place { article, site, mirror: false, change: Change::None, shown_like: None };
        for copy in 0..random.power_law(MOST_COPIES) {
            if placed.len() == count {
                return placed;
            }
            let twin = Place { shown_like: Some(first), ..original };
            placed.push(match random.below(100) {
                _ if copy == 0 => original,
                // The same page under another address.
                0..20 => twin,
                20..35 => Place { mirror: true, ..twin },
                // Another version of the same site.
                35..50 => Place { change: Change::any(random), ..original },
                _ => Place { site: *random.choose(sites), change: Change::any(random), ..original },
            });
        }
    }
    placed
}

/// The pairs of pages with the same article, the lesser number first.
pub fn truth(pages: &[Page]) -> Vec<(u32, u32)> {
    let mut order: Vec<u32> = (0..pages.len() as u32).collect();
    order.sort_by_key(|&page| pages[page as usize].article);
    let same = order.chunk_by(|&a, &b| pages[a as usize].article == pages[b as usize].article);
    same.flat_map(|same| {
        same.iter().enumerate().flat_map(|(n, &a)| same[n + 1..].iter().map(move |&b| (a, b)))
    })
    .collect()
}
