-- The text of HTML pages. Body: src/pg/functions/html.rs.

CREATE FUNCTION html_text(html text, url text DEFAULT NULL) RETURNS text
    AS 'MODULE_PATHNAME', 'neardup_html_text'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION html_text(text, text) IS
    'the text of an HTML page, blank lines between block elements; images give their URL, those on the host of the page''s own url their file name';
