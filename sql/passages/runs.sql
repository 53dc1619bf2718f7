-- What a whole table says again, word for word, and what two texts share. Bodies: src/pg/functions/passages/runs.rs.

CREATE FUNCTION repeated_runs(
    docs regclass,
    min_length int DEFAULT 50,
    unit text DEFAULT 'window',
    keep text DEFAULT 'first',
    within text DEFAULT NULL,
    min_documents int DEFAULT 2,
    min_share float8 DEFAULT NULL,
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    tokenizer text DEFAULT NULL,
    within_documents bool DEFAULT NULL,
    min_tokens int DEFAULT 3,
    url text DEFAULT NULL
) RETURNS TABLE(
    id bigint,
    span int4range,
    tokens int,
    of_id bigint,
    of_span int4range,
    documents bigint
)
    AS 'MODULE_PATHNAME', 'neardup_repeated_runs'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION repeated_runs(
    regclass, int, text, text, text, int, float8, text, text, text, bool, int, text
) IS 'the runs of words that a table says again, with the place where each stands first, for ids that are integers';

CREATE FUNCTION repeated_runs(
    docs regclass,
    min_length int,
    id_type anyelement,
    unit text DEFAULT 'window',
    keep text DEFAULT 'first',
    within text DEFAULT NULL,
    min_documents int DEFAULT 2,
    min_share float8 DEFAULT NULL,
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    tokenizer text DEFAULT NULL,
    within_documents bool DEFAULT NULL,
    min_tokens int DEFAULT 3,
    url text DEFAULT NULL
) RETURNS TABLE(
    id anyelement,
    span int4range,
    tokens int,
    of_id anyelement,
    of_span int4range,
    documents bigint
)
    AS 'MODULE_PATHNAME', 'neardup_repeated_runs'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION repeated_runs(
    regclass, int, anyelement, text, text, text, int, float8, text, text, text, bool, int, text
) IS 'the runs of words that a table says again, with the place where each stands first, for ids of the given type';

CREATE FUNCTION cut_repeats(
    docs regclass,
    min_length int DEFAULT 50,
    unit text DEFAULT 'window',
    keep text DEFAULT 'first',
    within text DEFAULT NULL,
    min_documents int DEFAULT 2,
    min_share float8 DEFAULT NULL,
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    tokenizer text DEFAULT NULL,
    within_documents bool DEFAULT NULL,
    min_tokens int DEFAULT 3,
    snap text DEFAULT 'none',
    min_left int DEFAULT 0,
    url text DEFAULT NULL
) RETURNS TABLE(id bigint, body text, cut_characters int, cut_tokens int)
    AS 'MODULE_PATHNAME', 'neardup_cut_repeats'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION cut_repeats(
    regclass, int, text, text, text, int, float8, text, text, text, bool, int, text, int, text
) IS 'the texts of a table without what the table says again, for ids that are integers';

CREATE FUNCTION cut_repeats(
    docs regclass,
    min_length int,
    id_type anyelement,
    unit text DEFAULT 'window',
    keep text DEFAULT 'first',
    within text DEFAULT NULL,
    min_documents int DEFAULT 2,
    min_share float8 DEFAULT NULL,
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    tokenizer text DEFAULT NULL,
    within_documents bool DEFAULT NULL,
    min_tokens int DEFAULT 3,
    snap text DEFAULT 'none',
    min_left int DEFAULT 0,
    url text DEFAULT NULL
) RETURNS TABLE(id anyelement, body text, cut_characters int, cut_tokens int)
    AS 'MODULE_PATHNAME', 'neardup_cut_repeats'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION cut_repeats(
    regclass, int, anyelement, text, text, text, int, float8, text, text, text, bool, int, text, int, text
) IS 'the texts of a table without what the table says again, for ids of the given type';

CREATE FUNCTION shared_runs(
    a text,
    b text,
    min_run int DEFAULT 12,
    tokenizer text DEFAULT NULL
) RETURNS TABLE(left_span int4range, right_span int4range, tokens int)
    AS 'MODULE_PATHNAME', 'neardup_shared_runs'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 5000 ROWS 5;
COMMENT ON FUNCTION shared_runs(text, text, int, text) IS
    'the runs of words that two texts share and that are longer in neither direction, with their places in both';
