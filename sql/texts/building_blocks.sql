-- Words, shingles and the measures of two texts; the text of HTML pages. Bodies: src/pg/functions/texts/building_blocks.rs.

CREATE FUNCTION words(text text) RETURNS text[]
    AS 'MODULE_PATHNAME', 'neardup_words'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION words(text) IS
    'the words of a text in order: runs of letters and numbers, case-folded; characters of scripts without spaces one by one';

CREATE FUNCTION shingles(text text, k int DEFAULT 5, wrap bool DEFAULT false) RETURNS bigint[]
    AS 'MODULE_PATHNAME', 'neardup_shingles'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION shingles(text, int, bool) IS
    '64-bit hashes of every k consecutive words, in order; with wrap the windows go on at the start of the text';

CREATE FUNCTION jaccard(a text, b text, k int DEFAULT 1) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_jaccard'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION jaccard(text, text, int) IS
    'shared / all words of two texts, repeats counted; for k > 1 of their sets of k-word shingles';

CREATE FUNCTION cosine(a text, b text, k int DEFAULT 1) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_cosine'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cosine(text, text, int) IS
    'shared words of two texts / square root of the product of their numbers, repeats counted; for k > 1 of their sets of k-word shingles';

CREATE FUNCTION dice(a text, b text, k int DEFAULT 1) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_dice'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION dice(text, text, int) IS
    'shared words of two texts / mean of their numbers, repeats counted; for k > 1 of their sets of k-word shingles';

CREATE FUNCTION overlap(a text, b text, k int DEFAULT 1) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_overlap'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION overlap(text, text, int) IS
    'shared words of two texts / words of the shorter one, repeats counted; for k > 1 of their sets of k-word shingles';

CREATE FUNCTION resemblance(a text, b text, k int DEFAULT 5) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_resemblance'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION resemblance(text, text, int) IS
    'shared / all k-word shingles of two texts (Broder)';

CREATE FUNCTION containment(a text, b text, k int DEFAULT 5) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_containment'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION containment(text, text, int) IS
    'the share of the k-word shingles of a that b contains (Broder)';

CREATE FUNCTION edit_similarity(a text, b text, damerau bool DEFAULT false) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_edit_similarity'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION edit_similarity(text, text, bool) IS
    '1 - edit distance / characters of the longer text; case and white space count';

CREATE FUNCTION html_text(html text, url text DEFAULT NULL, image_urls text DEFAULT 'words') RETURNS text
    AS 'MODULE_PATHNAME', 'neardup_html_text'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION html_text(text, text, text) IS
    'the text of an HTML page, blank lines between block elements; images give their URL, those on the host of the page''s own url their file name';
