-- Pairs into clusters, and which rows to keep. Bodies: src/pg/functions/clusters.rs, pair_clusters.rs, eliminate.rs.

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
    AS 'MODULE_PATHNAME', 'neardup_clusters'
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
    AS 'MODULE_PATHNAME', 'neardup_clusters_typed'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION near_duplicate_clusters(
    regclass, float8, anyelement, jsonb, text, text, text, text, int, bool, bigint, text, text, int
) IS 'clusters of rows whose texts are at least so similar, for ids of the given type';

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

CREATE FUNCTION clusters_of_pairs(
    pairs text,
    max_cluster_size int DEFAULT NULL,
    clustering text DEFAULT 'connected',
    thresholds float8[] DEFAULT NULL
) RETURNS TABLE(cluster_id bigint, id bigint, representative bool, size bigint, similarity float8, threshold float8)
    AS 'MODULE_PATHNAME', 'neardup_pair_clusters'
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
    AS 'MODULE_PATHNAME', 'neardup_pair_clusters_typed'
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
