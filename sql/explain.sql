-- Why two texts are near duplicates. Bodies: src/pg/functions/explain.rs.

CREATE FUNCTION explain_pair(a text, b text) RETURNS TABLE(method text, similarity float8, evidence jsonb)
    AS 'MODULE_PATHNAME', 'neardup_explain_pair'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10000 ROWS 18;
COMMENT ON FUNCTION explain_pair(text, text) IS 'what every method says of two texts, and what that is made of';

CREATE FUNCTION diff_html(a text, b text) RETURNS text
    AS 'MODULE_PATHNAME', 'neardup_diff_html'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION diff_html(text, text) IS
    'two texts side by side as HTML: what differs is marked, passages in common are shaded by a switch, with a dot plot of their sentences';

CREATE FUNCTION explain_pair_text(a text, b text, width int DEFAULT 80) RETURNS text
    AS 'MODULE_PATHNAME', 'neardup_explain_pair_text'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION explain_pair_text(text, text, int) IS
    'what every method says of two texts, and their words with the differences marked, as lines of a width for a terminal';
