//! The documents of a source as near_duplicates_into carries them to other servers.

use super::source::{DocumentSource, NONE};
use crate::pg::query::decode::ColumnContent;

impl DocumentSource {
    /// Returns the SQL expression for the document of a row, which is the text of a page if
    /// documents are pages; `None` for sketches. `schema` is that of the extension.
    pub(crate) fn text_or_tokens(&self, schema: &str) -> Option<String> {
        let document = &self.document;
        match (self.kind, self.are_pages) {
            (ColumnContent::Sketches(..), _) => None,
            (ColumnContent::Text, true) => {
                let url = self.url.as_ref().map_or(NONE, |[url, _]| url);
                Some(format!("{schema}.html_text({document}, {url})"))
            }
            _ => Some(document.clone()),
        }
    }
}
