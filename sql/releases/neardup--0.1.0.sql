-- Words, shingles and the measures of two texts. Bodies: src/pg/functions/building_blocks.rs.

CREATE FUNCTION words(text text) RETURNS text[]
    AS 'MODULE_PATHNAME', 'neardup_words'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION words(text) IS
    'the words of a text in order: runs of letters and numbers, lower-cased; characters of scripts without spaces one by one';

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

CREATE FUNCTION edit_similarity(a text, b text) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_edit_similarity'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION edit_similarity(text, text) IS
    '1 - Levenshtein distance / characters of the longer text; case and white space count';
-- The text of HTML pages. Body: src/pg/functions/html.rs.

CREATE FUNCTION html_text(html text, url text DEFAULT NULL) RETURNS text
    AS 'MODULE_PATHNAME', 'neardup_html_text'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION html_text(text, text) IS
    'the text of an HTML page, blank lines between block elements; images give their URL, those on the host of the page''s own url their file name';
-- Signatures of a text: spots and I-Match. Bodies: src/pg/functions/signatures.rs.

CREATE FUNCTION spotsigs(
    text text,
    antecedents text[] DEFAULT NULL,
    chain int DEFAULT 2,
    distance int DEFAULT 1
) RETURNS bigint[]
    AS 'MODULE_PATHNAME', 'neardup_spotsigs'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION spotsigs(text, text[], int, int) IS
    'the distinct spot signatures of a text: chains of telling words behind common ones, hashed';

CREATE FUNCTION imatch(
    text text,
    terms text[] DEFAULT '{}',
    document_counts bigint[] DEFAULT '{}',
    documents bigint DEFAULT 1,
    lo float8 DEFAULT 0.1,
    hi float8 DEFAULT 1
) RETURNS bigint[]
    AS 'MODULE_PATHNAME', 'neardup_imatch'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION imatch(text, text[], bigint[], bigint, float8, float8) IS
    'the I-Match signature of a text: its distinct words whose idf is in a range, hashed together; no element where no word is';
-- Sentences and paragraphs of a text with their places. Bodies: src/pg/functions/spans.rs.

CREATE FUNCTION sentences(text text) RETURNS TABLE(no int, span int4range, sentence text)
    AS 'MODULE_PATHNAME', 'neardup_sentences'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 30;
COMMENT ON FUNCTION sentences(text) IS
    'the sentences of a text in order, English or Chinese; span counts characters as substring does';

CREATE FUNCTION paragraphs(text text) RETURNS TABLE(no int, span int4range, paragraph text)
    AS 'MODULE_PATHNAME', 'neardup_paragraphs'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 10;
COMMENT ON FUNCTION paragraphs(text) IS
    'the paragraphs of a text in order: parted by blank lines, or its lines where it has no blank one';
-- Longest common subsequences, their trustable parts, and sentence signatures. Bodies: src/pg/functions/lcs.rs.

CREATE FUNCTION lcs_length(a text, b text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'neardup_lcs_length'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION lcs_length(text, text) IS
    'characters of the longest common subsequence of two texts, exactly';

CREATE FUNCTION lcs_resemblance(a text, b text) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_lcs_resemblance'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION lcs_resemblance(text, text) IS
    'twice the longest common subsequence of two texts / the characters of both';

CREATE FUNCTION lcs_containment(a text, b text) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_lcs_containment'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION lcs_containment(text, text) IS
    'the share of the characters of b that are in the longest common subsequence of a and b';

CREATE FUNCTION tlcs_resemblance(
    a text,
    b text,
    slope float8 DEFAULT 0.1,
    "window" int DEFAULT 16,
    first int DEFAULT 10240,
    centre float8[] DEFAULT '{0.4,0.6}',
    min_part int DEFAULT 0
) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_tlcs_resemblance'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION tlcs_resemblance(text, text, float8, int, int, float8[], int) IS
    'twice the trustable longest common subsequence of two texts / the characters of both: what they share without a break, not only as templates';

CREATE FUNCTION tlcs_containment(
    a text,
    b text,
    slope float8 DEFAULT 0.1,
    "window" int DEFAULT 16,
    first int DEFAULT 10240,
    centre float8[] DEFAULT '{0.4,0.6}',
    min_part int DEFAULT 0
) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_tlcs_containment'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION tlcs_containment(text, text, float8, int, int, float8[], int) IS
    'the share of the characters of b that are in the trustable longest common subsequence of a and b';

CREATE FUNCTION tlcs(
    a text,
    b text,
    slope float8 DEFAULT 0.1,
    "window" int DEFAULT 16,
    first int DEFAULT 10240,
    centre float8[] DEFAULT '{0.4,0.6}',
    min_part int DEFAULT 0
) RETURNS TABLE(left_span int4range, right_span int4range, length int)
    AS 'MODULE_PATHNAME', 'neardup_tlcs'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10000 ROWS 1;
COMMENT ON FUNCTION tlcs(text, text, float8, int, int, float8[], int) IS
    'the trustable regions of two texts, and how many characters they have in common there; spans count characters as substring does';

CREATE FUNCTION sentence_signatures(
    text text,
    m int DEFAULT 7,
    n int DEFAULT 16,
    s int DEFAULT 3,
    min_width int DEFAULT 16
) RETURNS uuid[]
    AS 'MODULE_PATHNAME', 'neardup_sentence_signatures'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION sentence_signatures(text, int, int, int, int) IS
    'at most m * n signatures of the sentences of a text that are wider than min_width; texts with long sentences in common are likely to have one in common';
-- Feature codes and their repeatability. Bodies: src/pg/functions/codes.rs.

CREATE FUNCTION feature_code(
    text text,
    anchors text DEFAULT '',
    cut int DEFAULT 1000,
    unit_length int DEFAULT 300,
    unit_share float8 DEFAULT 0.75,
    paragraphs int DEFAULT 10,
    ends int DEFAULT 10,
    min_length int DEFAULT 6,
    fallback int DEFAULT 20
) RETURNS text
    AS 'MODULE_PATHNAME', 'neardup_feature_code'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION feature_code(text, text, int, int, float8, int, int, int, int) IS
    'the characters beside the punctuation marks of a text''s first long paragraphs, or the ends of its paragraphs: a short string that stays the same where little of the text changes';

CREATE FUNCTION repeatability(container text, contained text) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_repeatability'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION repeatability(text, text) IS
    'the longest common substring of the feature codes of two texts / the length of the code of contained';

CREATE FUNCTION code_repeatability(container text, contained text) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_code_repeatability'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION code_repeatability(text, text) IS
    'the longest common substring of two feature codes / the length of contained';
-- Why two texts are near duplicates. Bodies: src/pg/functions/explain.rs.

CREATE FUNCTION explain_pair(a text, b text) RETURNS TABLE(method text, similarity float8, evidence jsonb)
    AS 'MODULE_PATHNAME', 'neardup_explain_pair'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10000 ROWS 18;
COMMENT ON FUNCTION explain_pair(text, text) IS 'what every method says of two texts, and what that is made of';

CREATE FUNCTION diff_html(a text, b text) RETURNS text
    AS 'MODULE_PATHNAME', 'neardup_diff_html'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION diff_html(text, text) IS 'two texts side by side as HTML, with the passages they share marked and a dot plot of their sentences';
-- Bands and rows of minhash. Body: src/pg/functions/plan.rs.

CREATE FUNCTION neardup_plan(
    threshold float8 DEFAULT 0.8,
    recall float8 DEFAULT 0.95,
    preset text DEFAULT NULL
) RETURNS TABLE(
    bands int,
    "rows" int,
    permutations int,
    detection_at_threshold float8,
    similarity float8,
    detection float8
)
    AS 'MODULE_PATHNAME', 'neardup_plan'
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 20;
COMMENT ON FUNCTION neardup_plan(float8, float8, text) IS
    'bands and rows of minhash that find a pair as similar as the threshold with probability recall, or those of a preset, and with which probability they find pairs of other similarities';
-- The types of sketches and of balls about them. Bodies of their input and output: src/pg/functions/sketch_types.rs; they
-- compare as their bytes do, by the server's own functions.

-- All five have the same declarations, %1$I being the name of the type.
DO $$
DECLARE
    name pg_catalog.text;
BEGIN
    FOREACH name IN ARRAY '{minhash_sketch,simhash_sketch,minhash_ball,simhash_ball,text_ball}'::pg_catalog.text[] LOOP
        EXECUTE pg_catalog.format($declarations$

        CREATE TYPE %1$I;

        CREATE FUNCTION %1$I_in(cstring) RETURNS %1$I
            AS 'MODULE_PATHNAME', 'neardup_%1$I_in'
            LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
        COMMENT ON FUNCTION %1$I_in(cstring) IS 'reads a %1$I from text';

        CREATE FUNCTION %1$I_out(%1$I) RETURNS cstring
            AS 'MODULE_PATHNAME', 'neardup_%1$I_out'
            LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
        COMMENT ON FUNCTION %1$I_out(%1$I) IS 'a %1$I as text';

        CREATE FUNCTION %1$I_recv(internal) RETURNS %1$I
            AS 'MODULE_PATHNAME', 'neardup_%1$I_recv'
            LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
        COMMENT ON FUNCTION %1$I_recv(internal) IS 'reads a %1$I in binary form';

        CREATE FUNCTION %1$I_send(%1$I) RETURNS bytea
            AS 'byteasend'
            LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
        COMMENT ON FUNCTION %1$I_send(%1$I) IS 'a %1$I in binary form';

        -- Hashes do not compress: where a row is long they go out of line as they are.
        CREATE TYPE %1$I (
            INPUT = %1$I_in,
            OUTPUT = %1$I_out,
            RECEIVE = %1$I_recv,
            SEND = %1$I_send,
            INTERNALLENGTH = VARIABLE,
            ALIGNMENT = int4,
            STORAGE = external
        );

        CREATE FUNCTION %1$I_eq(a %1$I, b %1$I) RETURNS bool
            AS 'byteaeq'
            LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
        COMMENT ON FUNCTION %1$I_eq(%1$I, %1$I) IS 'implementation of the = operator';

        CREATE FUNCTION %1$I_ne(a %1$I, b %1$I) RETURNS bool
            AS 'byteane'
            LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
        COMMENT ON FUNCTION %1$I_ne(%1$I, %1$I) IS 'implementation of the <> operator';

        CREATE FUNCTION %1$I_lt(a %1$I, b %1$I) RETURNS bool
            AS 'bytealt'
            LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
        COMMENT ON FUNCTION %1$I_lt(%1$I, %1$I) IS 'implementation of the < operator';

        CREATE FUNCTION %1$I_le(a %1$I, b %1$I) RETURNS bool
            AS 'byteale'
            LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
        COMMENT ON FUNCTION %1$I_le(%1$I, %1$I) IS 'implementation of the <= operator';

        CREATE FUNCTION %1$I_gt(a %1$I, b %1$I) RETURNS bool
            AS 'byteagt'
            LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
        COMMENT ON FUNCTION %1$I_gt(%1$I, %1$I) IS 'implementation of the > operator';

        CREATE FUNCTION %1$I_ge(a %1$I, b %1$I) RETURNS bool
            AS 'byteage'
            LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
        COMMENT ON FUNCTION %1$I_ge(%1$I, %1$I) IS 'implementation of the >= operator';

        CREATE FUNCTION %1$I_cmp(a %1$I, b %1$I) RETURNS int
            AS 'byteacmp'
            LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
        COMMENT ON FUNCTION %1$I_cmp(%1$I, %1$I) IS 'compares bytes: less than, equal to or greater than 0';

        CREATE FUNCTION %1$I_hash(a %1$I) RETURNS int
            AS 'hashvarlena'
            LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
        COMMENT ON FUNCTION %1$I_hash(%1$I) IS 'hash for joins and groups';

        CREATE FUNCTION %1$I_hash_extended(a %1$I, salt bigint) RETURNS bigint
            AS 'hashvarlenaextended'
            LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
        COMMENT ON FUNCTION %1$I_hash_extended(%1$I, bigint) IS '64-bit hash with a salt';

        CREATE OPERATOR = (
            LEFTARG = %1$I,
            RIGHTARG = %1$I,
            FUNCTION = %1$I_eq,
            COMMUTATOR = =,
            NEGATOR = <>,
            RESTRICT = eqsel,
            JOIN = eqjoinsel,
            HASHES,
            MERGES
        );
        COMMENT ON OPERATOR = (%1$I, %1$I) IS 'same bytes: made in the same way of equal values';

        CREATE OPERATOR <> (
            LEFTARG = %1$I,
            RIGHTARG = %1$I,
            FUNCTION = %1$I_ne,
            COMMUTATOR = <>,
            NEGATOR = =,
            RESTRICT = neqsel,
            JOIN = neqjoinsel
        );
        COMMENT ON OPERATOR <> (%1$I, %1$I) IS 'not the same bytes';

        CREATE OPERATOR < (
            LEFTARG = %1$I,
            RIGHTARG = %1$I,
            FUNCTION = %1$I_lt,
            COMMUTATOR = >,
            NEGATOR = >=,
            RESTRICT = scalarltsel,
            JOIN = scalarltjoinsel
        );
        COMMENT ON OPERATOR < (%1$I, %1$I) IS 'first by bytes, in an order that only serves to sort';

        CREATE OPERATOR <= (
            LEFTARG = %1$I,
            RIGHTARG = %1$I,
            FUNCTION = %1$I_le,
            COMMUTATOR = >=,
            NEGATOR = >,
            RESTRICT = scalarlesel,
            JOIN = scalarlejoinsel
        );
        COMMENT ON OPERATOR <= (%1$I, %1$I) IS 'first by bytes or the same';

        CREATE OPERATOR > (
            LEFTARG = %1$I,
            RIGHTARG = %1$I,
            FUNCTION = %1$I_gt,
            COMMUTATOR = <,
            NEGATOR = <=,
            RESTRICT = scalargtsel,
            JOIN = scalargtjoinsel
        );
        COMMENT ON OPERATOR > (%1$I, %1$I) IS 'last by bytes';

        CREATE OPERATOR >= (
            LEFTARG = %1$I,
            RIGHTARG = %1$I,
            FUNCTION = %1$I_ge,
            COMMUTATOR = <=,
            NEGATOR = <,
            RESTRICT = scalargesel,
            JOIN = scalargejoinsel
        );
        COMMENT ON OPERATOR >= (%1$I, %1$I) IS 'last by bytes or the same';

        CREATE OPERATOR CLASS %1$I_ops DEFAULT FOR TYPE %1$I USING btree AS
            OPERATOR 1 <,
            OPERATOR 2 <=,
            OPERATOR 3 =,
            OPERATOR 4 >=,
            OPERATOR 5 >,
            FUNCTION 1 %1$I_cmp(%1$I, %1$I),
            FUNCTION 2 bytea_sortsupport(internal);
        COMMENT ON OPERATOR CLASS %1$I_ops USING btree IS 'order of bytes';
        COMMENT ON OPERATOR FAMILY %1$I_ops USING btree IS 'order of bytes';

        CREATE OPERATOR CLASS %1$I_ops DEFAULT FOR TYPE %1$I USING hash AS
            OPERATOR 1 =,
            FUNCTION 1 %1$I_hash(%1$I),
            FUNCTION 2 %1$I_hash_extended(%1$I, bigint);
        COMMENT ON OPERATOR CLASS %1$I_ops USING hash IS 'equality of bytes';
        COMMENT ON OPERATOR FAMILY %1$I_ops USING hash IS 'equality of bytes';

        $declarations$::pg_catalog.text, name);
    END LOOP;
END
$$;

COMMENT ON TYPE minhash_sketch IS 'what minhash() makes: the least hashes of a document''s shingles';
COMMENT ON TYPE simhash_sketch IS 'what simhash() makes: bits that are alike for documents alike';
COMMENT ON TYPE minhash_ball IS 'all minhash sketches at least so similar to one; made by near()';
COMMENT ON TYPE simhash_ball IS 'all simhash sketches at most so many bits from one; made by near()';
COMMENT ON TYPE text_ball IS 'all texts whose minhash sketches are at least so similar to that of one; made by near()';
-- Sketches of documents, their similarities and fingerprints. Bodies: src/pg/functions/sketches.rs.

CREATE FUNCTION minhash(
    text text,
    k int DEFAULT 5,
    permutations int DEFAULT 128,
    seed bigint DEFAULT 1,
    tokenizer text DEFAULT 'words'
) RETURNS minhash_sketch
    AS 'MODULE_PATHNAME', 'neardup_minhash_text'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION minhash(text, int, int, bigint, text) IS
    'minhash sketch of a text: for each permutation the least hash of any run of k';

CREATE FUNCTION minhash(
    tokens text[],
    k int DEFAULT 5,
    permutations int DEFAULT 128,
    seed bigint DEFAULT 1
) RETURNS minhash_sketch
    AS 'MODULE_PATHNAME', 'neardup_minhash_tokens'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION minhash(text[], int, int, bigint) IS
    'minhash sketch of words that are given: for each permutation the least hash of any run of k';

CREATE FUNCTION minhash(
    lexemes tsvector,
    k int DEFAULT 5,
    permutations int DEFAULT 128,
    seed bigint DEFAULT 1
) RETURNS minhash_sketch
    AS 'MODULE_PATHNAME', 'neardup_minhash_lexemes'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION minhash(tsvector, int, int, bigint) IS
    'minhash sketch of a tsvector: lexemes by their positions: for each permutation the least hash of any run of k';

CREATE FUNCTION minhash(
    numbers bigint[],
    k int DEFAULT 1,
    permutations int DEFAULT 128,
    seed bigint DEFAULT 1
) RETURNS minhash_sketch
    AS 'MODULE_PATHNAME', 'neardup_minhash_numbers'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION minhash(bigint[], int, int, bigint) IS
    'minhash sketch of numbers that are given, such as shingles: for each permutation the least hash of any run of k';

CREATE FUNCTION simhash(
    text text,
    bits int DEFAULT 64,
    k int DEFAULT 1,
    tokenizer text DEFAULT 'words'
) RETURNS simhash_sketch
    AS 'MODULE_PATHNAME', 'neardup_simhash_text'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash(text, int, int, text) IS
    'simhash sketch of a text: bits by majority of the hashes of all runs of k (64, 128, 192, 256, 384, 512 or 1024)';

CREATE FUNCTION simhash(
    tokens text[],
    bits int DEFAULT 64,
    k int DEFAULT 1
) RETURNS simhash_sketch
    AS 'MODULE_PATHNAME', 'neardup_simhash_tokens'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash(text[], int, int) IS
    'simhash sketch of words that are given: bits by majority of the hashes of all runs of k (64, 128, 192, 256, 384, 512 or 1024)';

CREATE FUNCTION simhash(
    lexemes tsvector,
    bits int DEFAULT 64,
    k int DEFAULT 1
) RETURNS simhash_sketch
    AS 'MODULE_PATHNAME', 'neardup_simhash_lexemes'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash(tsvector, int, int) IS
    'simhash sketch of a tsvector: lexemes by their positions: bits by majority of the hashes of all runs of k (64, 128, 192, 256, 384, 512 or 1024)';

CREATE FUNCTION simhash(
    numbers bigint[],
    bits int DEFAULT 64,
    k int DEFAULT 1
) RETURNS simhash_sketch
    AS 'MODULE_PATHNAME', 'neardup_simhash_numbers'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash(bigint[], int, int) IS
    'simhash sketch of numbers that are given, such as shingles: bits by majority of the hashes of all runs of k (64, 128, 192, 256, 384, 512 or 1024)';

CREATE FUNCTION minhash_similarity(a minhash_sketch, b minhash_sketch) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_minhash_similarity'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION minhash_similarity(minhash_sketch, minhash_sketch) IS
    'the share of agreeing values, an estimate of the resemblance; 0 for an empty document';

CREATE FUNCTION minhash_distance(a minhash_sketch, b minhash_sketch) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_minhash_distance'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION minhash_distance(minhash_sketch, minhash_sketch) IS
    'the share of unlike values, an estimate of the Jaccard distance; 1 for an empty document';

CREATE FUNCTION simhash_similarity(a simhash_sketch, b simhash_sketch) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_simhash_similarity'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION simhash_similarity(simhash_sketch, simhash_sketch) IS
    'the share of agreeing bits; 0 for an empty document';

CREATE FUNCTION simhash_distance(a simhash_sketch, b simhash_sketch) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_simhash_distance'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION simhash_distance(simhash_sketch, simhash_sketch) IS
    'the number of unlike bits (Hamming distance); all for an empty document';

CREATE OPERATOR <%> (LEFTARG = minhash_sketch, RIGHTARG = minhash_sketch, FUNCTION = minhash_distance, COMMUTATOR = <%>);
COMMENT ON OPERATOR <%> (minhash_sketch, minhash_sketch) IS 'estimated Jaccard distance';

CREATE OPERATOR <~> (LEFTARG = simhash_sketch, RIGHTARG = simhash_sketch, FUNCTION = simhash_distance, COMMUTATOR = <~>);
COMMENT ON OPERATOR <~> (simhash_sketch, simhash_sketch) IS 'Hamming distance';

CREATE FUNCTION supershingles(sketch minhash_sketch, groups int DEFAULT 6) RETURNS bigint[]
    AS 'MODULE_PATHNAME', 'neardup_supershingles'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION supershingles(minhash_sketch, int) IS
    'a fingerprint of each of so many groups of minhash values (Broder); none of an empty document';

CREATE FUNCTION megashingles(sketch minhash_sketch, groups int DEFAULT 6) RETURNS bigint[]
    AS 'MODULE_PATHNAME', 'neardup_megashingles'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION megashingles(minhash_sketch, int) IS
    'a fingerprint of each pair of supershingles: sharing one is agreeing in two';

CREATE FUNCTION simhash_from_bits(bits bit) RETURNS simhash_sketch
    AS 'MODULE_PATHNAME', 'neardup_simhash_from_bits'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION simhash_from_bits(bit) IS
    'a sketch of bits that were made elsewhere';

CREATE FUNCTION simhash_to_bit(sketch simhash_sketch) RETURNS bit
    AS 'MODULE_PATHNAME', 'neardup_simhash_to_bit'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION simhash_to_bit(simhash_sketch) IS
    'the bits of a sketch';

CREATE CAST (bit AS simhash_sketch) WITH FUNCTION simhash_from_bits(bit) AS ASSIGNMENT;
COMMENT ON CAST (bit AS simhash_sketch) IS 'a sketch of bits that were made elsewhere';

CREATE CAST (simhash_sketch AS bit) WITH FUNCTION simhash_to_bit(simhash_sketch) AS ASSIGNMENT;
COMMENT ON CAST (simhash_sketch AS bit) IS 'the bits of a sketch';

CREATE FUNCTION simhash_from_bits(bits varbit) RETURNS simhash_sketch
    AS 'MODULE_PATHNAME', 'neardup_simhash_from_bits'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION simhash_from_bits(varbit) IS
    'a sketch of bits that were made elsewhere';

CREATE FUNCTION simhash_to_varbit(sketch simhash_sketch) RETURNS varbit
    AS 'MODULE_PATHNAME', 'neardup_simhash_to_varbit'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION simhash_to_varbit(simhash_sketch) IS
    'the bits of a sketch';

CREATE CAST (varbit AS simhash_sketch) WITH FUNCTION simhash_from_bits(varbit) AS ASSIGNMENT;
COMMENT ON CAST (varbit AS simhash_sketch) IS 'a sketch of bits that were made elsewhere';

CREATE CAST (simhash_sketch AS varbit) WITH FUNCTION simhash_to_varbit(simhash_sketch) AS ASSIGNMENT;
COMMENT ON CAST (simhash_sketch AS varbit) IS 'the bits of a sketch';
-- What is near to a text or a sketch: balls, what is in them, and how many rows that may be. Bodies: src/pg/functions/near.rs.

CREATE FUNCTION near(
    text text,
    similarity float8,
    k int DEFAULT 5,
    permutations int DEFAULT 128
) RETURNS text_ball
    AS 'MODULE_PATHNAME', 'neardup_near_text'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION near(text, float8, int, int) IS
    'all texts whose minhash sketches are at least so similar to that of this one: WHERE body <@ near(...)';

CREATE FUNCTION near(sketch minhash_sketch, similarity float8) RETURNS minhash_ball
    AS 'MODULE_PATHNAME', 'neardup_near_minhash'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION near(minhash_sketch, float8) IS
    'all minhash sketches at least so similar to this one: WHERE minhash(body) <@ near(...)';

CREATE FUNCTION near(sketch simhash_sketch, distance float8) RETURNS simhash_ball
    AS 'MODULE_PATHNAME', 'neardup_near_simhash'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION near(simhash_sketch, float8) IS
    'all simhash sketches at most so many bits from this one: WHERE simhash(body) <@ near(...)';

CREATE FUNCTION near_selectivity(internal, oid, internal, int) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_near_selectivity'
    LANGUAGE c STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION near_selectivity(internal, oid, internal, int) IS
    'which share of rows is in a ball, by the statistics of the column';

CREATE FUNCTION near_join_selectivity(internal, oid, internal, smallint, internal) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_near_join_selectivity'
    LANGUAGE c STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION near_join_selectivity(internal, oid, internal, smallint, internal) IS
    'which share of pairs of rows is near';

CREATE FUNCTION minhash_in_ball(value minhash_sketch, ball minhash_ball) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_minhash_in_ball'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION minhash_in_ball(minhash_sketch, minhash_ball) IS
    'whether a value is in a ball';

CREATE FUNCTION minhash_ball_contains(ball minhash_ball, value minhash_sketch) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_minhash_ball_contains'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION minhash_ball_contains(minhash_ball, minhash_sketch) IS
    'whether a ball contains a value';

CREATE OPERATOR <@ (
    LEFTARG = minhash_sketch,
    RIGHTARG = minhash_ball,
    FUNCTION = minhash_in_ball,
    COMMUTATOR = @>,
    RESTRICT = near_selectivity,
    JOIN = near_join_selectivity
);
COMMENT ON OPERATOR <@ (minhash_sketch, minhash_ball) IS 'is in the ball';

CREATE OPERATOR @> (
    LEFTARG = minhash_ball,
    RIGHTARG = minhash_sketch,
    FUNCTION = minhash_ball_contains,
    COMMUTATOR = <@,
    RESTRICT = near_selectivity,
    JOIN = near_join_selectivity
);
COMMENT ON OPERATOR @> (minhash_ball, minhash_sketch) IS 'contains';

CREATE FUNCTION simhash_in_ball(value simhash_sketch, ball simhash_ball) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_simhash_in_ball'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION simhash_in_ball(simhash_sketch, simhash_ball) IS
    'whether a value is in a ball';

CREATE FUNCTION simhash_ball_contains(ball simhash_ball, value simhash_sketch) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_simhash_ball_contains'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION simhash_ball_contains(simhash_ball, simhash_sketch) IS
    'whether a ball contains a value';

CREATE OPERATOR <@ (
    LEFTARG = simhash_sketch,
    RIGHTARG = simhash_ball,
    FUNCTION = simhash_in_ball,
    COMMUTATOR = @>,
    RESTRICT = near_selectivity,
    JOIN = near_join_selectivity
);
COMMENT ON OPERATOR <@ (simhash_sketch, simhash_ball) IS 'is in the ball';

CREATE OPERATOR @> (
    LEFTARG = simhash_ball,
    RIGHTARG = simhash_sketch,
    FUNCTION = simhash_ball_contains,
    COMMUTATOR = <@,
    RESTRICT = near_selectivity,
    JOIN = near_join_selectivity
);
COMMENT ON OPERATOR @> (simhash_ball, simhash_sketch) IS 'contains';

CREATE FUNCTION text_in_ball(value text, ball text_ball) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_text_in_ball'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION text_in_ball(text, text_ball) IS
    'whether a value is in a ball';

CREATE FUNCTION text_ball_contains(ball text_ball, value text) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_text_ball_contains'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION text_ball_contains(text_ball, text) IS
    'whether a ball contains a value';

CREATE OPERATOR <@ (
    LEFTARG = text,
    RIGHTARG = text_ball,
    FUNCTION = text_in_ball,
    COMMUTATOR = @>,
    RESTRICT = near_selectivity,
    JOIN = near_join_selectivity
);
COMMENT ON OPERATOR <@ (text, text_ball) IS 'is in the ball';

CREATE OPERATOR @> (
    LEFTARG = text_ball,
    RIGHTARG = text,
    FUNCTION = text_ball_contains,
    COMMUTATOR = <@,
    RESTRICT = near_selectivity,
    JOIN = near_join_selectivity
);
COMMENT ON OPERATOR @> (text_ball, text) IS 'contains';
-- Arrays that share elements. Bodies: src/pg/functions/shares.rs.

CREATE FUNCTION shares_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'neardup_shares_support'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shares_support(internal) IS
    'tells the planner that what shares elements overlaps, so that an index on && serves';

CREATE FUNCTION shares(a bigint[], b bigint[], r int DEFAULT 1) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_shares_numbers'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10
    SUPPORT shares_support;
COMMENT ON FUNCTION shares(bigint[], bigint[], int) IS
    'whether two arrays have at least r different elements in common; NULL elements count nothing';

CREATE FUNCTION shares(a uuid[], b uuid[], r int DEFAULT 1) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_shares_uuids'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10
    SUPPORT shares_support;
COMMENT ON FUNCTION shares(uuid[], uuid[], int) IS
    'whether two arrays have at least r different elements in common; NULL elements count nothing';
-- The access method for searching by signatures. Bodies: src/pg/index.

CREATE FUNCTION signature_handler(internal) RETURNS index_am_handler
    AS 'MODULE_PATHNAME', 'neardup_signature_handler'
    LANGUAGE c STRICT;
COMMENT ON FUNCTION signature_handler(internal) IS 'handler of the access method signature';

CREATE ACCESS METHOD signature TYPE INDEX HANDLER signature_handler;
COMMENT ON ACCESS METHOD signature IS
    'index of signatures and sketches: finds near duplicates, and gives the answers of a sequential scan';

-- Support function 1 of an operator class says which class it is.
CREATE FUNCTION signature_class(bigint[]) RETURNS int
    AS 'MODULE_PATHNAME', 'neardup_signature_class_bigint'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION signature_class(bigint[]) IS 'support function of bigint_signature_ops';
CREATE FUNCTION signature_class(uuid[]) RETURNS int
    AS 'MODULE_PATHNAME', 'neardup_signature_class_uuid'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION signature_class(uuid[]) IS 'support function of uuid_signature_ops';

-- The operator is the core's, named with its schema: intarray has one of the same name.
CREATE OPERATOR FAMILY bigint_signature_ops USING signature;
COMMENT ON OPERATOR FAMILY bigint_signature_ops USING signature IS 'arrays of 64-bit signatures';
CREATE OPERATOR CLASS bigint_signature_ops DEFAULT FOR TYPE bigint[] USING signature FAMILY bigint_signature_ops AS
    OPERATOR 2 pg_catalog.&& (anyarray, anyarray),
    FUNCTION 1 signature_class(bigint[]);
COMMENT ON OPERATOR CLASS bigint_signature_ops USING signature IS
    'arrays of 64-bit signatures that share one: &&';

CREATE OPERATOR FAMILY uuid_signature_ops USING signature;
COMMENT ON OPERATOR FAMILY uuid_signature_ops USING signature IS 'arrays of 128-bit signatures';
CREATE OPERATOR CLASS uuid_signature_ops DEFAULT FOR TYPE uuid[] USING signature FAMILY uuid_signature_ops AS
    OPERATOR 2 pg_catalog.&& (anyarray, anyarray),
    FUNCTION 1 signature_class(uuid[]);
COMMENT ON OPERATOR CLASS uuid_signature_ops USING signature IS
    'arrays of 128-bit signatures that share one: &&';

CREATE FUNCTION signature_class(minhash_sketch) RETURNS int
    AS 'MODULE_PATHNAME', 'neardup_signature_class_minhash'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION signature_class(minhash_sketch) IS 'support function of minhash_jaccard_ops';
CREATE FUNCTION signature_class(simhash_sketch) RETURNS int
    AS 'MODULE_PATHNAME', 'neardup_signature_class_simhash'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION signature_class(simhash_sketch) IS 'support function of simhash_hamming_ops';
CREATE FUNCTION signature_class(text) RETURNS int
    AS 'MODULE_PATHNAME', 'neardup_signature_class_text'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION signature_class(text) IS 'support function of text_minhash_ops';

-- Support function 2 of an operator class declares its options.
CREATE FUNCTION signature_options_minhash(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'neardup_signature_options_minhash'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_options_minhash(internal) IS 'options of minhash_jaccard_ops: k, permutations, seed, source';
CREATE FUNCTION signature_options_simhash(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'neardup_signature_options_simhash'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_options_simhash(internal) IS 'options of simhash_hamming_ops: k, bits, source';
CREATE FUNCTION signature_options_text(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'neardup_signature_options_text'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_options_text(internal) IS 'options of text_minhash_ops: k, permutations';

CREATE OPERATOR FAMILY minhash_jaccard_ops USING signature;
COMMENT ON OPERATOR FAMILY minhash_jaccard_ops USING signature IS 'minhash sketches by estimated resemblance';
CREATE OPERATOR CLASS minhash_jaccard_ops DEFAULT FOR TYPE minhash_sketch USING signature FAMILY minhash_jaccard_ops AS
    OPERATOR 1 <@ (minhash_sketch, minhash_ball),
    OPERATOR 3 <%> (minhash_sketch, minhash_sketch) FOR ORDER BY pg_catalog.float_ops,
    FUNCTION 1 signature_class(minhash_sketch),
    FUNCTION 2 signature_options_minhash(internal);
COMMENT ON OPERATOR CLASS minhash_jaccard_ops USING signature IS
    'minhash sketches: <@ near(sketch, similarity), ORDER BY <%>';

CREATE OPERATOR FAMILY simhash_hamming_ops USING signature;
COMMENT ON OPERATOR FAMILY simhash_hamming_ops USING signature IS 'simhash sketches by Hamming distance';
CREATE OPERATOR CLASS simhash_hamming_ops DEFAULT FOR TYPE simhash_sketch USING signature FAMILY simhash_hamming_ops AS
    OPERATOR 1 <@ (simhash_sketch, simhash_ball),
    OPERATOR 3 <~> (simhash_sketch, simhash_sketch) FOR ORDER BY pg_catalog.float_ops,
    FUNCTION 1 signature_class(simhash_sketch),
    FUNCTION 2 signature_options_simhash(internal);
COMMENT ON OPERATOR CLASS simhash_hamming_ops USING signature IS
    'simhash sketches: <@ near(sketch, distance), ORDER BY <~>';

CREATE OPERATOR FAMILY text_minhash_ops USING signature;
COMMENT ON OPERATOR FAMILY text_minhash_ops USING signature IS 'texts by the minhash sketches of them';
CREATE OPERATOR CLASS text_minhash_ops DEFAULT FOR TYPE text USING signature FAMILY text_minhash_ops AS
    OPERATOR 1 <@ (text, text_ball),
    FUNCTION 1 signature_class(text),
    FUNCTION 2 signature_options_text(internal);
COMMENT ON OPERATOR CLASS text_minhash_ops USING signature IS
    'texts: <@ near(text, similarity)';

CREATE FUNCTION signature_index_check(index regclass, heapallindexed bool DEFAULT false) RETURNS void
    AS 'MODULE_PATHNAME', 'neardup_signature_index_check'
    LANGUAGE c VOLATILE STRICT PARALLEL RESTRICTED COST 100000;
COMMENT ON FUNCTION signature_index_check(regclass, bool) IS
    'reads all of an index of access method signature and raises an error for what is wrong; with heapallindexed also for rows of the table that it lacks';

CREATE FUNCTION signature_index_stats(index regclass,
    OUT rows bigint, OUT segments int, OUT pending bigint, OUT dead bigint, OUT nulls bigint,
    OUT signatures bigint, OUT pages bigint, OUT pending_pages bigint, OUT options text,
    OUT frequent_signatures bigint[], OUT frequent_rows bigint[], OUT stopped_signatures bigint[])
    AS 'MODULE_PATHNAME', 'neardup_signature_index_stats'
    LANGUAGE c VOLATILE STRICT PARALLEL RESTRICTED COST 100000;
COMMENT ON FUNCTION signature_index_stats(regclass) IS
    'what is in an index of access method signature, and its most frequent signatures';

CREATE FUNCTION signature_index_merge(index regclass) RETURNS int
    AS 'MODULE_PATHNAME', 'neardup_signature_index_merge'
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION signature_index_merge(regclass) IS
    'makes one segment of all of an index of access method signature, without dead rows; the number of segments';
-- The main job: pairs of near duplicates in one table or between two. Bodies: src/pg/functions/near_duplicates.rs.

CREATE FUNCTION near_duplicates(
    docs regclass,
    threshold float8 DEFAULT NULL,
    options jsonb DEFAULT '{}',
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    method text DEFAULT 'jaccard',
    tokenizer text DEFAULT NULL,
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL,
    max_pairs bigint DEFAULT NULL,
    site_column text DEFAULT NULL
) RETURNS TABLE(left_id bigint, right_id bigint, similarity float8)
    AS 'MODULE_PATHNAME', 'neardup_near_duplicates'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION near_duplicates(
    regclass, float8, jsonb, text, text, text, text, int, bool, bigint, text
) IS 'all pairs of rows whose texts are at least so similar, for ids that are integers';

CREATE FUNCTION near_duplicates(
    docs regclass,
    threshold float8,
    id_type anyelement,
    options jsonb DEFAULT '{}',
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    method text DEFAULT 'jaccard',
    tokenizer text DEFAULT NULL,
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL,
    max_pairs bigint DEFAULT NULL,
    site_column text DEFAULT NULL
) RETURNS TABLE(left_id anyelement, right_id anyelement, similarity float8)
    AS 'MODULE_PATHNAME', 'neardup_near_duplicates_typed'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION near_duplicates(
    regclass, float8, anyelement, jsonb, text, text, text, text, int, bool, bigint, text
) IS 'all pairs of rows whose texts are at least so similar, for ids of the given type';

CREATE FUNCTION near_duplicates_between(
    "left" regclass,
    "right" regclass,
    threshold float8 DEFAULT NULL,
    options jsonb DEFAULT '{}',
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    method text DEFAULT 'jaccard',
    tokenizer text DEFAULT NULL,
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL,
    max_pairs bigint DEFAULT NULL,
    right_id_column text DEFAULT NULL,
    right_text_column text DEFAULT NULL,
    site_column text DEFAULT NULL,
    right_site_column text DEFAULT NULL
) RETURNS TABLE(left_id bigint, right_id bigint, similarity float8)
    AS 'MODULE_PATHNAME', 'neardup_near_duplicates_between'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION near_duplicates_between(
    regclass, regclass, float8, jsonb, text, text, text, text, int, bool, bigint, text, text, text, text
) IS 'all pairs of a row of the left and a row of the right table whose texts are at least so similar, for ids that are integers';

CREATE FUNCTION near_duplicates_between(
    "left" regclass,
    "right" regclass,
    threshold float8,
    id_type anyelement,
    options jsonb DEFAULT '{}',
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    method text DEFAULT 'jaccard',
    tokenizer text DEFAULT NULL,
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL,
    max_pairs bigint DEFAULT NULL,
    right_id_column text DEFAULT NULL,
    right_text_column text DEFAULT NULL,
    site_column text DEFAULT NULL,
    right_site_column text DEFAULT NULL
) RETURNS TABLE(left_id anyelement, right_id anyelement, similarity float8)
    AS 'MODULE_PATHNAME', 'neardup_near_duplicates_between_typed'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION near_duplicates_between(
    regclass, regclass, float8, anyelement, jsonb, text, text, text, text, int, bool, bigint, text, text, text, text
) IS 'all pairs of a row of the left and a row of the right table whose texts are at least so similar, for ids of the given type';
-- What the last join did. Body: src/pg/functions/near_duplicates_stats.rs.

CREATE FUNCTION near_duplicates_stats() RETURNS TABLE(
    documents bigint,
    skipped_null bigint,
    skipped_empty bigint,
    tokens bigint,
    distinct_tokens bigint,
    distinct_sets bigint,
    candidates bigint,
    pruned_by_size bigint,
    pruned_by_bitmap bigint,
    pruned_by_position bigint,
    pruned_by_suffix bigint,
    verified bigint,
    pairs bigint,
    peak_memory bigint,
    threads bigint,
    read_ms float8,
    order_ms float8,
    join_ms float8,
    pruned_by_sketch bigint,
    stop_signatures bigint,
    stop_documents bigint,
    promised_recall float8,
    measured_recall float8,
    hot_buckets bigint,
    hot_documents bigint
)
    AS 'MODULE_PATHNAME', 'neardup_near_duplicates_stats'
    LANGUAGE c VOLATILE PARALLEL RESTRICTED ROWS 1;
COMMENT ON FUNCTION near_duplicates_stats() IS
    'what the last call of near_duplicates or near_duplicates_between in this session by this role did';
-- Passages that documents share. Bodies: src/pg/functions/passages.rs.

CREATE FUNCTION partial_duplicates(
    docs regclass,
    threshold float8 DEFAULT 0.9,
    options jsonb DEFAULT '{}',
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    features text DEFAULT 'imatch',
    min_sentences int DEFAULT 3,
    extend bool DEFAULT true,
    shingle int DEFAULT NULL,
    max_passages bigint DEFAULT NULL
) RETURNS TABLE(
    left_id bigint,
    right_id bigint,
    left_sentence int,
    right_sentence int,
    sentences int,
    left_span int4range,
    right_span int4range,
    similarity float8
)
    AS 'MODULE_PATHNAME', 'neardup_partial_duplicates'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION partial_duplicates(
    regclass, float8, jsonb, text, text, text, int, bool, int, bigint
) IS 'the passages that two rows of a table share, with their places in both texts, for ids that are integers';

CREATE FUNCTION partial_duplicates(
    docs regclass,
    threshold float8,
    id_type anyelement,
    options jsonb DEFAULT '{}',
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    features text DEFAULT 'imatch',
    min_sentences int DEFAULT 3,
    extend bool DEFAULT true,
    shingle int DEFAULT NULL,
    max_passages bigint DEFAULT NULL
) RETURNS TABLE(
    left_id anyelement,
    right_id anyelement,
    left_sentence int,
    right_sentence int,
    sentences int,
    left_span int4range,
    right_span int4range,
    similarity float8
)
    AS 'MODULE_PATHNAME', 'neardup_partial_duplicates_typed'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION partial_duplicates(
    regclass, float8, anyelement, jsonb, text, text, text, int, bool, int, bigint
) IS 'the passages that two rows of a table share, with their places in both texts, for ids of the given type';

CREATE FUNCTION partial_duplicates_between(
    "left" regclass,
    "right" regclass,
    threshold float8 DEFAULT 0.9,
    options jsonb DEFAULT '{}',
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    features text DEFAULT 'imatch',
    min_sentences int DEFAULT 3,
    extend bool DEFAULT true,
    shingle int DEFAULT NULL,
    max_passages bigint DEFAULT NULL,
    right_id_column text DEFAULT NULL,
    right_text_column text DEFAULT NULL
) RETURNS TABLE(
    left_id bigint,
    right_id bigint,
    left_sentence int,
    right_sentence int,
    sentences int,
    left_span int4range,
    right_span int4range,
    similarity float8
)
    AS 'MODULE_PATHNAME', 'neardup_partial_duplicates_between'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION partial_duplicates_between(
    regclass, regclass, float8, jsonb, text, text, text, int, bool, int, bigint, text, text
) IS 'the passages that a row of the left and a row of the right table share, with their places in both texts, for ids that are integers';

CREATE FUNCTION partial_duplicates_between(
    "left" regclass,
    "right" regclass,
    threshold float8,
    id_type anyelement,
    options jsonb DEFAULT '{}',
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    features text DEFAULT 'imatch',
    min_sentences int DEFAULT 3,
    extend bool DEFAULT true,
    shingle int DEFAULT NULL,
    max_passages bigint DEFAULT NULL,
    right_id_column text DEFAULT NULL,
    right_text_column text DEFAULT NULL
) RETURNS TABLE(
    left_id anyelement,
    right_id anyelement,
    left_sentence int,
    right_sentence int,
    sentences int,
    left_span int4range,
    right_span int4range,
    similarity float8
)
    AS 'MODULE_PATHNAME', 'neardup_partial_duplicates_between_typed'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION partial_duplicates_between(
    regclass, regclass, float8, anyelement, jsonb, text, text, text, int, bool, int, bigint, text, text
) IS 'the passages that a row of the left and a row of the right table share, with their places in both texts, for ids of the given type';

CREATE FUNCTION shared_passages(
    a text,
    b text,
    threshold float8 DEFAULT 0.9,
    options jsonb DEFAULT '{}',
    features text DEFAULT 'imatch',
    min_sentences int DEFAULT 3,
    extend bool DEFAULT true,
    shingle int DEFAULT NULL
) RETURNS TABLE(
    left_sentence int,
    right_sentence int,
    sentences int,
    left_span int4range,
    right_span int4range,
    similarity float8
)
    AS 'MODULE_PATHNAME', 'neardup_shared_passages'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 5000 ROWS 5;
COMMENT ON FUNCTION shared_passages(text, text, float8, jsonb, text, int, bool, int) IS
    'the passages that two texts share, with their places in both';
-- The clusters of near duplicates in a relation. Body: src/pg/functions/clusters.rs.

CREATE FUNCTION near_duplicate_clusters(
    docs regclass,
    threshold float8 DEFAULT NULL,
    options jsonb DEFAULT '{}',
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    method text DEFAULT 'jaccard',
    tokenizer text DEFAULT NULL,
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL,
    max_pairs bigint DEFAULT NULL,
    site_column text DEFAULT NULL,
    clustering text DEFAULT 'connected',
    max_cluster_size int DEFAULT NULL
) RETURNS TABLE(cluster_id bigint, id bigint, representative bool, size bigint, similarity float8)
    AS 'MODULE_PATHNAME', 'neardup_near_duplicate_clusters'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION near_duplicate_clusters(
    regclass, float8, jsonb, text, text, text, text, int, bool, bigint, text, text, int
) IS 'clusters of rows whose texts are at least so similar, for ids that are integers';

CREATE FUNCTION near_duplicate_clusters(
    docs regclass,
    threshold float8,
    id_type anyelement,
    options jsonb DEFAULT '{}',
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    method text DEFAULT 'jaccard',
    tokenizer text DEFAULT NULL,
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL,
    max_pairs bigint DEFAULT NULL,
    site_column text DEFAULT NULL,
    clustering text DEFAULT 'connected',
    max_cluster_size int DEFAULT NULL
) RETURNS TABLE(cluster_id anyelement, id anyelement, representative bool, size bigint, similarity float8)
    AS 'MODULE_PATHNAME', 'neardup_near_duplicate_clusters_typed'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION near_duplicate_clusters(
    regclass, float8, anyelement, jsonb, text, text, text, text, int, bool, bigint, text, text, int
) IS 'clusters of rows whose texts are at least so similar, for ids of the given type';
-- The clusters of pairs that a query gives. Bodies: src/pg/functions/clusters_of_pairs.rs.

CREATE FUNCTION clusters_of_pairs(
    pairs text,
    max_cluster_size int DEFAULT NULL,
    clustering text DEFAULT 'connected',
    thresholds float8[] DEFAULT NULL
) RETURNS TABLE(cluster_id bigint, id bigint, representative bool, size bigint, similarity float8, threshold float8)
    AS 'MODULE_PATHNAME', 'neardup_clusters_of_pairs'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION clusters_of_pairs(text, int, text, float8[])
    IS 'clusters of the pairs that a query gives, also at several thresholds, for ids that are integers';

CREATE FUNCTION clusters_of_pairs(
    pairs text,
    id_type anyelement,
    max_cluster_size int DEFAULT NULL,
    clustering text DEFAULT 'connected',
    thresholds float8[] DEFAULT NULL
) RETURNS TABLE(cluster_id anyelement, id anyelement, representative bool, size bigint, similarity float8, threshold float8)
    AS 'MODULE_PATHNAME', 'neardup_clusters_of_pairs_typed'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION clusters_of_pairs(text, anyelement, int, text, float8[])
    IS 'clusters of the pairs that a query gives, also at several thresholds, for ids of the given type';

CREATE FUNCTION cluster_stats(
    pairs text,
    max_cluster_size int DEFAULT NULL,
    clustering text DEFAULT 'connected'
) RETURNS TABLE(cluster_id bigint, representative bigint, size bigint, pairs bigint, least_similarity float8, mean_similarity float8, diameter int)
    AS 'MODULE_PATHNAME', 'neardup_cluster_stats'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION cluster_stats(text, int, text)
    IS 'size, pairs, least and mean similarity and diameter of the clusters of the pairs that a query gives, for ids that are integers';

CREATE FUNCTION cluster_stats(
    pairs text,
    id_type anyelement,
    max_cluster_size int DEFAULT NULL,
    clustering text DEFAULT 'connected'
) RETURNS TABLE(cluster_id anyelement, representative anyelement, size bigint, pairs bigint, least_similarity float8, mean_similarity float8, diameter int)
    AS 'MODULE_PATHNAME', 'neardup_cluster_stats_typed'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION cluster_stats(text, anyelement, int, text)
    IS 'size, pairs, least and mean similarity and diameter of the clusters of the pairs that a query gives, for ids of the given type';

CREATE FUNCTION cluster_links(
    pairs text,
    links int DEFAULT 10
) RETURNS TABLE(cluster_id bigint, size bigint, left_id bigint, right_id bigint, similarity float8, left_size bigint, right_size bigint)
    AS 'MODULE_PATHNAME', 'neardup_cluster_links'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION cluster_links(text, int)
    IS 'the weakest pairs that hold each connected cluster of the pairs that a query gives together, with the sizes of the parts they connect, for ids that are integers';

CREATE FUNCTION cluster_links(
    pairs text,
    id_type anyelement,
    links int DEFAULT 10
) RETURNS TABLE(cluster_id anyelement, size bigint, left_id anyelement, right_id anyelement, similarity float8, left_size bigint, right_size bigint)
    AS 'MODULE_PATHNAME', 'neardup_cluster_links_typed'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION cluster_links(text, anyelement, int)
    IS 'the weakest pairs that hold each connected cluster of the pairs that a query gives together, with the sizes of the parts they connect, for ids of the given type';
-- Which rows to keep. Body: src/pg/functions/eliminate.rs.

CREATE FUNCTION eliminate(
    docs regclass,
    threshold float8 DEFAULT NULL,
    options jsonb DEFAULT '{}',
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    method text DEFAULT 'jaccard',
    tokenizer text DEFAULT NULL,
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL,
    max_pairs bigint DEFAULT NULL,
    site_column text DEFAULT NULL,
    keep text DEFAULT 'longest'
) RETURNS TABLE(id bigint, duplicate_of bigint, similarity float8)
    AS 'MODULE_PATHNAME', 'neardup_eliminate'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION eliminate(
    regclass, float8, jsonb, text, text, text, text, int, bool, bigint, text, text
) IS 'rows that would be removed as near duplicates, each with the kept row that it is near; removes nothing, for ids that are integers';

CREATE FUNCTION eliminate(
    docs regclass,
    threshold float8,
    id_type anyelement,
    options jsonb DEFAULT '{}',
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    method text DEFAULT 'jaccard',
    tokenizer text DEFAULT NULL,
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL,
    max_pairs bigint DEFAULT NULL,
    site_column text DEFAULT NULL,
    keep text DEFAULT 'longest'
) RETURNS TABLE(id anyelement, duplicate_of anyelement, similarity float8)
    AS 'MODULE_PATHNAME', 'neardup_eliminate_typed'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION eliminate(
    regclass, float8, anyelement, jsonb, text, text, text, text, int, bool, bigint, text, text
) IS 'rows that would be removed as near duplicates, each with the kept row that it is near; removes nothing, for ids of the given type';
-- A page about the near duplicates of a relation. Body: src/pg/functions/report.rs.

CREATE FUNCTION duplicates_report(
    docs regclass,
    threshold float8 DEFAULT NULL,
    options jsonb DEFAULT '{}',
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    method text DEFAULT 'jaccard',
    tokenizer text DEFAULT NULL,
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL,
    max_pairs bigint DEFAULT NULL,
    site_column text DEFAULT NULL,
    clustering text DEFAULT 'connected',
    max_cluster_size int DEFAULT NULL,
    max_clusters int DEFAULT 20,
    max_members int DEFAULT 3
) RETURNS text
    AS 'MODULE_PATHNAME', 'neardup_duplicates_report'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION duplicates_report(
    regclass, float8, jsonb, text, text, text, text, int, bool, bigint, text, text, int, int, int
) IS 'one HTML page about the near duplicates of a relation, for ids that are integers';

CREATE FUNCTION duplicates_report(
    docs regclass,
    threshold float8,
    id_type anyelement,
    options jsonb DEFAULT '{}',
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    method text DEFAULT 'jaccard',
    tokenizer text DEFAULT NULL,
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL,
    max_pairs bigint DEFAULT NULL,
    site_column text DEFAULT NULL,
    clustering text DEFAULT 'connected',
    max_cluster_size int DEFAULT NULL,
    max_clusters int DEFAULT 20,
    max_members int DEFAULT 3
) RETURNS text
    AS 'MODULE_PATHNAME', 'neardup_duplicates_report_typed'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION duplicates_report(
    regclass, float8, anyelement, jsonb, text, text, text, text, int, bool, bigint, text, text, int, int, int
) IS 'one HTML page about the near duplicates of a relation, for ids of the given type';
-- Jobs that keep pairs and clusters up to date: src/pg/jobs.
--
-- The registry are tables that only their owner, who is the extension's, and for dumps the owner of the database may touch;
-- views show each user what concerns relations of their own. The functions work on the registry as the owner of the
-- extension, and on the users' tables as the owner of the watched relation, with pg_catalog as the only schema in the
-- search path.

CREATE TABLE neardup_all_jobs (
    docs pg_catalog.regclass PRIMARY KEY,
    pairs pg_catalog.regclass NOT NULL,
    clusters pg_catalog.regclass NOT NULL,
    state pg_catalog.regclass NOT NULL,
    lists pg_catalog.regclass,
    settings pg_catalog.jsonb NOT NULL,
    created pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.now(),
    seen pg_catalog.text
);
COMMENT ON TABLE neardup_all_jobs IS 'internal: the jobs of neardup_watch; seen: what the definition of the relation was like when all of its rows were compared last';
CREATE TABLE neardup_all_runs (
    docs pg_catalog.regclass NOT NULL,
    started pg_catalog.timestamptz NOT NULL,
    finished pg_catalog.timestamptz,
    status pg_catalog.text NOT NULL,
    batches pg_catalog.int4 NOT NULL,
    rows pg_catalog.int8 NOT NULL,
    pairs_removed pg_catalog.int8 NOT NULL,
    pairs_added pg_catalog.int8 NOT NULL,
    PRIMARY KEY (docs, started)
);
COMMENT ON TABLE neardup_all_runs IS 'internal: the runs of neardup_refresh';
-- Marks are only ever added by writers, so that none waits for another one or for a refresh.
CREATE TABLE neardup_unnoted (
    docs pg_catalog.oid NOT NULL
);
COMMENT ON TABLE neardup_unnoted IS 'internal: relations with changes that a trigger could not note row by row, so that the next refresh compares all rows';
SELECT pg_catalog.pg_extension_config_dump('neardup_all_jobs'::pg_catalog.regclass, ''::pg_catalog.text);
SELECT pg_catalog.pg_extension_config_dump('neardup_all_runs'::pg_catalog.regclass, ''::pg_catalog.text);
-- The owner of the database dumps and restores it. What a restore puts into the registry is not trusted: src/pg/jobs/tables.
GRANT SELECT, INSERT ON neardup_all_jobs, neardup_all_runs TO pg_database_owner;

CREATE VIEW neardup_jobs WITH (security_barrier) AS
    SELECT j.docs, j.pairs, j.clusters, j.state, j.lists, j.settings, j.created
    FROM neardup_all_jobs j
    WHERE pg_catalog.pg_has_role((SELECT c.relowner FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) j.docs::pg_catalog.oid),
        'USAGE'::pg_catalog.text);
COMMENT ON VIEW neardup_jobs IS 'jobs of neardup_watch on relations of roles that the reader is a member of: the relation, its job tables, and the arguments';
CREATE VIEW neardup_runs WITH (security_barrier) AS
    SELECT r.docs, r.started, r.finished, r.status, r.batches, r.rows, r.pairs_removed, r.pairs_added
    FROM neardup_all_runs r
    WHERE pg_catalog.pg_has_role((SELECT c.relowner FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) r.docs::pg_catalog.oid),
        'USAGE'::pg_catalog.text);
COMMENT ON VIEW neardup_runs IS 'every run of neardup_refresh on relations of roles that the reader is a member of: running, done, or interrupted; how many rows were new, changed or deleted, and what became of pairs';
GRANT SELECT ON neardup_jobs, neardup_runs TO PUBLIC;

CREATE FUNCTION neardup_changed() RETURNS pg_catalog.trigger
    AS 'MODULE_PATHNAME', 'neardup_changed'
    LANGUAGE c VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION neardup_changed() IS 'internal: notes the ids of changed rows for neardup_refresh; a trigger of neardup_watch';

CREATE FUNCTION neardup_watch(
    docs pg_catalog.regclass,
    threshold pg_catalog.float8 DEFAULT NULL,
    options pg_catalog.jsonb DEFAULT '{}',
    id_column pg_catalog.text DEFAULT NULL,
    text_column pg_catalog.text DEFAULT NULL,
    method pg_catalog.text DEFAULT 'jaccard',
    tokenizer pg_catalog.text DEFAULT NULL,
    shingle pg_catalog.int4 DEFAULT NULL,
    multiset pg_catalog.bool DEFAULT NULL,
    site_column pg_catalog.text DEFAULT NULL,
    clustering pg_catalog.text DEFAULT 'connected',
    max_cluster_size pg_catalog.int4 DEFAULT NULL,
    detect pg_catalog.text DEFAULT NULL
) RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME', 'neardup_watch'
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_watch(
    regclass, float8, jsonb, text, text, text, text, int, bool, text, text, int, text
) IS 'sets up a job that keeps the near duplicates of a relation in tables beside it';

CREATE FUNCTION neardup_unwatch(docs pg_catalog.regclass, keep_results pg_catalog.bool DEFAULT false) RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME', 'neardup_unwatch'
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_unwatch(regclass, bool) IS 'ends a job and drops its tables, or only what is not its results';

CREATE FUNCTION neardup_refresh_step(docs pg_catalog.regclass, started pg_catalog.timestamptz, batch_rows pg_catalog.int4) RETURNS pg_catalog.text
    AS 'MODULE_PATHNAME', 'neardup_refresh_step'
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_refresh_step(regclass, timestamptz, int) IS
    'internal: one batch of neardup_refresh; more, done, or skipped';

-- Thin: each step is a transaction of its own. A function in C that commits would have to keep up with every version of
-- the server.
CREATE PROCEDURE neardup_refresh(docs pg_catalog.regclass, INOUT status pg_catalog.text DEFAULT NULL, batch_rows pg_catalog.int4 DEFAULT 1000000)
    LANGUAGE plpgsql
AS $$
DECLARE
    step pg_catalog.text;
    began pg_catalog.timestamptz := pg_catalog.clock_timestamp();
BEGIN
    SELECT pg_catalog.format('SELECT %I.neardup_refresh_step($1::pg_catalog.regclass, $2::pg_catalog.timestamptz, $3::pg_catalog.int4)'::pg_catalog.text, n.nspname) INTO STRICT step
    FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
    WHERE e.extname OPERATOR(pg_catalog.=) 'neardup'::pg_catalog.name;
    LOOP
        EXECUTE step INTO status USING docs, began, batch_rows;
        COMMIT;
        EXIT WHEN status OPERATOR(pg_catalog.<>) 'more'::pg_catalog.text;
    END LOOP;
END
$$;
COMMENT ON PROCEDURE neardup_refresh(regclass, text, int) IS
    'brings the pairs and clusters of a watched relation up to date, in batches that commit; status: done, or skipped where another session is at it';

-- What a watched method is like, and the work that is done in C.
CREATE FUNCTION neardup_job_check(docs pg_catalog.regclass, threshold pg_catalog.float8, id_type pg_catalog.regtype, options pg_catalog.jsonb, id_column pg_catalog.text, text_column pg_catalog.text,
    method pg_catalog.text, tokenizer pg_catalog.text, shingle pg_catalog.int4, multiset pg_catalog.bool, max_pairs pg_catalog.int8, site_column pg_catalog.text, clustering pg_catalog.text, max_cluster_size pg_catalog.int4) RETURNS pg_catalog.text
    AS 'MODULE_PATHNAME', 'neardup_job_check' LANGUAGE c VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION neardup_job_check(
    regclass, float8, regtype, jsonb, text, text, text, text, int, bool, bigint, text, text, int
) IS 'internal: checks the arguments of a job; sets, pairs, whole, or signatures: what can be brought up to date of its method';
CREATE FUNCTION neardup_job_hash(content pg_catalog.text) RETURNS pg_catalog.uuid
    AS 'MODULE_PATHNAME', 'neardup_job_hash' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_job_hash(text) IS 'internal: a hash of a row, to notice changes by';
CREATE FUNCTION neardup_job_lists(docs pg_catalog.regclass, threshold pg_catalog.float8, id_type pg_catalog.regtype, options pg_catalog.jsonb, id_column pg_catalog.text, text_column pg_catalog.text,
    method pg_catalog.text, tokenizer pg_catalog.text, shingle pg_catalog.int4, multiset pg_catalog.bool, max_pairs pg_catalog.int8, site_column pg_catalog.text, state pg_catalog.regclass, rows pg_catalog.text, lists pg_catalog.regclass,
    first_segment pg_catalog.int8)
    RETURNS TABLE(kind pg_catalog."char", segment pg_catalog.int8, part pg_catalog.int4, documents pg_catalog.int4, data pg_catalog.bytea, ids pg_catalog.text[])
    AS 'MODULE_PATHNAME', 'neardup_job_lists' LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_job_lists(
    regclass, float8, regtype, jsonb, text, text, text, text, int, bool, bigint, text, regclass, text, regclass, bigint
) IS 'internal: outlines of rows, batch or known by a table of state or all, as rows of the table of lists; of kind ! where those are damaged';
CREATE FUNCTION neardup_job_merge(lists pg_catalog.regclass)
    RETURNS TABLE(kind pg_catalog."char", segment pg_catalog.int8, part pg_catalog.int4, documents pg_catalog.int4, data pg_catalog.bytea, ids pg_catalog.text[])
    AS 'MODULE_PATHNAME', 'neardup_job_merge' LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_job_merge(regclass) IS 'internal: small segments of a table of lists as one; a row of kind ! where it is damaged';
-- Not polymorphic, so that no planted function is a better match; the caller says of which type the columns of ids are.
CREATE FUNCTION neardup_job_pairs(docs pg_catalog.regclass, threshold pg_catalog.float8, id_type pg_catalog.regtype, options pg_catalog.jsonb, id_column pg_catalog.text, text_column pg_catalog.text,
    method pg_catalog.text, tokenizer pg_catalog.text, shingle pg_catalog.int4, multiset pg_catalog.bool, max_pairs pg_catalog.int8, site_column pg_catalog.text,
    state pg_catalog.regclass, changed pg_catalog.text, others pg_catalog.text, lists pg_catalog.regclass, new_segment pg_catalog.int8)
    RETURNS SETOF record -- left_id, right_id, similarity pg_catalog.float8, and the columns of the table of lists
    AS 'MODULE_PATHNAME', 'neardup_job_pairs' LANGUAGE c VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION neardup_job_pairs(
    regclass, float8, regtype, jsonb, text, text, text, text, int, bool, bigint, text, regclass, text, text, regclass, bigint
) IS 'internal: pairs of a changed row and any other one, and the outlines of changed rows as rows of the table of lists';
CREATE FUNCTION neardup_job_clusters(pairs pg_catalog.text, id_type pg_catalog.regtype, max_cluster_size pg_catalog.int4, clustering pg_catalog.text, relation pg_catalog.regclass)
    RETURNS SETOF record -- cluster_id, id, representative pg_catalog.bool
    AS 'MODULE_PATHNAME', 'neardup_job_clusters' LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_job_clusters(text, regtype, int, text, regclass) IS 'internal: clusters of the pairs that a query on a relation gives';
CREATE FUNCTION neardup_job_grouping(docs pg_catalog.regclass, threshold pg_catalog.float8, id_type pg_catalog.regtype, options pg_catalog.jsonb, id_column pg_catalog.text, text_column pg_catalog.text,
    method pg_catalog.text, tokenizer pg_catalog.text, shingle pg_catalog.int4, multiset pg_catalog.bool, max_pairs pg_catalog.int8, site_column pg_catalog.text, clustering pg_catalog.text)
    RETURNS SETOF record -- cluster_id, id, representative pg_catalog.bool
    AS 'MODULE_PATHNAME', 'neardup_job_grouping' LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_job_grouping(
    regclass, float8, regtype, jsonb, text, text, text, text, int, bool, bigint, text, text
) IS 'internal: clusters that a method makes of signatures';
