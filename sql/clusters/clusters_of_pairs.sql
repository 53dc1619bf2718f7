-- The clusters of pairs that a query or a relation gives. Bodies: src/pg/functions/clusters/clusters_of_pairs.rs.

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
    AS 'MODULE_PATHNAME', 'neardup_clusters_of_pairs'
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
    AS 'MODULE_PATHNAME', 'neardup_cluster_stats'
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
    AS 'MODULE_PATHNAME', 'neardup_cluster_links'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION cluster_links(text, anyelement, int)
    IS 'the weakest pairs that hold each connected cluster of the pairs that a query gives together, with the sizes of the parts they connect, for ids of the given type';

-- The same for the pairs in a relation, which a view or materialized view names by its OID: a query in a string has to find its
-- names again, and the search path of a restore has none.
CREATE FUNCTION clusters_of_pairs(
    pairs regclass,
    max_cluster_size int DEFAULT NULL,
    clustering text DEFAULT 'connected',
    thresholds float8[] DEFAULT NULL
) RETURNS TABLE(cluster_id bigint, id bigint, representative bool, size bigint, similarity float8, threshold float8)
    AS 'MODULE_PATHNAME', 'neardup_clusters_of_pairs'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION clusters_of_pairs(regclass, int, text, float8[])
    IS 'clusters of the pairs in a relation, also at several thresholds, for ids that are integers';

CREATE FUNCTION clusters_of_pairs(
    pairs regclass,
    id_type anyelement,
    max_cluster_size int DEFAULT NULL,
    clustering text DEFAULT 'connected',
    thresholds float8[] DEFAULT NULL
) RETURNS TABLE(cluster_id anyelement, id anyelement, representative bool, size bigint, similarity float8, threshold float8)
    AS 'MODULE_PATHNAME', 'neardup_clusters_of_pairs'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION clusters_of_pairs(regclass, anyelement, int, text, float8[])
    IS 'clusters of the pairs in a relation, also at several thresholds, for ids of the given type';

CREATE FUNCTION cluster_stats(
    pairs regclass,
    max_cluster_size int DEFAULT NULL,
    clustering text DEFAULT 'connected'
) RETURNS TABLE(cluster_id bigint, representative bigint, size bigint, pairs bigint, least_similarity float8, mean_similarity float8, diameter int)
    AS 'MODULE_PATHNAME', 'neardup_cluster_stats'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION cluster_stats(regclass, int, text)
    IS 'size, pairs, least and mean similarity and diameter of the clusters of the pairs in a relation, for ids that are integers';

CREATE FUNCTION cluster_stats(
    pairs regclass,
    id_type anyelement,
    max_cluster_size int DEFAULT NULL,
    clustering text DEFAULT 'connected'
) RETURNS TABLE(cluster_id anyelement, representative anyelement, size bigint, pairs bigint, least_similarity float8, mean_similarity float8, diameter int)
    AS 'MODULE_PATHNAME', 'neardup_cluster_stats'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION cluster_stats(regclass, anyelement, int, text)
    IS 'size, pairs, least and mean similarity and diameter of the clusters of the pairs in a relation, for ids of the given type';

CREATE FUNCTION cluster_links(
    pairs regclass,
    links int DEFAULT 10
) RETURNS TABLE(cluster_id bigint, size bigint, left_id bigint, right_id bigint, similarity float8, left_size bigint, right_size bigint)
    AS 'MODULE_PATHNAME', 'neardup_cluster_links'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION cluster_links(regclass, int)
    IS 'the weakest pairs that hold each connected cluster of the pairs in a relation together, with the sizes of the parts they connect, for ids that are integers';

CREATE FUNCTION cluster_links(
    pairs regclass,
    id_type anyelement,
    links int DEFAULT 10
) RETURNS TABLE(cluster_id anyelement, size bigint, left_id anyelement, right_id anyelement, similarity float8, left_size bigint, right_size bigint)
    AS 'MODULE_PATHNAME', 'neardup_cluster_links'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION cluster_links(regclass, anyelement, int)
    IS 'the weakest pairs that hold each connected cluster of the pairs in a relation together, with the sizes of the parts they connect, for ids of the given type';
