-- The clusters of near duplicates in a relation. Body: src/pg/functions/clusters/near_duplicate_clusters.rs.

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
    max_cluster_size int DEFAULT NULL,
    within text DEFAULT NULL,
    across text DEFAULT NULL
) RETURNS TABLE(cluster_id bigint, id bigint, representative bool, size bigint, similarity float8)
    AS 'MODULE_PATHNAME', 'neardup_near_duplicate_clusters'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 SUPPORT near_duplicates_rows;
COMMENT ON FUNCTION near_duplicate_clusters(
    regclass, float8, jsonb, text, text, text, text, int, bool, bigint, text, text, int, text, text
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
    max_cluster_size int DEFAULT NULL,
    within text DEFAULT NULL,
    across text DEFAULT NULL
) RETURNS TABLE(cluster_id anyelement, id anyelement, representative bool, size bigint, similarity float8)
    AS 'MODULE_PATHNAME', 'neardup_near_duplicate_clusters'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 SUPPORT near_duplicates_rows;
COMMENT ON FUNCTION near_duplicate_clusters(
    regclass, float8, anyelement, jsonb, text, text, text, text, int, bool, bigint, text, text, int, text, text
) IS 'clusters of rows whose texts are at least so similar, for ids of the given type';
