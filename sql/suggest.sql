-- A method and a threshold for these documents. Bodies: src/pg/functions/suggest.

CREATE FUNCTION suggest(
    docs regclass,
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    sample bigint DEFAULT NULL,
    labels regclass DEFAULT NULL,
    min_precision float8 DEFAULT NULL,
    within text DEFAULT NULL,
    across text DEFAULT NULL
) RETURNS TABLE(
    using_method text,
    fits boolean,
    threshold float8,
    pairs bigint,
    reason text,
    call text,
    "precision" float8,
    precision_low float8,
    precision_high float8,
    recall float8,
    recall_low float8,
    recall_high float8
)
    AS 'MODULE_PATHNAME', 'neardup_suggest'
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 7 COST 10000;
COMMENT ON FUNCTION suggest(regclass, text, text, bigint, regclass, float8, text, text) IS
    'a method and a threshold for these documents, with reasons, from a sample of them and from labelled pairs';

CREATE FUNCTION suggest_pairs(
    docs regclass,
    wanted int DEFAULT 100,
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    sample bigint DEFAULT NULL,
    within text DEFAULT NULL,
    across text DEFAULT NULL
) RETURNS TABLE(
    left_id bigint,
    right_id bigint,
    similarity float8,
    stratum float8,
    weight float8,
    text_a text,
    text_b text
)
    AS 'MODULE_PATHNAME', 'neardup_suggest_pairs'
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 100 COST 10000;
COMMENT ON FUNCTION suggest_pairs(regclass, int, text, text, bigint, text, text) IS
    'pairs of documents to label for suggest: some of each similarity, most near the boundary';

CREATE FUNCTION suggest_pairs(
    docs regclass,
    wanted int,
    id_type anyelement,
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    sample bigint DEFAULT NULL,
    within text DEFAULT NULL,
    across text DEFAULT NULL
) RETURNS TABLE(
    left_id anyelement,
    right_id anyelement,
    similarity float8,
    stratum float8,
    weight float8,
    text_a text,
    text_b text
)
    AS 'MODULE_PATHNAME', 'neardup_suggest_pairs'
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 100 COST 10000;
COMMENT ON FUNCTION suggest_pairs(regclass, int, anyelement, text, text, bigint, text, text) IS
    'pairs of documents with ids of any type to label for suggest';
