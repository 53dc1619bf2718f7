//! What stands around an article on the pages of a site.

use std::fmt::Write;

use super::articles::Language;
use super::random::Random;

/// A site: its name, and the text that all of its pages have.
pub struct Frame {
    pub language: Language,
    /// How much of the text of a page it is, about, in hundredths.
    pub share: u32,
    name: String,
    site: usize,
    menu: Vec<String>,
    /// Sentences above the article, beside it, and below it.
    above: Vec<String>,
    beside: Vec<String>,
    below: Vec<String>,
    advertisements: Vec<String>,
    /// Titles of other articles that a page shows.
    titles: usize,
}

/// About how many characters a title, and an entry of a menu, has.
const TITLE: [usize; 2] = [50, 18];

impl Frame {
    /// The frame of a site whose articles have about so many characters.
    pub fn new(site: usize, language: Language, share: u32, characters: usize) -> Self {
        let mut random = Random::new(1 << 50 | site as u64);
        let title = TITLE[usize::from(language == Language::Chinese)];
        let mut left = characters * share as usize / (100 - share as usize);
        // Titles of other articles are a third of what is left for them, and change from page to
        // page.
        let titles = (left / 3 / title).min(12);
        left -= titles * title;
        let sentences = |end: usize, random: &mut Random| {
            let (mut made, mut length) = (Vec::new(), 0);
            loop {
                let sentence = sentence(language, random);
                length += sentence.chars().count();
                if length > end {
                    return made;
                }
                made.push(sentence);
            }
        };
        let advertisements = sentences(8 * title, &mut random);
        left = left.saturating_sub(title);
        let menu: Vec<String> = (0..(left / 10 / 8).min(30))
            .map(|_| phrase(language, 1 + random.below(2), &mut random))
            .collect();
        left = left.saturating_sub(menu.iter().map(|entry| entry.chars().count()).sum());
        Self {
            language,
            share,
            name: phrase(language, 2, &mut random),
            site,
            menu,
            above: sentences(left / 10, &mut random),
            beside: sentences(left / 3, &mut random),
            below: sentences(left - left / 10 - left / 3, &mut random),
            advertisements,
            titles,
        }
    }

    pub fn host(&self) -> String {
        format!("site{}.example", self.site)
    }

    /// The page of this number, with an article, and some of the titles of the site.
    pub fn page(
        &self,
        title: &str,
        paragraphs: &[String],
        number: usize,
        others: &[&str],
        mut random: Random,
    ) -> String {
        let mut html = String::new();
        let list = |items: &[String]| -> String {
            items.iter().map(|item| format!("<li><a href=\"/\">{}</a></li>", escaped(item))).collect()
        };
        let block = |items: &[String]| -> String {
            items.iter().map(|item| format!("<p>{}</p>\n", escaped(item))).collect()
        };
        let body: String =
            paragraphs.iter().map(|paragraph| format!("<p>{}</p>\n", escaped(paragraph))).collect();
        let titles: Vec<String> = (0..self.titles).map(|_| (*random.choose(others)).to_owned()).collect();
        let (day, month) = (1 + random.below(28), 1 + random.below(12));
        let advertisement = escaped(random.choose::<String>(&self.advertisements));
        let (title, name) = (escaped(title), escaped(&self.name));
        write!(
            html,
            "<!DOCTYPE html>\n<html><head><title>{title} - {name}</title>\n\
             <script>var site = {site};</script><style>.beside {{ float: right }}</style></head>\n<body>\n\
             <header><h2>{name}</h2><nav><ul>{menu}</ul></nav></header>\n<div class=\"above\">{above}</div>\n\
             <div class=\"beside\">{beside}<p>{advertisement}</p><ul>{titles}</ul></div>\n\
             <main><h1>{title}</h1><p class=\"date\">2026-{month:02}-{day:02}</p>\n{body}</main>\n\
             <footer>{below}<p>{number}</p></footer>\n</body></html>\n",
            site = self.site,
            menu = list(&self.menu),
            above = block(&self.above),
            beside = block(&self.beside),
            titles = list(&titles),
            below = block(&self.below),
        )
        .expect("memory");
        html
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// So many words.
fn phrase(language: Language, words: usize, random: &mut Random) -> String {
    let words = (0..words).map(|_| match language {
        Language::English => *random.choose(&ENGLISH),
        Language::Chinese => *random.choose(&CHINESE),
    });
    match language {
        Language::English => words.collect::<Vec<_>>().join(" "),
        Language::Chinese => words.collect(),
    }
}

fn sentence(language: Language, random: &mut Random) -> String {
    let words = 5 + random.below(9);
    let mut sentence = phrase(language, words, random);
    sentence.push(if language == Language::English { '.' } else { '。' });
    sentence
}

/// Words that frames of pages are made of.
const ENGLISH: [&str; 120] = [
    "about",
    "account",
    "address",
    "advertise",
    "all",
    "and",
    "app",
    "archive",
    "are",
    "article",
    "by",
    "careers",
    "click",
    "comments",
    "company",
    "complete",
    "contact",
    "content",
    "cookies",
    "copyright",
    "customers",
    "daily",
    "deals",
    "delivery",
    "details",
    "discover",
    "download",
    "edition",
    "editor",
    "email",
    "enter",
    "events",
    "every",
    "explore",
    "family",
    "featured",
    "feedback",
    "find",
    "follow",
    "for",
    "free",
    "from",
    "gallery",
    "gift",
    "group",
    "guide",
    "health",
    "help",
    "here",
    "home",
    "in",
    "information",
    "is",
    "join",
    "latest",
    "legal",
    "letters",
    "life",
    "login",
    "magazine",
    "market",
    "media",
    "members",
    "menu",
    "mobile",
    "more",
    "most",
    "network",
    "new",
    "newsletter",
    "now",
    "of",
    "offers",
    "on",
    "online",
    "opinion",
    "our",
    "page",
    "partners",
    "password",
    "photo",
    "podcast",
    "policy",
    "popular",
    "press",
    "print",
    "privacy",
    "products",
    "public",
    "reader",
    "recommended",
    "register",
    "reserved",
    "rights",
    "search",
    "section",
    "send",
    "service",
    "share",
    "shop",
    "sign",
    "site",
    "sports",
    "store",
    "stories",
    "subscribe",
    "support",
    "terms",
    "the",
    "this",
    "to",
    "today",
    "topics",
    "travel",
    "trial",
    "us",
    "use",
    "video",
    "weekly",
    "your",
];
const CHINESE: [&str; 72] = [
    "关于", "我们", "联系", "首页", "登录", "注册", "新闻", "国内", "国际", "财经", "体育", "娱乐", "科技",
    "汽车", "房产", "旅游", "健康", "教育", "文化", "视频", "图片", "专题", "评论", "论坛", "博客", "手机",
    "客户", "下载", "订阅", "广告", "服务", "招聘", "合作", "版权", "所有", "声明", "隐私", "条款", "地图",
    "帮助", "中心", "意见", "反馈", "举报", "电话", "邮箱", "地址", "许可", "备案", "编辑", "责任", "来源",
    "分享", "收藏", "打印", "字号", "热门", "推荐", "阅读", "更多", "相关", "文章", "最新", "动态", "精彩",
    "活动", "优惠", "会员", "购物", "商城", "免费", "试用",
];
