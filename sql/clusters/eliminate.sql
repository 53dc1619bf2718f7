-- Which rows to keep. Body: src/pg/functions/clusters/eliminate.rs.

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
    keep text DEFAULT 'longest',
    within text DEFAULT NULL,
    across text DEFAULT NULL
) RETURNS TABLE(id bigint, kept_id bigint, similarity float8)
    AS 'MODULE_PATHNAME', 'neardup_eliminate'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 SUPPORT near_duplicates_rows;
COMMENT ON FUNCTION eliminate(
    regclass, float8, jsonb, text, text, text, text, int, bool, bigint, text, text, text, text
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
    keep text DEFAULT 'longest',
    within text DEFAULT NULL,
    across text DEFAULT NULL
) RETURNS TABLE(id anyelement, kept_id anyelement, similarity float8)
    AS 'MODULE_PATHNAME', 'neardup_eliminate'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 SUPPORT near_duplicates_rows;
COMMENT ON FUNCTION eliminate(
    regclass, float8, anyelement, jsonb, text, text, text, text, int, bool, bigint, text, text, text, text
) IS 'rows that would be removed as near duplicates, each with the kept row that it is near; removes nothing, for ids of the given type';
