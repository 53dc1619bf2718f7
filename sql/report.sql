-- A page about the near duplicates of a relation. Body: src/pg/functions/report.

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
    max_members int DEFAULT 3,
    max_samples int DEFAULT 3,
    title_column text DEFAULT NULL,
    link text DEFAULT NULL,
    within text DEFAULT NULL,
    across text DEFAULT NULL
) RETURNS text
    AS 'MODULE_PATHNAME', 'neardup_duplicates_report'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION duplicates_report(
    regclass, float8, jsonb, text, text, text, text, int, bool, bigint, text, text, int, int, int, int, text, text, text, text
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
    max_members int DEFAULT 3,
    max_samples int DEFAULT 3,
    title_column text DEFAULT NULL,
    link text DEFAULT NULL,
    within text DEFAULT NULL,
    across text DEFAULT NULL
) RETURNS text
    AS 'MODULE_PATHNAME', 'neardup_duplicates_report'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION duplicates_report(
    regclass, float8, anyelement, jsonb, text, text, text, text, int, bool, bigint, text, text, int, int, int, int, text, text, text, text
) IS 'one HTML page about the near duplicates of a relation, for ids of the given type';
