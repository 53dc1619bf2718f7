//! Hosts of URLs, as far as they are needed to distinguish images on a page's own host from other
//! images.

use crate::text::characters::trim;

/// Reports whether a URL begins with a scheme.
pub(super) fn has_scheme(url: &str) -> bool {
    let Some((scheme, _)) = url.split_once(':') else { return false };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
}

/// Returns the host of a URL, and its port unless that is 80 or 443. Returns `None` for a relative
/// URL.
pub(super) fn host(url: &str) -> Option<&str> {
    let rest = match url.strip_prefix("//") {
        Some(rest) => rest,
        None if has_scheme(url) => url.split_once(':')?.1.strip_prefix("//")?,
        None => return None,
    };
    let authority = rest.split(['/', '\\', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    Some(host.strip_suffix(":80").or_else(|| host.strip_suffix(":443")).unwrap_or(host))
}

/// Returns the host of the page, whose URL may be given without a scheme.
pub(super) fn page_host(url: &str) -> Option<&str> {
    let url = trim(url);
    host(url).or_else(|| url.split(['/', '?', '#']).next()).filter(|host| !host.is_empty())
}

/// Reports whether two hosts are the same.
pub(super) fn same_host(a: &str, b: &str) -> bool {
    a.trim_end_matches('.').eq_ignore_ascii_case(b.trim_end_matches('.'))
}
