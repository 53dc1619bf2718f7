-- Why two texts are near duplicates. Bodies: src/pg/functions/pairs/explain.rs.

CREATE FUNCTION explain_pair(a text, b text) RETURNS TABLE(method text, similarity float8, evidence jsonb)
    AS 'MODULE_PATHNAME', 'neardup_explain_pair'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10000 ROWS 18;
COMMENT ON FUNCTION explain_pair(text, text) IS 'what every method says of two texts, and what that is made of';

CREATE FUNCTION explain_pair(a text, b text, weight text) RETURNS TABLE(method text, similarity float8, evidence jsonb)
    AS 'MODULE_PATHNAME', 'neardup_explain_pair_weighed'
    LANGUAGE c STABLE STRICT PARALLEL RESTRICTED COST 10000 ROWS 5;
COMMENT ON FUNCTION explain_pair(text, text, text) IS
    'what the methods that compare sets say of two texts by the weights of a table, and what each word weighs';

CREATE FUNCTION explain_pair(a minhash_sketch, b minhash_sketch) RETURNS TABLE(method text, similarity float8, evidence jsonb)
    AS 'MODULE_PATHNAME', 'neardup_explain_pair_minhash'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 1;
COMMENT ON FUNCTION explain_pair(minhash_sketch, minhash_sketch) IS
    'what method minhash says of two sketches, and what that is made of';

CREATE FUNCTION explain_pair(a simhash_sketch, b simhash_sketch) RETURNS TABLE(method text, similarity float8, evidence jsonb)
    AS 'MODULE_PATHNAME', 'neardup_explain_pair_simhash'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 1;
COMMENT ON FUNCTION explain_pair(simhash_sketch, simhash_sketch) IS
    'what method simhash says of two sketches, and what that is made of';

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

CREATE FUNCTION explain_pair(docs regclass, left_id "any", right_id "any") RETURNS TABLE(method text, similarity float8, evidence jsonb)
    AS 'MODULE_PATHNAME', 'neardup_explain_pair_of_rows'
    LANGUAGE c STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION explain_pair(regclass, "any", "any") IS
    'an error that says how the texts of two rows are given';

CREATE FUNCTION diff_html(docs regclass, left_id "any", right_id "any") RETURNS text
    AS 'MODULE_PATHNAME', 'neardup_diff_html_of_rows'
    LANGUAGE c STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION diff_html(regclass, "any", "any") IS
    'an error that says how the texts of two rows are given';
