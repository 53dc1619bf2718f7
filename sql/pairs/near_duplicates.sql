-- The main job: pairs of near duplicates in one table or between two. Bodies: src/pg/functions/pairs/near_duplicates.rs.

CREATE FUNCTION near_duplicates_rows(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'neardup_near_duplicates_rows'
    LANGUAGE c STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION near_duplicates_rows(internal) IS 'tells the planner how many rows a call returns, by the statistics of the relation';

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
    site_column text DEFAULT NULL,
    within text DEFAULT NULL,
    across text DEFAULT NULL
) RETURNS TABLE(left_id bigint, right_id bigint, similarity float8)
    AS 'MODULE_PATHNAME', 'neardup_near_duplicates'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 SUPPORT near_duplicates_rows;
COMMENT ON FUNCTION near_duplicates(
    regclass, float8, jsonb, text, text, text, text, int, bool, bigint, text, text, text
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
    site_column text DEFAULT NULL,
    within text DEFAULT NULL,
    across text DEFAULT NULL
) RETURNS TABLE(left_id anyelement, right_id anyelement, similarity float8)
    AS 'MODULE_PATHNAME', 'neardup_near_duplicates'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 SUPPORT near_duplicates_rows;
COMMENT ON FUNCTION near_duplicates(
    regclass, float8, anyelement, jsonb, text, text, text, text, int, bool, bigint, text, text, text
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
    right_site_column text DEFAULT NULL,
    within text DEFAULT NULL,
    right_within text DEFAULT NULL,
    across text DEFAULT NULL,
    right_across text DEFAULT NULL
) RETURNS TABLE(left_id bigint, right_id bigint, similarity float8)
    AS 'MODULE_PATHNAME', 'neardup_near_duplicates_between'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 SUPPORT near_duplicates_rows;
COMMENT ON FUNCTION near_duplicates_between(
    regclass, regclass, float8, jsonb, text, text, text, text, int, bool, bigint, text, text, text, text, text, text, text, text
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
    right_site_column text DEFAULT NULL,
    within text DEFAULT NULL,
    right_within text DEFAULT NULL,
    across text DEFAULT NULL,
    right_across text DEFAULT NULL
) RETURNS TABLE(left_id anyelement, right_id anyelement, similarity float8)
    AS 'MODULE_PATHNAME', 'neardup_near_duplicates_between'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 SUPPORT near_duplicates_rows;
COMMENT ON FUNCTION near_duplicates_between(
    regclass, regclass, float8, anyelement, jsonb, text, text, text, text, int, bool, bigint, text, text, text, text, text, text, text, text
) IS 'all pairs of a row of the left and a row of the right table whose texts are at least so similar, for ids of the given type';
