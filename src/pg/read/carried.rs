//! The documents of a source as near_duplicates_into carries them to other servers.

use super::source::{NONE, Source};
use crate::pg::query::decode::Kind;

impl Source {
    /// Returns the SQL expression for the document of a row, which is the text of a page if
    /// documents are pages; `None` for sketches. `schema` is that of the extension.
    pub(crate) fn text_or_tokens(&self, schema: &str) -> Option<String> {
        let document = &self.document;
        match (self.kind, self.are_pages) {
            (Kind::Sketches(..), _) => None,
            (Kind::Text, true) => {
                let url = self.url.as_ref().map_or(NONE, |[url, _]| url);
                Some(format!("{schema}.html_text({document}, {url})"))
            }
            _ => Some(document.clone()),
        }
    }
}
