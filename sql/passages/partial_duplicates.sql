-- Passages that documents share. Bodies: src/pg/functions/passages/partial_duplicates.rs.

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
    max_passages bigint DEFAULT NULL,
    tokenizer text DEFAULT NULL,
    within text DEFAULT NULL,
    across text DEFAULT NULL,
    edits float8 DEFAULT NULL,
    min_length int DEFAULT NULL
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
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 SUPPORT near_duplicates_rows;
COMMENT ON FUNCTION partial_duplicates(
    regclass, float8, jsonb, text, text, text, int, bool, int, bigint, text, text, text, float8, int
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
    max_passages bigint DEFAULT NULL,
    tokenizer text DEFAULT NULL,
    within text DEFAULT NULL,
    across text DEFAULT NULL,
    edits float8 DEFAULT NULL,
    min_length int DEFAULT NULL
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
    AS 'MODULE_PATHNAME', 'neardup_partial_duplicates'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 SUPPORT near_duplicates_rows;
COMMENT ON FUNCTION partial_duplicates(
    regclass, float8, anyelement, jsonb, text, text, text, int, bool, int, bigint, text, text, text, float8, int
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
    right_text_column text DEFAULT NULL,
    tokenizer text DEFAULT NULL,
    within text DEFAULT NULL,
    right_within text DEFAULT NULL,
    across text DEFAULT NULL,
    right_across text DEFAULT NULL,
    edits float8 DEFAULT NULL,
    min_length int DEFAULT NULL
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
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 SUPPORT near_duplicates_rows;
COMMENT ON FUNCTION partial_duplicates_between(
    regclass, regclass, float8, jsonb, text, text, text, int, bool, int, bigint, text, text, text, text, text, text, text, float8, int
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
    right_text_column text DEFAULT NULL,
    tokenizer text DEFAULT NULL,
    within text DEFAULT NULL,
    right_within text DEFAULT NULL,
    across text DEFAULT NULL,
    right_across text DEFAULT NULL,
    edits float8 DEFAULT NULL,
    min_length int DEFAULT NULL
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
    AS 'MODULE_PATHNAME', 'neardup_partial_duplicates_between'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 SUPPORT near_duplicates_rows;
COMMENT ON FUNCTION partial_duplicates_between(
    regclass, regclass, float8, anyelement, jsonb, text, text, text, int, bool, int, bigint, text, text, text, text, text, text, text, float8, int
) IS 'the passages that a row of the left and a row of the right table share, with their places in both texts, for ids of the given type';

CREATE FUNCTION shared_passages(
    a text,
    b text,
    threshold float8 DEFAULT 0.9,
    options jsonb DEFAULT '{}',
    features text DEFAULT 'imatch',
    min_sentences int DEFAULT 3,
    extend bool DEFAULT true,
    shingle int DEFAULT NULL,
    tokenizer text DEFAULT NULL,
    edits float8 DEFAULT NULL,
    min_length int DEFAULT NULL
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
COMMENT ON FUNCTION shared_passages(text, text, float8, jsonb, text, int, bool, int, text, float8, int) IS
    'the passages that two texts share, with their places in both';
