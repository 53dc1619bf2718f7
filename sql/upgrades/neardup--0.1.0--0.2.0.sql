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

-- What was granted on or revoked from functions that are made anew is lost: that is told, and not done again here, where it
-- would count as the extension's own and be left out of dumps.
DO $$
DECLARE
    changed pg_catalog.text;
BEGIN
    SELECT pg_catalog.string_agg(p.oid::pg_catalog.regprocedure::pg_catalog.text, ', ' ORDER BY p.proname) INTO changed
    FROM pg_catalog.pg_extension e
        JOIN pg_catalog.pg_depend d ON d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid
            AND d.refobjid OPERATOR(pg_catalog.=) e.oid AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid
        JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) d.objid
    WHERE e.extname OPERATOR(pg_catalog.=) 'neardup'::pg_catalog.name AND p.proacl IS NOT NULL
        AND p.proname OPERATOR(pg_catalog.=) ANY ('{near_duplicates_stats,neardup_refresh_step,neardup_job_check,neardup_job_hash,neardup_job_lists,neardup_job_merge,neardup_job_pairs,neardup_job_clusters,neardup_job_grouping,partial_duplicates,partial_duplicates_between,shared_passages}'::pg_catalog.name[]);
    IF changed IS NOT NULL THEN
        RAISE WARNING USING MESSAGE := pg_catalog.format('these functions are made anew, without the privileges that were granted or revoked: %s'::pg_catalog.text, changed),
            HINT := 'Grant and revoke them again.';
    END IF;
END
$$;
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
    candidates pg_catalog.bool DEFAULT false, internal neardup_internal DEFAULT NULL)
    RETURNS SETOF record -- left_id, right_id, similarity pg_catalog.float8, and the columns of the table of lists
    AS 'MODULE_PATHNAME', 'neardup_job_pairs' LANGUAGE c VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION neardup_job_pairs(
    regclass, float8, regtype, jsonb, text, text, text, text, int, bool, bigint, text, regclass, text, text, regclass, bigint,
    bool, neardup_internal
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

-- Sets of tokens as values, and orders of tokens. Bodies: src/pg/functions/token_sets.rs.

CREATE TYPE token_set;

CREATE FUNCTION token_set_in(cstring) RETURNS token_set
    AS 'MODULE_PATHNAME', 'neardup_token_set_in'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION token_set_in(cstring) IS 'reads a token_set from text';

CREATE FUNCTION token_set_out(token_set) RETURNS cstring
    AS 'MODULE_PATHNAME', 'neardup_token_set_out'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION token_set_out(token_set) IS 'a token_set as text';

CREATE FUNCTION token_set_recv(internal) RETURNS token_set
    AS 'MODULE_PATHNAME', 'neardup_token_set_recv'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION token_set_recv(internal) IS 'reads a token_set in binary form';

CREATE FUNCTION token_set_send(token_set) RETURNS bytea
    AS 'byteasend'
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION token_set_send(token_set) IS 'a token_set in binary form';

-- Hashes do not compress: where a row is long they go out of line as they are.
CREATE TYPE token_set (
    INPUT = token_set_in,
    OUTPUT = token_set_out,
    RECEIVE = token_set_recv,
    SEND = token_set_send,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = external
);
COMMENT ON TYPE token_set IS 'what tokens() makes: 64-bit hashes of the distinct tokens of a document';

CREATE TYPE token_ranks;

CREATE FUNCTION token_ranks_in(cstring) RETURNS token_ranks
    AS 'MODULE_PATHNAME', 'neardup_token_ranks_in'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION token_ranks_in(cstring) IS 'reads a token_ranks from text';

CREATE FUNCTION token_ranks_out(token_ranks) RETURNS cstring
    AS 'MODULE_PATHNAME', 'neardup_token_ranks_out'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION token_ranks_out(token_ranks) IS 'a token_ranks as text';

CREATE FUNCTION token_ranks_recv(internal) RETURNS token_ranks
    AS 'MODULE_PATHNAME', 'neardup_token_ranks_recv'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION token_ranks_recv(internal) IS 'reads a token_ranks in binary form';

CREATE FUNCTION token_ranks_send(token_ranks) RETURNS bytea
    AS 'byteasend'
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION token_ranks_send(token_ranks) IS 'a token_ranks in binary form';

CREATE TYPE token_ranks (
    INPUT = token_ranks_in,
    OUTPUT = token_ranks_out,
    RECEIVE = token_ranks_recv,
    SEND = token_ranks_send,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = external
);
COMMENT ON TYPE token_ranks IS 'what token_order() makes: the frequent tokens of a sample, from rare to frequent';

-- Not a text: postgres_fdw sends no call with a text that is not of a column, as it might have another collation there.
CREATE TYPE set_measure AS ENUM ('jaccard', 'cosine', 'dice', 'overlap');
COMMENT ON TYPE set_measure IS 'how the similarity of two sets is measured';

CREATE FUNCTION tokens(
    text text,
    tokenizer text DEFAULT 'words',
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL
) RETURNS token_set
    AS 'MODULE_PATHNAME', 'neardup_tokens_text'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION tokens(text, text, int, bool) IS
    'the set of the tokens of a text, cut as near_duplicates cuts it by the same arguments';

CREATE FUNCTION tokens(
    tokens text[],
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL
) RETURNS token_set
    AS 'MODULE_PATHNAME', 'neardup_tokens_tokens'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION tokens(text[], int, bool) IS 'the set of words that are given';

CREATE FUNCTION tokens(
    lexemes tsvector,
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL
) RETURNS token_set
    AS 'MODULE_PATHNAME', 'neardup_tokens_lexemes'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION tokens(tsvector, int, bool) IS 'the set of the lexemes of a tsvector, each as often as it has positions';

CREATE FUNCTION tokens(
    numbers bigint[],
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL
) RETURNS token_set
    AS 'MODULE_PATHNAME', 'neardup_tokens_numbers'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION tokens(bigint[], int, bool) IS 'the set of numbers that are given, such as shingles';

CREATE FUNCTION token_similarity(a token_set, b token_set, method set_measure DEFAULT 'jaccard') RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_token_similarity'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION token_similarity(token_set, token_set, set_measure) IS
    'the similarity of two sets of tokens by jaccard, cosine, dice or overlap, to the last bit that of near_duplicates';

CREATE FUNCTION token_order_step(internal, token_set, int) RETURNS internal
    AS 'MODULE_PATHNAME', 'neardup_token_order_step'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION token_order_step(internal, token_set, int) IS 'internal: counts the tokens of a set for token_order';

CREATE FUNCTION token_order_result(internal) RETURNS token_ranks
    AS 'MODULE_PATHNAME', 'neardup_token_order_result'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION token_order_result(internal) IS 'internal: the result of token_order';

CREATE AGGREGATE token_order(set token_set, keep int) (
    SFUNC = token_order_step,
    STYPE = internal,
    SSPACE = 67108864,
    FINALFUNC = token_order_result,
    FINALFUNC_MODIFY = READ_WRITE,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE token_order(token_set, int) IS
    'the order in which prefix_groups takes tokens: the keep most frequent ones of the sets, from rare to frequent, behind all others';

-- The exact join of sets in parts. Bodies: src/pg/functions/parts.rs.

CREATE FUNCTION prefix_groups(
    set token_set,
    ranks token_ranks,
    method set_measure,
    threshold float8,
    parts int
) RETURNS TABLE(part int, size int, bitmap bytea, prefix bytea)
    AS 'MODULE_PATHNAME', 'neardup_prefix_groups'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 10;
COMMENT ON FUNCTION prefix_groups(token_set, token_ranks, set_measure, float8, int) IS
    'a set of tokens as rows for join_part: one for each part that tokens of its prefix fall into, numbered from 0';

CREATE FUNCTION join_part_step(internal, anyelement, int, bytea, bytea, set_measure, float8) RETURNS internal
    AS 'MODULE_PATHNAME', 'neardup_join_part_step'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION join_part_step(internal, anyelement, int, bytea, bytea, set_measure, float8) IS 'internal: adds a row to a part for join_part';

-- Without a cost: three servers with all groups each would seem more work than one with all, and nothing be sent to them.
CREATE FUNCTION join_part_result(internal, anyelement, int, bytea, bytea, set_measure, float8) RETURNS anyarray
    AS 'MODULE_PATHNAME', 'neardup_join_part_result'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION join_part_result(internal, anyelement, int, bytea, bytea, set_measure, float8) IS 'internal: the result of join_part';

-- So much space for a state makes the server sort the rows of many parts, and have one part at a time in memory.
CREATE AGGREGATE join_part(id anyelement, size int, bitmap bytea, prefix bytea, method set_measure, threshold float8) (
    SFUNC = join_part_step,
    STYPE = internal,
    SSPACE = 67108864,
    FINALFUNC = join_part_result,
    FINALFUNC_EXTRA,
    FINALFUNC_MODIFY = READ_WRITE,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE join_part(anyelement, int, bytea, bytea, set_measure, float8) IS
    'the pairs of a part that may be similar, as ids one after the other: each pair once in a part, the lesser id first';

CREATE FUNCTION candidate_pairs(ids anyarray) RETURNS TABLE(left_id anyelement, right_id anyelement)
    AS 'MODULE_PATHNAME', 'neardup_candidate_pairs'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 1000;
COMMENT ON FUNCTION candidate_pairs(anyarray) IS 'what join_part gives as rows';

-- Near duplicates as a table, made where the documents are. The body of the plan: src/pg/functions/near_duplicates_into.rs.

CREATE FUNCTION neardup_into_plan(docs pg_catalog.regclass, threshold pg_catalog.float8, id_type pg_catalog.regtype, options pg_catalog.jsonb, id_column pg_catalog.text, text_column pg_catalog.text,
    method pg_catalog.text, tokenizer pg_catalog.text, shingle pg_catalog.int4, multiset pg_catalog.bool, max_pairs pg_catalog.int8, site_column pg_catalog.text)
    RETURNS TABLE(ids pg_catalog.text, sets pg_catalog.text, measure pg_catalog.text, at_least pg_catalog.float8, example pg_catalog.text)
    AS 'MODULE_PATHNAME', 'neardup_into_plan' LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1;
COMMENT ON FUNCTION neardup_into_plan(
    regclass, float8, regtype, jsonb, text, text, text, text, int, bool, bigint, text
) IS 'internal: what near_duplicates_into makes its statements of';

-- Makes a working table, without rows. Where there are servers its rows are spread over them: by a hash of the column, or
-- in ranges of it of equal length up to last_part. This and neardup_into_drop are all that knows how tables are spread.
CREATE FUNCTION neardup_into_table(home pg_catalog.text, name pg_catalog.text, columns pg_catalog.text, spread_by pg_catalog.text, last_part pg_catalog.int4, servers pg_catalog.text[], schemas pg_catalog.text[])
    RETURNS pg_catalog.void
    LANGUAGE plpgsql
AS $$
DECLARE
    dblink pg_catalog.text;
    bounds pg_catalog.text;
    number pg_catalog.int4 := pg_catalog.cardinality(servers);
    target pg_catalog.text := pg_catalog.format('%I.%I'::pg_catalog.text, home, name);
BEGIN
    IF number IS NULL THEN
        EXECUTE pg_catalog.format('CREATE UNLOGGED TABLE %s (%s)'::pg_catalog.text, target, columns);
        RETURN;
    END IF;
    SELECT pg_catalog.quote_ident(n.nspname::pg_catalog.text) INTO STRICT dblink
    FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
    WHERE e.extname OPERATOR(pg_catalog.=) 'dblink'::pg_catalog.name;
    EXECUTE pg_catalog.format('CREATE TABLE %s (%s) PARTITION BY %s (%I)'::pg_catalog.text, target, columns,
        CASE WHEN last_part IS NULL THEN 'HASH'::pg_catalog.text ELSE 'RANGE'::pg_catalog.text END, spread_by);
    FOR i IN 1..number LOOP
        EXECUTE pg_catalog.format('SELECT %s.dblink_exec($1::pg_catalog.text, $2::pg_catalog.text)'::pg_catalog.text, dblink)
        USING servers[i], pg_catalog.format('CREATE UNLOGGED TABLE %I.%I (%s)'::pg_catalog.text, schemas[i], name, columns);
        bounds := CASE WHEN last_part IS NULL
            THEN pg_catalog.format('WITH (MODULUS %s, REMAINDER %s)'::pg_catalog.text, number, i OPERATOR(pg_catalog.-) 1)
            ELSE pg_catalog.format('FROM (%s) TO (%s)'::pg_catalog.text,
                (last_part OPERATOR(pg_catalog.+) 1) OPERATOR(pg_catalog.*) (i OPERATOR(pg_catalog.-) 1) OPERATOR(pg_catalog./) number,
                (last_part OPERATOR(pg_catalog.+) 1) OPERATOR(pg_catalog.*) i OPERATOR(pg_catalog./) number) END;
        EXECUTE pg_catalog.format(
            'CREATE FOREIGN TABLE %I.%I PARTITION OF %s FOR VALUES %s SERVER %I %s (schema_name %L, table_name %L, fetch_size ''1000'', batch_size ''1000'', async_capable ''true'')'::pg_catalog.text,
            home, pg_catalog.format('%s_%s'::pg_catalog.text, name, i), target, bounds, servers[i], 'OPTIONS', schemas[i], name);
    END LOOP;
END
$$;
COMMENT ON FUNCTION neardup_into_table(text, text, text, text, int, text[], text[]) IS 'internal: makes a working table of near_duplicates_into';

-- Drops those that are there; only the caller's.
CREATE FUNCTION neardup_into_drop(home pg_catalog.text, names pg_catalog.text[], servers pg_catalog.text[], schemas pg_catalog.text[])
    RETURNS pg_catalog.void
    LANGUAGE plpgsql
AS $$
DECLARE
    dblink pg_catalog.text;
    name pg_catalog.text;
BEGIN
    FOREACH name IN ARRAY names LOOP
        IF pg_catalog.to_regclass(pg_catalog.format('%I.%I'::pg_catalog.text, home, name)) IS NOT NULL THEN
            EXECUTE pg_catalog.format('DROP TABLE %I.%I'::pg_catalog.text, home, name);
        END IF;
    END LOOP;
    SELECT pg_catalog.quote_ident(n.nspname::pg_catalog.text) INTO dblink
    FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
    WHERE e.extname OPERATOR(pg_catalog.=) 'dblink'::pg_catalog.name;
    FOR i IN 1..COALESCE(pg_catalog.cardinality(servers), 0) LOOP
        EXECUTE pg_catalog.format('SELECT %s.dblink_exec($1::pg_catalog.text, $2::pg_catalog.text)'::pg_catalog.text, dblink)
        USING servers[i], (SELECT pg_catalog.format('DROP TABLE IF EXISTS %s'::pg_catalog.text,
            pg_catalog.string_agg(pg_catalog.format('%I.%I'::pg_catalog.text, schemas[i], u), ', '::pg_catalog.text)) FROM pg_catalog.unnest(names) u);
    END LOOP;
END
$$;
COMMENT ON FUNCTION neardup_into_drop(text, text[], text[], text[]) IS 'internal: drops working tables of near_duplicates_into';

-- All pairs are here, so their clusters are, too.
CREATE FUNCTION neardup_into_clusters(ext pg_catalog.text, pairs pg_catalog.text, clusters pg_catalog.text, id_type pg_catalog.text)
    RETURNS pg_catalog.void
    LANGUAGE plpgsql
AS $$
BEGIN
    EXECUTE pg_catalog.format('CREATE TABLE %s (cluster_id %s NOT NULL, id %2$s NOT NULL, representative pg_catalog.bool NOT NULL, size pg_catalog.int8 NOT NULL, similarity pg_catalog.float8)'::pg_catalog.text, clusters, id_type);
    EXECUTE pg_catalog.format('INSERT INTO %s SELECT c.cluster_id, c.id, c.representative, c.size, c.similarity
        FROM %s.clusters_of_pairs($1::pg_catalog.text, NULL::%s, NULL::pg_catalog.int4, ''connected''::pg_catalog.text, NULL::pg_catalog.float8[]) c'::pg_catalog.text, clusters, ext, id_type)
    USING pg_catalog.format('TABLE %s'::pg_catalog.text, pairs);
END
$$;
COMMENT ON FUNCTION neardup_into_clusters(text, text, text, text) IS 'internal: makes the table of clusters of near_duplicates_into';

-- Each step is a transaction, and its statement is planned anew. A table of the log beside the result says which are done,
-- and how many rows each made: where a server lost the rows of an unlogged table, all begins anew.
CREATE PROCEDURE near_duplicates_into(
    docs pg_catalog.regclass,
    threshold pg_catalog.float8 DEFAULT NULL,
    pairs pg_catalog.text DEFAULT NULL,
    options pg_catalog.jsonb DEFAULT '{}',
    id_column pg_catalog.text DEFAULT NULL,
    text_column pg_catalog.text DEFAULT NULL,
    method pg_catalog.text DEFAULT 'jaccard',
    tokenizer pg_catalog.text DEFAULT NULL,
    shingle pg_catalog.int4 DEFAULT NULL,
    multiset pg_catalog.bool DEFAULT NULL,
    max_pairs pg_catalog.int8 DEFAULT NULL,
    site_column pg_catalog.text DEFAULT NULL,
    parts pg_catalog.int4 DEFAULT NULL,
    clusters pg_catalog.text DEFAULT NULL
)
    LANGUAGE plpgsql
AS $procedure$
DECLARE
    ext pg_catalog.text;
    plan record;
    parsed pg_catalog.text[];
    home pg_catalog.text;
    base pg_catalog.text;
    result pg_catalog.text;
    grouped pg_catalog.text;
    log pg_catalog.text;
    log_name pg_catalog.text;
    log_oid pg_catalog.oid;
    servers pg_catalog.text[];
    schemas pg_catalog.text[];
    unlisted pg_catalog.text;
    asked pg_catalog.jsonb;
    token pg_catalog.text;
    known pg_catalog.jsonb;
    work pg_catalog.text;
    names pg_catalog.text[];
    steps pg_catalog.text[] := '{sets,ranks,routes,candidates,halves,pairs}';
    step pg_catalog.int4;
    done pg_catalog.int4;
    made pg_catalog.int8;
    there pg_catalog.int8;
    lost pg_catalog.bool;
    ended pg_catalog.bool;
    clean pg_catalog.bool := false;
    began pg_catalog.timestamptz;
    sampled pg_catalog.int8;
    statement pg_catalog.text;
    twice pg_catalog.text;
BEGIN
    SELECT pg_catalog.quote_ident(n.nspname::pg_catalog.text) INTO STRICT ext
    FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
    WHERE e.extname OPERATOR(pg_catalog.=) 'neardup'::pg_catalog.name;
    IF pairs IS NULL OR docs IS NULL THEN
        RAISE EXCEPTION USING ERRCODE := 'null_value_not_allowed', MESSAGE := CASE WHEN docs IS NULL THEN 'docs must not be NULL' ELSE 'pairs must not be NULL' END,
            HINT := 'Name the table to be made: CALL near_duplicates_into(''docs'', 0.8, ''docs_pairs'');';
    END IF;
    EXECUTE pg_catalog.format($$SELECT * FROM %s.neardup_into_plan($1::pg_catalog.regclass, $2::pg_catalog.float8, NULL::pg_catalog.regtype, $3::pg_catalog.jsonb,
        $4::pg_catalog.text, $5::pg_catalog.text, $6::pg_catalog.text, $7::pg_catalog.text, $8::pg_catalog.int4, $9::pg_catalog.bool, $10::pg_catalog.int8, $11::pg_catalog.text)$$::pg_catalog.text, ext)
    INTO plan USING docs, threshold, options, id_column, text_column, method, tokenizer, shingle, multiset, max_pairs, site_column;

    parsed := pg_catalog.parse_ident(pairs);
    IF pg_catalog.cardinality(parsed) OPERATOR(pg_catalog.>) 2 THEN
        RAISE EXCEPTION USING ERRCODE := 'invalid_name', MESSAGE := pg_catalog.format('"%s" is not the name of a table'::pg_catalog.text, pairs),
            HINT := 'A name and perhaps a schema: pairs => ''work.docs_pairs''';
    END IF;
    base := parsed[pg_catalog.cardinality(parsed)];
    home := CASE WHEN pg_catalog.cardinality(parsed) OPERATOR(pg_catalog.=) 2 THEN parsed[1] ELSE pg_catalog.current_schema()::pg_catalog.text END;
    result := pg_catalog.format('%I.%I'::pg_catalog.text, home, base);
    IF clusters IS NOT NULL THEN
        parsed := pg_catalog.parse_ident(clusters);
        IF pg_catalog.cardinality(parsed) OPERATOR(pg_catalog.>) 2 THEN
            RAISE EXCEPTION USING ERRCODE := 'invalid_name', MESSAGE := pg_catalog.format('"%s" is not the name of a table'::pg_catalog.text, clusters),
                HINT := 'A name and perhaps a schema: clusters => ''work.docs_clusters''';
        END IF;
        grouped := pg_catalog.format('%I.%I'::pg_catalog.text,
            CASE WHEN pg_catalog.cardinality(parsed) OPERATOR(pg_catalog.=) 2 THEN parsed[1] ELSE home END, parsed[pg_catalog.cardinality(parsed)]);
    END IF;
    log_name := pg_catalog.format('%s_log'::pg_catalog.text, pg_catalog.left(base, 55));
    log := pg_catalog.format('%I.%I'::pg_catalog.text, home, log_name);
    -- The servers of the documents' partitions, and where the tables of these are.
    SELECT pg_catalog.array_agg(f.server ORDER BY f.server), pg_catalog.array_agg(f.home ORDER BY f.server), pg_catalog.min(f.server) FILTER (WHERE NOT f.listed)
    INTO servers, schemas, unlisted
    FROM (
        SELECT s.srvname::pg_catalog.text AS server,
            pg_catalog.min(COALESCE(
                (SELECT pg_catalog.substr(o, 13) FROM pg_catalog.unnest(t.ftoptions) o WHERE o OPERATOR(pg_catalog.~~) 'schema_name=%'::pg_catalog.text),
                n.nspname::pg_catalog.text)) AS home,
            pg_catalog.bool_and(EXISTS (SELECT FROM pg_catalog.unnest(s.srvoptions) o
                WHERE o OPERATOR(pg_catalog.~) '^extensions=(.*,)? *neardup *(,|$)'::pg_catalog.text)) AS listed
        FROM pg_catalog.pg_partition_tree(docs) p
            JOIN pg_catalog.pg_foreign_table t ON t.ftrelid OPERATOR(pg_catalog.=) p.relid
            JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) t.ftrelid
            JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
            JOIN pg_catalog.pg_foreign_server s ON s.oid OPERATOR(pg_catalog.=) t.ftserver
            JOIN pg_catalog.pg_foreign_data_wrapper w ON w.oid OPERATOR(pg_catalog.=) s.srvfdw
        WHERE w.fdwname OPERATOR(pg_catalog.=) 'postgres_fdw'::pg_catalog.name
        GROUP BY s.srvname
    ) f;

    IF servers IS NULL OR plan.sets IS NULL THEN
        -- CREATE TABLE says what is there already.
        IF servers IS NOT NULL THEN
            RAISE NOTICE 'near_duplicates_into: what is asked for is not made in parts, so all documents are read here';
        END IF;
        EXECUTE pg_catalog.format('CREATE TABLE %s (left_id %s NOT NULL, right_id %2$s NOT NULL, similarity pg_catalog.float8 NOT NULL)'::pg_catalog.text, result, plan.ids);
        EXECUTE pg_catalog.format($$INSERT INTO %s SELECT * FROM %s.near_duplicates($1::pg_catalog.regclass, $2::pg_catalog.float8, NULL::%s, $3::pg_catalog.jsonb,
            $4::pg_catalog.text, $5::pg_catalog.text, $6::pg_catalog.text, $7::pg_catalog.text, $8::pg_catalog.int4, $9::pg_catalog.bool, $10::pg_catalog.int8, $11::pg_catalog.text)$$::pg_catalog.text,
            result, ext, plan.ids)
        USING docs, threshold, options, id_column, text_column, method, tokenizer, shingle, multiset, COALESCE(max_pairs, 9223372036854775807), site_column;
        GET DIAGNOSTICS made := ROW_COUNT;
        IF grouped IS NOT NULL THEN
            EXECUTE pg_catalog.format('SELECT %s.neardup_into_clusters($1::pg_catalog.text, $2::pg_catalog.text, $3::pg_catalog.text, $4::pg_catalog.text)'::pg_catalog.text, ext) USING ext, result, grouped, plan.ids;
        END IF;
        COMMIT;
        RAISE NOTICE 'near_duplicates_into: % pairs in %', made, result;
        RETURN;
    END IF;

    IF unlisted IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE := 'object_not_in_prerequisite_state',
            MESSAGE := pg_catalog.format('server "%s" is not said to have neardup, so nothing of it would be made there'::pg_catalog.text, unlisted),
            HINT := pg_catalog.format('Install the extension there, and: ALTER SERVER %I OPTIONS (ADD extensions ''neardup'');'::pg_catalog.text, unlisted);
    END IF;
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_extension e WHERE e.extname OPERATOR(pg_catalog.=) 'dblink'::pg_catalog.name) THEN
        RAISE EXCEPTION USING ERRCODE := 'object_not_in_prerequisite_state', MESSAGE := 'working tables on other servers are made by the extension dblink, which is not there',
            HINT := 'CREATE EXTENSION dblink;';
    END IF;
    parts := COALESCE(parts, pg_catalog.cardinality(servers) OPERATOR(pg_catalog.*) 16);
    IF parts OPERATOR(pg_catalog.<) pg_catalog.cardinality(servers) OR parts OPERATOR(pg_catalog.>) 65536 THEN
        RAISE EXCEPTION USING ERRCODE := 'invalid_parameter_value',
            MESSAGE := pg_catalog.format('parts must be between the number of servers, %s, and 65536, not %s'::pg_catalog.text, pg_catalog.cardinality(servers), parts),
            HINT := 'Some for each processor of all servers: parts => 64';
    END IF;
    asked := pg_catalog.jsonb_build_object('docs', docs::pg_catalog.oid, 'sets', plan.sets, 'measure', plan.measure, 'least', plan.at_least, 'parts', parts, 'ids', plan.ids,
        'servers', pg_catalog.to_jsonb(servers), 'schemas', pg_catalog.to_jsonb(schemas));

    -- A call that did not end goes on, or its tables are dropped. What another role put there is not looked at.
    SELECT c.oid INTO log_oid
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    WHERE c.relname OPERATOR(pg_catalog.=) log_name::pg_catalog.name AND n.nspname OPERATOR(pg_catalog.=) home::pg_catalog.name;
    IF log_oid IS NOT NULL THEN
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) c.relowner
            WHERE c.oid OPERATOR(pg_catalog.=) log_oid AND c.relkind OPERATOR(pg_catalog.=) 'r'::pg_catalog."char" AND r.rolname OPERATOR(pg_catalog.=) CURRENT_USER)
            OR (SELECT pg_catalog.array_agg(a.attname::pg_catalog.text ORDER BY a.attnum) FROM pg_catalog.pg_attribute a
                WHERE a.attrelid OPERATOR(pg_catalog.=) log_oid AND a.attnum OPERATOR(pg_catalog.>) 0::pg_catalog.int2 AND NOT a.attisdropped)
                OPERATOR(pg_catalog.<>) '{step,name,rows,started,finished,about}'::pg_catalog.text[] THEN
            RAISE EXCEPTION USING ERRCODE := 'duplicate_table', MESSAGE := pg_catalog.format('relation %s already exists, and is no log of a call of this role'::pg_catalog.text, log),
                HINT := 'Name another table for the pairs.';
        END IF;
        EXECUTE pg_catalog.format('SELECT l.about FROM %s l WHERE l.step OPERATOR(pg_catalog.=) 0'::pg_catalog.text, log) INTO known;
        EXECUTE pg_catalog.format('SELECT EXISTS (SELECT FROM %s l WHERE l.step OPERATOR(pg_catalog.=) 7)'::pg_catalog.text, log) INTO ended;
        token := known OPERATOR(pg_catalog.->>) 'token'::pg_catalog.text;
        IF token IS NULL OR token OPERATOR(pg_catalog.!~) '^[0-9a-f]{12}$'::pg_catalog.text THEN
            token := NULL;
        END IF;
        IF token IS NULL OR ended OR known OPERATOR(pg_catalog.-) 'token'::pg_catalog.text OPERATOR(pg_catalog.<>) asked THEN
            IF token IS NOT NULL THEN
                SELECT pg_catalog.array_agg(pg_catalog.format('neardup_%s_%s'::pg_catalog.text, token, s)) INTO names FROM pg_catalog.unnest(steps) s;
                EXECUTE pg_catalog.format('SELECT %s.neardup_into_drop($1::pg_catalog.text, $2::pg_catalog.text[], $3::pg_catalog.text[], $4::pg_catalog.text[])'::pg_catalog.text, ext) USING home, names,
                    ARRAY(SELECT pg_catalog.jsonb_array_elements_text(known OPERATOR(pg_catalog.->) 'servers'::pg_catalog.text)),
                    ARRAY(SELECT pg_catalog.jsonb_array_elements_text(known OPERATOR(pg_catalog.->) 'schemas'::pg_catalog.text));
            END IF;
            EXECUTE pg_catalog.format('DROP TABLE %s'::pg_catalog.text, log);
            log_oid := NULL;
        END IF;
    END IF;
    IF pg_catalog.to_regclass(result) IS NOT NULL THEN
        -- Working tables that are left are gone with this.
        COMMIT;
        RAISE EXCEPTION USING ERRCODE := 'duplicate_table', MESSAGE := pg_catalog.format('relation %s already exists'::pg_catalog.text, result),
            HINT := pg_catalog.format('DROP TABLE %s; or name another one.'::pg_catalog.text, result);
    END IF;
    IF log_oid IS NULL THEN
        token := pg_catalog.substr(pg_catalog.replace(pg_catalog.gen_random_uuid()::pg_catalog.text, '-'::pg_catalog.text, ''::pg_catalog.text), 1, 12);
        EXECUTE pg_catalog.format('CREATE TABLE %s (step pg_catalog.int4 PRIMARY KEY, name pg_catalog.text, rows pg_catalog.int8, started pg_catalog.timestamptz, finished pg_catalog.timestamptz, about pg_catalog.jsonb)'::pg_catalog.text, log);
        EXECUTE pg_catalog.format('INSERT INTO %s VALUES (0, ''arguments'', 0, pg_catalog.clock_timestamp(), pg_catalog.clock_timestamp(), $1)'::pg_catalog.text, log)
        USING asked OPERATOR(pg_catalog.||) pg_catalog.jsonb_build_object('token', token);
    END IF;
    COMMIT;
    work := pg_catalog.format('neardup_%s'::pg_catalog.text, token);
    SELECT pg_catalog.array_agg(pg_catalog.format('%s_%s'::pg_catalog.text, work, s)) INTO names FROM pg_catalog.unnest(steps) s;

    LOOP
        began := pg_catalog.clock_timestamp();
        -- One session at a time.
        EXECUTE pg_catalog.format('SELECT l.step FROM %s l WHERE l.step OPERATOR(pg_catalog.=) 0 FOR UPDATE NOWAIT'::pg_catalog.text, log);
        PERFORM pg_catalog.set_config('enable_partitionwise_aggregate'::pg_catalog.text, 'on'::pg_catalog.text, true),
            pg_catalog.set_config('enable_partitionwise_join'::pg_catalog.text, 'on'::pg_catalog.text, true);
        EXECUTE pg_catalog.format('SELECT pg_catalog.max(l.step) FROM %s l'::pg_catalog.text, log) INTO done;
        -- Joins of tables that are spread alike are the servers' work, however few rows the planner thinks they have.
        IF done OPERATOR(pg_catalog.=) 4 OR done OPERATOR(pg_catalog.=) 5 THEN
            PERFORM pg_catalog.set_config('enable_mergejoin'::pg_catalog.text, 'off'::pg_catalog.text, true), pg_catalog.set_config('enable_hashjoin'::pg_catalog.text, 'off'::pg_catalog.text, true),
                pg_catalog.set_config('enable_nestloop'::pg_catalog.text, 'off'::pg_catalog.text, true);
        END IF;
        -- Rows of unlogged tables are lost where a server crashed; in one transaction all is seen as it is now.
        lost := false;
        FOR i IN 1..done LOOP
            EXECUTE pg_catalog.format('SELECT l.rows FROM %s l WHERE l.step OPERATOR(pg_catalog.=) $1'::pg_catalog.text, log) INTO made USING i;
            EXECUTE pg_catalog.format('SELECT pg_catalog.count(*) FROM %I.%I'::pg_catalog.text, home, names[i]) INTO there;
            lost := lost OR there OPERATOR(pg_catalog.<>) made;
        END LOOP;
        IF lost THEN
            RAISE NOTICE 'near_duplicates_into: a server has lost rows of working tables, so all steps are made again';
            EXECUTE pg_catalog.format('DELETE FROM %s l WHERE l.step OPERATOR(pg_catalog.>) 0'::pg_catalog.text, log);
            -- Lets go of the tables on the servers, which others connections are to drop.
            COMMIT;
            clean := false;
            CONTINUE;
        END IF;
        step := done OPERATOR(pg_catalog.+) 1;
        -- What a step that did not end left behind; on other servers it is not of the transaction.
        IF step OPERATOR(pg_catalog.<=) 6 AND NOT clean THEN
            clean := true;
            EXECUTE pg_catalog.format('SELECT %s.neardup_into_drop($1::pg_catalog.text, $2::pg_catalog.text[], $3::pg_catalog.text[], $4::pg_catalog.text[])'::pg_catalog.text, ext) USING home, names[step:6], servers, schemas;
        END IF;
        EXIT WHEN step OPERATOR(pg_catalog.>) 6;
        EXECUTE pg_catalog.format('SELECT %s.neardup_into_table($1::pg_catalog.text, $2::pg_catalog.text, $3::pg_catalog.text, $4::pg_catalog.text, $5::pg_catalog.int4, $6::pg_catalog.text[], $7::pg_catalog.text[])'::pg_catalog.text, ext) USING home, names[step],
            (ARRAY[
                pg_catalog.format('n pg_catalog.int8 NOT NULL, id %s NOT NULL, set %s.token_set'::pg_catalog.text, plan.ids, ext),
                pg_catalog.format('ranks %s.token_ranks'::pg_catalog.text, ext),
                'part pg_catalog.int4, n pg_catalog.int8, size pg_catalog.int4, bitmap pg_catalog.bytea, prefix pg_catalog.bytea',
                'l pg_catalog.int8, r pg_catalog.int8',
                pg_catalog.format('l pg_catalog.int8, r pg_catalog.int8, set %s.token_set'::pg_catalog.text, ext),
                'l pg_catalog.int8, r pg_catalog.int8, similarity pg_catalog.float8'
            ]::pg_catalog.text[])[step],
            ('{n,NULL,part,l,r,NULL}'::pg_catalog.text[])[step],
            CASE WHEN step OPERATOR(pg_catalog.=) 3 THEN parts OPERATOR(pg_catalog.-) 1 END,
            CASE WHEN step OPERATOR(pg_catalog.=) 2 OR step OPERATOR(pg_catalog.=) 6 THEN NULL ELSE servers END, schemas;
        IF step OPERATOR(pg_catalog.=) 2 THEN
            EXECUTE pg_catalog.format('SELECT pg_catalog.count(*) FROM %I.%I'::pg_catalog.text, home, names[1]) INTO sampled;
            sampled := GREATEST(1::pg_catalog.int8, sampled OPERATOR(pg_catalog./) 20000::pg_catalog.int8);
        END IF;
        statement := (ARRAY[
            $$INSERT INTO %1$I.%2$I SELECT pg_catalog.row_number() OVER (), s.id, s.set FROM (%8$s) s$$,
            $$INSERT INTO %1$I.%3$I SELECT %9$s.token_order(s.set::%9$s.token_set, 200000::pg_catalog.int4) FROM %1$I.%2$I s WHERE s.n OPERATOR(pg_catalog.%%) %13$s::pg_catalog.int8 OPERATOR(pg_catalog.=) 0::pg_catalog.int8$$,
            $$INSERT INTO %1$I.%4$I SELECT g.part, s.n, g.size, g.bitmap, g.prefix FROM %1$I.%2$I s, %1$I.%3$I o,
                %9$s.prefix_groups(s.set::%9$s.token_set, o.ranks::%9$s.token_ranks, %10$L::%9$s.set_measure, %11$L::pg_catalog.float8, %12$s::pg_catalog.int4) g$$,
            -- Planned by itself: each server with its own parts is what costs least.
            $$WITH j AS MATERIALIZED (SELECT part, %9$s.join_part(n::pg_catalog.int8, size::pg_catalog.int4, bitmap::pg_catalog.bytea, prefix::pg_catalog.bytea, %10$L::%9$s.set_measure, %11$L::pg_catalog.float8) AS ids
                FROM %1$I.%4$I GROUP BY part)
                INSERT INTO %1$I.%5$I SELECT DISTINCT p.left_id, p.right_id FROM j, %9$s.candidate_pairs(j.ids::pg_catalog.int8[]) p$$,
            $$INSERT INTO %1$I.%6$I SELECT c.l, c.r, s.set FROM %1$I.%5$I c JOIN %1$I.%2$I s ON s.n OPERATOR(pg_catalog.=) c.l$$,
            $$INSERT INTO %1$I.%7$I SELECT h.l, h.r, %9$s.token_similarity(h.set::%9$s.token_set, s.set::%9$s.token_set, %10$L::%9$s.set_measure) FROM %1$I.%6$I h JOIN %1$I.%2$I s ON s.n OPERATOR(pg_catalog.=) h.r
                WHERE %9$s.token_similarity(h.set::%9$s.token_set, s.set::%9$s.token_set, %10$L::%9$s.set_measure) OPERATOR(pg_catalog.>=) %11$L::pg_catalog.float8$$
        ]::pg_catalog.text[])[step];
        EXECUTE pg_catalog.format(statement, home, names[1], names[2], names[3], names[4], names[5], names[6], plan.sets, ext, plan.measure, plan.at_least, parts, sampled);
        GET DIAGNOSTICS made := ROW_COUNT;
        IF step OPERATOR(pg_catalog.=) 1 THEN
            EXECUTE pg_catalog.format('SELECT pg_catalog.min(s.id::pg_catalog.text) FROM (SELECT s.id FROM %I.%I s GROUP BY s.id HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 1 LIMIT 1) s'::pg_catalog.text, home, names[1]) INTO twice;
            IF twice IS NOT NULL THEN
                RAISE EXCEPTION USING ERRCODE := 'unique_violation', MESSAGE := pg_catalog.format('id %s stands in more than one row of %s'::pg_catalog.text, twice, docs),
                    HINT := 'Every document needs an id of its own; name another column with id_column.';
            END IF;
        END IF;
        IF step OPERATOR(pg_catalog.=) 6 AND max_pairs OPERATOR(pg_catalog.<) made THEN
            RAISE EXCEPTION USING ERRCODE := 'program_limit_exceeded', MESSAGE := pg_catalog.format('near_duplicates_into has more than max_pairs = %s pairs to give'::pg_catalog.text, max_pairs),
                HINT := 'Raise the threshold or max_pairs.';
        END IF;
        EXECUTE pg_catalog.format('INSERT INTO %s VALUES ($1, $2, $3, $4, pg_catalog.clock_timestamp())'::pg_catalog.text, log) USING step, steps[step], made, began;
        COMMIT;
        RAISE NOTICE 'near_duplicates_into: step % of 7, %: % rows', step, steps[step], made;
    END LOOP;

    EXECUTE pg_catalog.format('CREATE TABLE %s (left_id %s NOT NULL, right_id %2$s NOT NULL, similarity pg_catalog.float8 NOT NULL)'::pg_catalog.text, result, plan.ids);
    EXECUTE pg_catalog.format('INSERT INTO %s SELECT LEAST(a.id, b.id), GREATEST(a.id, b.id), p.similarity FROM %I.%I p JOIN %2$I.%4$I a ON a.n OPERATOR(pg_catalog.=) p.l JOIN %2$I.%4$I b ON b.n OPERATOR(pg_catalog.=) p.r'::pg_catalog.text,
        result, home, names[6], names[1]);
    GET DIAGNOSTICS made := ROW_COUNT;
    IF grouped IS NOT NULL THEN
        EXECUTE pg_catalog.format('SELECT %s.neardup_into_clusters($1::pg_catalog.text, $2::pg_catalog.text, $3::pg_catalog.text, $4::pg_catalog.text)'::pg_catalog.text, ext) USING ext, result, grouped, plan.ids;
    END IF;
    EXECUTE pg_catalog.format('INSERT INTO %s VALUES (7, ''result'', $1, $2, pg_catalog.clock_timestamp())'::pg_catalog.text, log) USING made, began;
    COMMIT;
    EXECUTE pg_catalog.format('SELECT %s.neardup_into_drop($1::pg_catalog.text, $2::pg_catalog.text[], $3::pg_catalog.text[], $4::pg_catalog.text[])'::pg_catalog.text, ext) USING home, names, servers, schemas;
    COMMIT;
    RAISE NOTICE 'near_duplicates_into: % pairs in %', made, result;
END
$procedure$;
COMMENT ON PROCEDURE near_duplicates_into(
    regclass, float8, text, jsonb, text, text, text, text, int, bool, bigint, text, int, text
) IS 'near_duplicates as a table; of a table partitioned over servers made on these, in steps that commit';

-- Passages of HTML pages: partial_duplicates and its relatives have a tokenizer.
DROP FUNCTION partial_duplicates(regclass, float8, jsonb, text, text, text, int, bool, int, bigint);
DROP FUNCTION partial_duplicates(regclass, float8, anyelement, jsonb, text, text, text, int, bool, int, bigint);
DROP FUNCTION partial_duplicates_between(regclass, regclass, float8, jsonb, text, text, text, int, bool, int, bigint, text, text);
DROP FUNCTION partial_duplicates_between(regclass, regclass, float8, anyelement, jsonb, text, text, text, int, bool, int, bigint, text, text);
DROP FUNCTION shared_passages(text, text, float8, jsonb, text, int, bool, int);
CREATE FUNCTION partial_duplicates(
    docs regclass,
    threshold float8 DEFAULT 0.9,
    options jsonb DEFAULT '{}',
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    features text DEFAULT 'imatch',
    min_sentences int DEFAULT 3,
    extend bool DEFAULT true,
    shingle int DEFAULT NULL,
    max_passages bigint DEFAULT NULL,
    tokenizer text DEFAULT NULL
) RETURNS TABLE(
    left_id bigint,
    right_id bigint,
    left_sentence int,
    right_sentence int,
    sentences int,
    left_span int4range,
    right_span int4range,
    similarity float8
)
    AS 'MODULE_PATHNAME', 'neardup_partial_duplicates'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION partial_duplicates(
    regclass, float8, jsonb, text, text, text, int, bool, int, bigint, text
) IS 'the passages that two rows of a table share, with their places in both texts, for ids that are integers';

CREATE FUNCTION partial_duplicates(
    docs regclass,
    threshold float8,
    id_type anyelement,
    options jsonb DEFAULT '{}',
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    features text DEFAULT 'imatch',
    min_sentences int DEFAULT 3,
    extend bool DEFAULT true,
    shingle int DEFAULT NULL,
    max_passages bigint DEFAULT NULL,
    tokenizer text DEFAULT NULL
) RETURNS TABLE(
    left_id anyelement,
    right_id anyelement,
    left_sentence int,
    right_sentence int,
    sentences int,
    left_span int4range,
    right_span int4range,
    similarity float8
)
    AS 'MODULE_PATHNAME', 'neardup_partial_duplicates_typed'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION partial_duplicates(
    regclass, float8, anyelement, jsonb, text, text, text, int, bool, int, bigint, text
) IS 'the passages that two rows of a table share, with their places in both texts, for ids of the given type';

CREATE FUNCTION partial_duplicates_between(
    "left" regclass,
    "right" regclass,
    threshold float8 DEFAULT 0.9,
    options jsonb DEFAULT '{}',
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    features text DEFAULT 'imatch',
    min_sentences int DEFAULT 3,
    extend bool DEFAULT true,
    shingle int DEFAULT NULL,
    max_passages bigint DEFAULT NULL,
    right_id_column text DEFAULT NULL,
    right_text_column text DEFAULT NULL,
    tokenizer text DEFAULT NULL
) RETURNS TABLE(
    left_id bigint,
    right_id bigint,
    left_sentence int,
    right_sentence int,
    sentences int,
    left_span int4range,
    right_span int4range,
    similarity float8
)
    AS 'MODULE_PATHNAME', 'neardup_partial_duplicates_between'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION partial_duplicates_between(
    regclass, regclass, float8, jsonb, text, text, text, int, bool, int, bigint, text, text, text
) IS 'the passages that a row of the left and a row of the right table share, with their places in both texts, for ids that are integers';

CREATE FUNCTION partial_duplicates_between(
    "left" regclass,
    "right" regclass,
    threshold float8,
    id_type anyelement,
    options jsonb DEFAULT '{}',
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    features text DEFAULT 'imatch',
    min_sentences int DEFAULT 3,
    extend bool DEFAULT true,
    shingle int DEFAULT NULL,
    max_passages bigint DEFAULT NULL,
    right_id_column text DEFAULT NULL,
    right_text_column text DEFAULT NULL,
    tokenizer text DEFAULT NULL
) RETURNS TABLE(
    left_id anyelement,
    right_id anyelement,
    left_sentence int,
    right_sentence int,
    sentences int,
    left_span int4range,
    right_span int4range,
    similarity float8
)
    AS 'MODULE_PATHNAME', 'neardup_partial_duplicates_between_typed'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION partial_duplicates_between(
    regclass, regclass, float8, anyelement, jsonb, text, text, text, int, bool, int, bigint, text, text, text
) IS 'the passages that a row of the left and a row of the right table share, with their places in both texts, for ids of the given type';

CREATE FUNCTION shared_passages(
    a text,
    b text,
    threshold float8 DEFAULT 0.9,
    options jsonb DEFAULT '{}',
    features text DEFAULT 'imatch',
    min_sentences int DEFAULT 3,
    extend bool DEFAULT true,
    shingle int DEFAULT NULL,
    tokenizer text DEFAULT NULL
) RETURNS TABLE(
    left_sentence int,
    right_sentence int,
    sentences int,
    left_span int4range,
    right_span int4range,
    similarity float8
)
    AS 'MODULE_PATHNAME', 'neardup_shared_passages'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 5000 ROWS 5;
COMMENT ON FUNCTION shared_passages(text, text, float8, jsonb, text, int, bool, int, text) IS
    'the passages that two texts share, with their places in both';

-- Simhashes of more lengths.
COMMENT ON FUNCTION simhash(text, int, int, text) IS
    'simhash sketch of a text: bits by majority of the hashes of all runs of k (a multiple of 4 from 8 to 1024)';
COMMENT ON FUNCTION simhash(text[], int, int) IS
    'simhash sketch of words that are given: bits by majority of the hashes of all runs of k (a multiple of 4 from 8 to 1024)';
COMMENT ON FUNCTION simhash(tsvector, int, int) IS
    'simhash sketch of a tsvector: lexemes by their positions: bits by majority of the hashes of all runs of k (a multiple of 4 from 8 to 1024)';
COMMENT ON FUNCTION simhash(bigint[], int, int) IS
    'simhash sketch of numbers that are given, such as shingles: bits by majority of the hashes of all runs of k (a multiple of 4 from 8 to 1024)';

-- The last statement: where another superuser updates the extension than the one who made it, what is new belongs to who owns
-- the registry of jobs, which some of it reads.
DO $$
DECLARE
    extension pg_catalog.oid;
    keeper pg_catalog.oid;
    keeper_name pg_catalog.name;
    change pg_catalog.text;
BEGIN
    SELECT e.oid, c.relowner, r.rolname INTO STRICT extension, keeper, keeper_name
    FROM pg_catalog.pg_extension e
        JOIN pg_catalog.pg_class c ON c.relnamespace OPERATOR(pg_catalog.=) e.extnamespace AND c.relname OPERATOR(pg_catalog.=) 'neardup_all_jobs'::pg_catalog.name
        JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) c.relowner
    WHERE e.extname OPERATOR(pg_catalog.=) 'neardup'::pg_catalog.name;
    FOR change IN
        WITH mine AS (
            SELECT s.classid, s.objid
            FROM pg_catalog.pg_shdepend s
                JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) s.refobjid AND r.rolname OPERATOR(pg_catalog.=) CURRENT_USER
                JOIN pg_catalog.pg_database b ON b.oid OPERATOR(pg_catalog.=) s.dbid AND b.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
                JOIN pg_catalog.pg_depend d ON d.classid OPERATOR(pg_catalog.=) s.classid AND d.objid OPERATOR(pg_catalog.=) s.objid
            WHERE s.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_authid'::pg_catalog.regclass::pg_catalog.oid
                AND s.deptype OPERATOR(pg_catalog.=) 'o'::pg_catalog."char" AND s.refobjid OPERATOR(pg_catalog.<>) keeper
                AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid
                AND d.refobjid OPERATOR(pg_catalog.=) extension AND d.deptype OPERATOR(pg_catalog.=) 'e'::pg_catalog."char")
        SELECT pg_catalog.format('ALTER ROUTINE %s OWNER TO %I'::pg_catalog.text, m.objid::pg_catalog.regprocedure, keeper_name)
        FROM mine m WHERE m.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid
        UNION ALL
        SELECT pg_catalog.format('ALTER TYPE %s OWNER TO %I'::pg_catalog.text, m.objid::pg_catalog.regtype, keeper_name)
        FROM mine m WHERE m.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_type'::pg_catalog.regclass::pg_catalog.oid
        UNION ALL
        SELECT pg_catalog.format('ALTER VIEW %s OWNER TO %I'::pg_catalog.text, m.objid::pg_catalog.regclass, keeper_name)
        FROM mine m WHERE m.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid
    LOOP
        EXECUTE change;
    END LOOP;
END
$$;
