-- From 0.1.0 to 0.2.0. docs/operations/upgrading.md says how such a script is written; pg_test/cluster/upgrade.sh compares
-- what it leads to with a fresh install.

-- Before anything else: a session that loaded the library before it was replaced keeps the old one, and what follows would be
-- declared for it. That of 0.1.0 has nothing to be asked.
DO $$
BEGIN
    EXECUTE $declaration$
        CREATE FUNCTION neardup_check_library() RETURNS void
            AS 'MODULE_PATHNAME', 'neardup_check_library'
            LANGUAGE c VOLATILE PARALLEL UNSAFE;
    $declaration$;
EXCEPTION WHEN undefined_function THEN
    RAISE EXCEPTION USING ERRCODE := 'object_not_in_prerequisite_state',
        MESSAGE := 'the library neardup that this session has loaded is older than its SQL',
        HINT := 'Start a new session; if that does not help, install the library of the same version.';
END
$$;
COMMENT ON FUNCTION neardup_check_library() IS 'internal: an error where the library is older than the script of the extension that runs';
SELECT neardup_check_library();

CREATE FUNCTION neardup_version(
    OUT library text, OUT sql text, OUT text_rules int, OUT hashes int, OUT sketch_format int, OUT index_format int, OUT lists_format int,
    OUT unicode text, OUT instructions text)
    AS 'MODULE_PATHNAME', 'neardup_version'
    LANGUAGE c STABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_version() IS
    'versions of the library and of its SQL definitions in this database, of what is stored, and of Unicode; the instruction set in use';

-- Jobs: internal functions that no function of others makes ambiguous, and a log that tells how far a run is.
-- An argument of this type tells an internal function of jobs from any that others declare: these may not use the type, so
-- none of theirs is as good a match for a call, nor does one make it ambiguous.
CREATE TYPE neardup_internal AS ENUM ();
COMMENT ON TYPE neardup_internal IS 'internal: an argument of functions that users do not call; NULL';
REVOKE USAGE ON TYPE neardup_internal FROM PUBLIC;

DROP FUNCTION neardup_refresh_step(regclass, timestamptz, int);
DROP FUNCTION neardup_job_check(regclass, float8, regtype, jsonb, text, text, text, text, int, bool, bigint, text, text, int);
DROP FUNCTION neardup_job_hash(text);
DROP FUNCTION neardup_job_lists(regclass, float8, regtype, jsonb, text, text, text, text, int, bool, bigint, text, regclass, text, regclass, bigint);
DROP FUNCTION neardup_job_merge(regclass);
DROP FUNCTION neardup_job_pairs(regclass, float8, regtype, jsonb, text, text, text, text, int, bool, bigint, text, regclass, text, text, regclass, bigint);
DROP FUNCTION neardup_job_clusters(text, regtype, int, text, regclass);
DROP FUNCTION neardup_job_grouping(regclass, float8, regtype, jsonb, text, text, text, text, int, bool, bigint, text, text);
CREATE FUNCTION neardup_refresh_step(docs pg_catalog.regclass, started pg_catalog.timestamptz, batch_rows pg_catalog.int4,
    internal neardup_internal DEFAULT NULL) RETURNS pg_catalog.text
    AS 'MODULE_PATHNAME', 'neardup_refresh_step'
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_refresh_step(regclass, timestamptz, int, neardup_internal) IS
    'internal: one batch of neardup_refresh; more, done, or skipped';
CREATE FUNCTION neardup_job_check(docs pg_catalog.regclass, threshold pg_catalog.float8, id_type pg_catalog.regtype, options pg_catalog.jsonb, id_column pg_catalog.text, text_column pg_catalog.text,
    method pg_catalog.text, tokenizer pg_catalog.text, shingle pg_catalog.int4, multiset pg_catalog.bool, max_pairs pg_catalog.int8, site_column pg_catalog.text, clustering pg_catalog.text, max_cluster_size pg_catalog.int4,
    internal neardup_internal DEFAULT NULL) RETURNS pg_catalog.text
    AS 'MODULE_PATHNAME', 'neardup_job_check' LANGUAGE c VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION neardup_job_check(
    regclass, float8, regtype, jsonb, text, text, text, text, int, bool, bigint, text, text, int, neardup_internal
) IS 'internal: checks the arguments of a job; sets, pairs, whole, or signatures: what can be brought up to date of its method';
CREATE FUNCTION neardup_job_hash(content pg_catalog.text, internal neardup_internal DEFAULT NULL) RETURNS pg_catalog.uuid
    AS 'MODULE_PATHNAME', 'neardup_job_hash' LANGUAGE c IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_job_hash(text, neardup_internal) IS 'internal: a hash of a row, to notice changes by';
CREATE FUNCTION neardup_job_lists(docs pg_catalog.regclass, threshold pg_catalog.float8, id_type pg_catalog.regtype, options pg_catalog.jsonb, id_column pg_catalog.text, text_column pg_catalog.text,
    method pg_catalog.text, tokenizer pg_catalog.text, shingle pg_catalog.int4, multiset pg_catalog.bool, max_pairs pg_catalog.int8, site_column pg_catalog.text, state pg_catalog.regclass, rows pg_catalog.text, lists pg_catalog.regclass,
    first_segment pg_catalog.int8, internal neardup_internal DEFAULT NULL)
    RETURNS TABLE(kind pg_catalog."char", segment pg_catalog.int8, part pg_catalog.int4, documents pg_catalog.int4, data pg_catalog.bytea, ids pg_catalog.text[])
    AS 'MODULE_PATHNAME', 'neardup_job_lists' LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_job_lists(
    regclass, float8, regtype, jsonb, text, text, text, text, int, bool, bigint, text, regclass, text, regclass, bigint,
    neardup_internal
) IS 'internal: outlines of rows, batch or known by a table of state or all, as rows of the table of lists; of kind ! where those are damaged';
CREATE FUNCTION neardup_job_merge(lists pg_catalog.regclass, internal neardup_internal DEFAULT NULL)
    RETURNS TABLE(kind pg_catalog."char", segment pg_catalog.int8, part pg_catalog.int4, documents pg_catalog.int4, data pg_catalog.bytea, ids pg_catalog.text[])
    AS 'MODULE_PATHNAME', 'neardup_job_merge' LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_job_merge(regclass, neardup_internal) IS 'internal: small segments of a table of lists as one; a row of kind ! where it is damaged';
-- Not polymorphic, so that no planted function is a better match; the caller says of which type the columns of ids are.
CREATE FUNCTION neardup_job_pairs(docs pg_catalog.regclass, threshold pg_catalog.float8, id_type pg_catalog.regtype, options pg_catalog.jsonb, id_column pg_catalog.text, text_column pg_catalog.text,
    method pg_catalog.text, tokenizer pg_catalog.text, shingle pg_catalog.int4, multiset pg_catalog.bool, max_pairs pg_catalog.int8, site_column pg_catalog.text,
    state pg_catalog.regclass, changed pg_catalog.text, others pg_catalog.text, lists pg_catalog.regclass, new_segment pg_catalog.int8,
    internal neardup_internal DEFAULT NULL)
    RETURNS SETOF record -- left_id, right_id, similarity pg_catalog.float8, and the columns of the table of lists
    AS 'MODULE_PATHNAME', 'neardup_job_pairs' LANGUAGE c VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION neardup_job_pairs(
    regclass, float8, regtype, jsonb, text, text, text, text, int, bool, bigint, text, regclass, text, text, regclass, bigint,
    neardup_internal
) IS 'internal: pairs of a changed row and any other one, and the outlines of changed rows as rows of the table of lists';
CREATE FUNCTION neardup_job_clusters(pairs pg_catalog.text, id_type pg_catalog.regtype, max_cluster_size pg_catalog.int4, clustering pg_catalog.text, relation pg_catalog.regclass,
    internal neardup_internal DEFAULT NULL)
    RETURNS SETOF record -- cluster_id, id, representative pg_catalog.bool
    AS 'MODULE_PATHNAME', 'neardup_job_clusters' LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_job_clusters(text, regtype, int, text, regclass, neardup_internal) IS 'internal: clusters of the pairs that a query on a relation gives';
CREATE FUNCTION neardup_job_grouping(docs pg_catalog.regclass, threshold pg_catalog.float8, id_type pg_catalog.regtype, options pg_catalog.jsonb, id_column pg_catalog.text, text_column pg_catalog.text,
    method pg_catalog.text, tokenizer pg_catalog.text, shingle pg_catalog.int4, multiset pg_catalog.bool, max_pairs pg_catalog.int8, site_column pg_catalog.text, clustering pg_catalog.text,
    internal neardup_internal DEFAULT NULL)
    RETURNS SETOF record -- cluster_id, id, representative pg_catalog.bool
    AS 'MODULE_PATHNAME', 'neardup_job_grouping' LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_job_grouping(
    regclass, float8, regtype, jsonb, text, text, text, text, int, bool, bigint, text, text, neardup_internal
) IS 'internal: clusters that a method makes of signatures';
-- It calls the step with one argument more. Others may depend on it, so it is not dropped; only what is the extension's own
-- can be replaced here.
CREATE OR REPLACE PROCEDURE neardup_refresh(docs pg_catalog.regclass, INOUT status pg_catalog.text DEFAULT NULL, batch_rows pg_catalog.int4 DEFAULT 1000000)
    LANGUAGE plpgsql
AS $$
DECLARE
    step pg_catalog.text;
    began pg_catalog.timestamptz := pg_catalog.clock_timestamp();
BEGIN
    SELECT pg_catalog.format('SELECT %1$I.neardup_refresh_step($1::pg_catalog.regclass, $2::pg_catalog.timestamptz, $3::pg_catalog.int4, NULL::%1$I.neardup_internal)'::pg_catalog.text, n.nspname) INTO STRICT step
    FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
    WHERE e.extname OPERATOR(pg_catalog.=) 'neardup'::pg_catalog.name;
    LOOP
        EXECUTE step INTO status USING docs, began, batch_rows;
        COMMIT;
        EXIT WHEN status OPERATOR(pg_catalog.<>) 'more'::pg_catalog.text;
    END LOOP;
END
$$;

ALTER TABLE neardup_all_runs ADD COLUMN total pg_catalog.int8;
COMMENT ON VIEW neardup_runs IS 'the last runs of neardup_refresh, neardup.keep_runs of each job, on relations of roles that the reader is a member of: running, done, or interrupted; how many rows were new, changed or deleted, and what became of pairs';
-- A refresh holds a lock on its job: so it is running exactly as long as that is held, however it ends.
CREATE VIEW neardup_progress WITH (security_barrier) AS
    SELECT j.docs,
        CASE WHEN l.pid IS NOT NULL THEN 'running'::pg_catalog.text
            WHEN r.status OPERATOR(pg_catalog.=) 'running'::pg_catalog.text THEN 'interrupted'::pg_catalog.text
            ELSE COALESCE(r.status, 'new'::pg_catalog.text) END AS status,
        l.pid, CASE WHEN l.pid IS NULL OR r.is_it THEN r.started ELSE a.query_start END AS started,
        pg_catalog."substring"(a.query, '/\* neardup_refresh: ([^*]*) \*/$'::pg_catalog.text) AS step,
        CASE WHEN l.pid IS NULL OR r.is_it THEN r.batches ELSE 0::pg_catalog.int4 END AS batches,
        CASE WHEN l.pid IS NULL OR r.is_it THEN r.rows ELSE 0::pg_catalog.int8 END AS rows,
        CASE WHEN l.pid IS NULL OR r.is_it THEN r.total END AS total,
        d.finished AS last_finished
    FROM neardup_all_jobs j
        LEFT JOIN LATERAL (SELECT k.pid FROM pg_catalog.pg_locks k
            WHERE k.locktype OPERATOR(pg_catalog.=) 'object'::pg_catalog.text AND k.granted
                AND k.database OPERATOR(pg_catalog.=) (SELECT b.oid FROM pg_catalog.pg_database b WHERE b.datname OPERATOR(pg_catalog.=) pg_catalog.current_database())
                AND k.classid OPERATOR(pg_catalog.=) 'neardup_all_jobs'::pg_catalog.regclass::pg_catalog.oid
                AND k.objid OPERATOR(pg_catalog.=) j.docs::pg_catalog.oid) l ON true
        LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid OPERATOR(pg_catalog.=) l.pid
        LEFT JOIN LATERAL (SELECT o.started, o.status, o.batches, o.rows, o.total, o.status OPERATOR(pg_catalog.=) 'running'::pg_catalog.text
                AND COALESCE(o.started OPERATOR(pg_catalog.>=) a.query_start, true) AS is_it FROM neardup_all_runs o
            WHERE o.docs OPERATOR(pg_catalog.=) j.docs ORDER BY o.started DESC LIMIT 1) r ON true
        LEFT JOIN LATERAL (SELECT o.finished FROM neardup_all_runs o
            WHERE o.docs OPERATOR(pg_catalog.=) j.docs AND o.status OPERATOR(pg_catalog.=) 'done'::pg_catalog.text ORDER BY o.started DESC LIMIT 1) d ON true
    WHERE pg_catalog.pg_has_role((SELECT c.relowner FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) j.docs::pg_catalog.oid),
        'USAGE'::pg_catalog.text);
COMMENT ON VIEW neardup_progress IS 'where the refresh of each job is, or how its last one ended, for relations of roles that the reader is a member of';
GRANT SELECT ON neardup_progress TO PUBLIC;

-- near_duplicates_stats() has two columns more: unsigned, handed_over.
DROP FUNCTION near_duplicates_stats();
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
    handed_over boolean
)
    AS 'MODULE_PATHNAME', 'neardup_near_duplicates_stats'
    LANGUAGE c VOLATILE PARALLEL RESTRICTED ROWS 1;
COMMENT ON FUNCTION near_duplicates_stats() IS
    'what the last call of near_duplicates or near_duplicates_between in this session by this role did';
