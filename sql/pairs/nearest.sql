-- The nearest of each row. Body: src/pg/functions/pairs/nearest.rs.

CREATE FUNCTION nearest(
    docs regclass,
    k int DEFAULT 10,
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    method text DEFAULT 'jaccard',
    tokenizer text DEFAULT NULL,
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL,
    options jsonb DEFAULT '{}',
    within text DEFAULT NULL,
    across text DEFAULT NULL
) RETURNS TABLE(id bigint, nearest_id bigint, similarity float8, rank int)
    AS 'MODULE_PATHNAME', 'neardup_nearest'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 SUPPORT near_duplicates_rows;
COMMENT ON FUNCTION nearest(regclass, int, text, text, text, text, int, bool, jsonb, text, text) IS
    'for each row the k rows whose texts are the most similar to it, for ids that are integers';

CREATE FUNCTION nearest(
    docs regclass,
    k int,
    id_type anyelement,
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    method text DEFAULT 'jaccard',
    tokenizer text DEFAULT NULL,
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL,
    options jsonb DEFAULT '{}',
    within text DEFAULT NULL,
    across text DEFAULT NULL
) RETURNS TABLE(id anyelement, nearest_id anyelement, similarity float8, rank int)
    AS 'MODULE_PATHNAME', 'neardup_nearest'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 SUPPORT near_duplicates_rows;
COMMENT ON FUNCTION nearest(regclass, int, anyelement, text, text, text, text, int, bool, jsonb, text, text) IS
    'for each row the k rows whose texts are the most similar to it, for ids of the given type';
