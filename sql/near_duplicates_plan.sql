-- An estimate before the run. Body: src/pg/into/near_duplicates_plan.rs.

CREATE FUNCTION near_duplicates_plan(
    docs regclass,
    threshold float8 DEFAULT NULL,
    options jsonb DEFAULT '{}',
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    method text DEFAULT 'jaccard',
    tokenizer text DEFAULT NULL,
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL,
    site_column text DEFAULT NULL,
    sample bigint DEFAULT NULL,
    by_node bool DEFAULT false,
    parts int DEFAULT NULL
) RETURNS TABLE(
    using_method text,
    documents bigint,
    sampled bigint,
    sampled_pairs bigint,
    pairs bigint,
    candidates bigint,
    document_bytes bigint,
    memory bigint,
    temporary bigint,
    cpu_seconds float8,
    cheapest boolean,
    call text,
    node text,
    sent bigint,
    received bigint
)
    AS 'MODULE_PATHNAME', 'neardup_near_duplicates_plan'
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 2 COST 10000;
COMMENT ON FUNCTION near_duplicates_plan(
    regclass, float8, jsonb, text, text, text, text, int, bool, text, bigint, bool, int
) IS 'what near_duplicates with the same arguments will take, or near_duplicates_into on each node, estimated from a sample of the documents';
