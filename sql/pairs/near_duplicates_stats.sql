-- What the last join did. Body: src/pg/functions/pairs/near_duplicates_stats.rs.

CREATE FUNCTION near_duplicates_stats() RETURNS TABLE(
    documents bigint,
    skipped_null bigint,
    skipped_empty bigint,
    tokens bigint,
    distinct_tokens bigint,
    distinct_sets bigint,
    candidates bigint,
    pruned_by_size bigint,
    pruned_by_bitmap bigint,
    pruned_by_position bigint,
    pruned_by_suffix bigint,
    verified bigint,
    pairs bigint,
    peak_memory bigint,
    threads bigint,
    read_ms float8,
    order_ms float8,
    join_ms float8,
    pruned_by_sketch bigint,
    stop_signatures bigint,
    stop_documents bigint,
    promised_recall float8,
    measured_recall float8,
    hot_buckets bigint,
    hot_documents bigint,
    unsigned bigint,
    handed_over boolean,
    median_words bigint
)
    AS 'MODULE_PATHNAME', 'neardup_near_duplicates_stats'
    LANGUAGE c VOLATILE PARALLEL RESTRICTED ROWS 1;
COMMENT ON FUNCTION near_duplicates_stats() IS
    'what the last call of near_duplicates or near_duplicates_between in this session by this role did';
