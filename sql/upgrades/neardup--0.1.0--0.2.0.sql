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
        AND (p.proname OPERATOR(pg_catalog.=) 'near'::pg_catalog.name AND p.pronargs OPERATOR(pg_catalog.=) 4
            OR p.proname OPERATOR(pg_catalog.=) ANY ('{near_duplicates_stats,neardup_refresh_step,neardup_job_hash,partial_duplicates,partial_duplicates_between,shared_passages,duplicates_report,eliminate}'::pg_catalog.name[]));
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
-- What statements of a refresh call.
CREATE FUNCTION neardup_job_hash(content pg_catalog.text, internal neardup_internal DEFAULT NULL) RETURNS pg_catalog.uuid
    AS 'MODULE_PATHNAME', 'neardup_job_hash' LANGUAGE c IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_job_hash(text, neardup_internal) IS 'internal: a hash of a row, to notice changes by';
-- Of any columns, which the statement names; the library checks their types.
CREATE FUNCTION neardup_rows(query pg_catalog.text, internal neardup_internal DEFAULT NULL) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'neardup_rows' LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_rows(text, neardup_internal) IS 'internal: rows that the library computes for one of its own statements; an error in any other statement';
-- It calls the step with one argument more. Others may depend on it, so it is not dropped; only what is the extension's own
-- can be replaced here.
CREATE OR REPLACE PROCEDURE neardup_refresh(docs pg_catalog.regclass, INOUT status pg_catalog.text DEFAULT NULL, batch_rows pg_catalog.int4 DEFAULT 1000000)
    LANGUAGE plpgsql
AS $$
DECLARE
    step pg_catalog.text;
    began pg_catalog.timestamptz := pg_catalog.clock_timestamp();
BEGIN
    SELECT pg_catalog.format('SELECT neardup_internal.neardup_refresh_step($1::pg_catalog.regclass, $2::pg_catalog.timestamptz, $3::pg_catalog.int4, NULL::%1$I.neardup_internal)'::pg_catalog.text, n.nspname) INTO STRICT step
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
        pg_catalog."substring"(a.query, '/[*] neardup_refresh: ([^*]*) [*]/$'::pg_catalog.text) AS step,
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

-- near_duplicates_stats() has three columns more: unsigned, handed_over, median_words.
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
    handed_over boolean,
    median_words bigint
)
    AS 'MODULE_PATHNAME', 'neardup_near_duplicates_stats'
    LANGUAGE c VOLATILE PARALLEL RESTRICTED ROWS 1;
COMMENT ON FUNCTION near_duplicates_stats() IS
    'what the last call of near_duplicates or near_duplicates_between in this session by this role did';

-- An estimate before the run. Body: src/pg/functions/near_duplicates_plan.rs.
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
    sample bigint DEFAULT NULL
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
    call text
)
    AS 'MODULE_PATHNAME', 'neardup_near_duplicates_plan'
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 2 COST 10000;
COMMENT ON FUNCTION near_duplicates_plan(
    regclass, float8, jsonb, text, text, text, text, int, bool, text, bigint
) IS 'what near_duplicates with the same arguments will take, estimated from a sample of the documents';

-- A method and a threshold for these documents. Bodies: src/pg/functions/suggest.

CREATE FUNCTION suggest(
    docs regclass,
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    sample bigint DEFAULT NULL,
    labels regclass DEFAULT NULL,
    min_precision float8 DEFAULT NULL
) RETURNS TABLE(
    using_method text,
    fits boolean,
    threshold float8,
    pairs bigint,
    reason text,
    call text,
    "precision" float8,
    precision_low float8,
    precision_high float8,
    recall float8,
    recall_low float8,
    recall_high float8
)
    AS 'MODULE_PATHNAME', 'neardup_suggest'
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 7 COST 10000;
COMMENT ON FUNCTION suggest(regclass, text, text, bigint, regclass, float8) IS
    'a method and a threshold for these documents, with reasons, from a sample of them and from labelled pairs';

CREATE FUNCTION suggest_pairs(
    docs regclass,
    wanted int DEFAULT 100,
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    sample bigint DEFAULT NULL
) RETURNS TABLE(
    id_a bigint,
    id_b bigint,
    similarity float8,
    stratum float8,
    weight float8,
    text_a text,
    text_b text
)
    AS 'MODULE_PATHNAME', 'neardup_suggest_pairs'
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 100 COST 10000;
COMMENT ON FUNCTION suggest_pairs(regclass, int, text, text, bigint) IS
    'pairs of documents to label for suggest: some of each similarity, most near the boundary';

CREATE FUNCTION suggest_pairs(
    docs regclass,
    wanted int,
    id_type anyelement,
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    sample bigint DEFAULT NULL
) RETURNS TABLE(
    id_a anyelement,
    id_b anyelement,
    similarity float8,
    stratum float8,
    weight float8,
    text_a text,
    text_b text
)
    AS 'MODULE_PATHNAME', 'neardup_suggest_pairs_typed'
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 100 COST 10000;
COMMENT ON FUNCTION suggest_pairs(regclass, int, anyelement, text, text, bigint) IS
    'pairs of documents with ids of any type to label for suggest';

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

-- Near duplicates as a table, made where the documents are: src/pg/into.

-- The join of a part and its pairs, by functions that are not polymorphic, so that no planted function is a better match, here
-- or on a server.
CREATE FUNCTION neardup_join_part_step(internal, pg_catalog.int8, pg_catalog.int4, pg_catalog.bytea, pg_catalog.bytea, set_measure, pg_catalog.float8,
    neardup_internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'neardup_join_part_step'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_join_part_step(internal, bigint, int, bytea, bytea, set_measure, float8, neardup_internal) IS
    'internal: adds a row to a part for neardup_join_part';
CREATE FUNCTION neardup_join_part_result(internal, pg_catalog.int8, pg_catalog.int4, pg_catalog.bytea, pg_catalog.bytea, set_measure, pg_catalog.float8,
    neardup_internal) RETURNS pg_catalog.int8[]
    AS 'MODULE_PATHNAME', 'neardup_join_part_result'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_join_part_result(internal, bigint, int, bytea, bytea, set_measure, float8, neardup_internal) IS
    'internal: the result of neardup_join_part';
-- In all as join_part is declared.
CREATE AGGREGATE neardup_join_part(id pg_catalog.int8, size pg_catalog.int4, bitmap pg_catalog.bytea, prefix pg_catalog.bytea, method set_measure, threshold pg_catalog.float8,
    internal neardup_internal) (
    SFUNC = neardup_join_part_step,
    STYPE = internal,
    SSPACE = 67108864,
    FINALFUNC = neardup_join_part_result,
    FINALFUNC_EXTRA,
    FINALFUNC_MODIFY = READ_WRITE,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE neardup_join_part(bigint, int, bytea, bytea, set_measure, float8, neardup_internal) IS
    'internal: join_part of numbers, for near_duplicates_into';
CREATE FUNCTION neardup_candidate_pairs(ids pg_catalog.int8[], internal neardup_internal DEFAULT NULL)
    RETURNS TABLE(left_id pg_catalog.int8, right_id pg_catalog.int8)
    AS 'MODULE_PATHNAME', 'neardup_candidate_pairs'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 100 ROWS 1000;
COMMENT ON FUNCTION neardup_candidate_pairs(bigint[], neardup_internal) IS 'internal: candidate_pairs of numbers, for near_duplicates_into';

-- Minhash in parts.
CREATE FUNCTION neardup_band_groups(set token_set, bands pg_catalog.int4, rows pg_catalog.int4, seed pg_catalog.int8, method set_measure, threshold pg_catalog.float8,
    parts pg_catalog.int4, internal neardup_internal DEFAULT NULL)
    RETURNS TABLE(part pg_catalog.int4, size pg_catalog.int4, bitmap pg_catalog.bytea, prefix pg_catalog.bytea)
    AS 'MODULE_PATHNAME', 'neardup_band_groups'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000 ROWS 10;
COMMENT ON FUNCTION neardup_band_groups(token_set, int, int, bigint, set_measure, float8, int, neardup_internal) IS
    'internal: a set as rows for neardup_join_bands, one for each part that bands of it fall into';
CREATE FUNCTION neardup_join_bands_step(internal, pg_catalog.int8, pg_catalog.int4, pg_catalog.bytea, pg_catalog.bytea, set_measure, pg_catalog.float8,
    neardup_internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'neardup_join_bands_step'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_join_bands_step(internal, bigint, int, bytea, bytea, set_measure, float8, neardup_internal) IS
    'internal: adds a row to a part for neardup_join_bands';
CREATE AGGREGATE neardup_join_bands(id pg_catalog.int8, size pg_catalog.int4, bitmap pg_catalog.bytea, keys pg_catalog.bytea, method set_measure, threshold pg_catalog.float8,
    internal neardup_internal) (
    SFUNC = neardup_join_bands_step,
    STYPE = internal,
    SSPACE = 67108864,
    FINALFUNC = neardup_join_part_result,
    FINALFUNC_EXTRA,
    FINALFUNC_MODIFY = READ_WRITE,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE neardup_join_bands(bigint, int, bytea, bytea, set_measure, float8, neardup_internal) IS
    'internal: the pairs of a part whose bands are alike and that may be similar, for near_duplicates_into';

-- Any other method in parts: what is carried of a document, as core/src/methods/carrier.rs describes it. The method is a JSON
-- object with its arguments: unlike a text, it is sent to servers.
CREATE FUNCTION neardup_carried(document pg_catalog.text, site pg_catalog.text, method pg_catalog.jsonb, internal neardup_internal DEFAULT NULL)
    RETURNS pg_catalog.bytea
    AS 'MODULE_PATHNAME', 'neardup_carried_text'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION neardup_carried(text, text, jsonb, neardup_internal) IS
    'internal: what stands for a document wherever near_duplicates_into compares it by a method';
CREATE FUNCTION neardup_carried(document pg_catalog.text[], site pg_catalog.text, method pg_catalog.jsonb, internal neardup_internal DEFAULT NULL)
    RETURNS pg_catalog.bytea
    AS 'MODULE_PATHNAME', 'neardup_carried_tokens'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION neardup_carried(text[], text, jsonb, neardup_internal) IS 'internal: what stands for tokens';
CREATE FUNCTION neardup_carried(document pg_catalog.tsvector, site pg_catalog.text, method pg_catalog.jsonb, internal neardup_internal DEFAULT NULL)
    RETURNS pg_catalog.bytea
    AS 'MODULE_PATHNAME', 'neardup_carried_lexemes'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION neardup_carried(tsvector, text, jsonb, neardup_internal) IS 'internal: what stands for lexemes';
CREATE FUNCTION neardup_carried(document pg_catalog.int8[], site pg_catalog.text, method pg_catalog.jsonb, internal neardup_internal DEFAULT NULL)
    RETURNS pg_catalog.bytea
    AS 'MODULE_PATHNAME', 'neardup_carried_numbers'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION neardup_carried(bigint[], text, jsonb, neardup_internal) IS 'internal: what stands for numbers';
CREATE FUNCTION neardup_carried_ranks_step(internal, pg_catalog.bytea, pg_catalog.jsonb, neardup_internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'neardup_carried_ranks_step'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_carried_ranks_step(internal, bytea, jsonb, neardup_internal) IS
    'internal: adds a document to neardup_carried_ranks';
CREATE FUNCTION neardup_carried_ranks_result(internal, pg_catalog.bytea, pg_catalog.jsonb, neardup_internal) RETURNS pg_catalog.bytea
    AS 'MODULE_PATHNAME', 'neardup_carried_ranks_result'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_carried_ranks_result(internal, bytea, jsonb, neardup_internal) IS
    'internal: the result of neardup_carried_ranks';
CREATE AGGREGATE neardup_carried_ranks(carried pg_catalog.bytea, method pg_catalog.jsonb, internal neardup_internal) (
    SFUNC = neardup_carried_ranks_step,
    STYPE = internal,
    FINALFUNC = neardup_carried_ranks_result,
    FINALFUNC_EXTRA,
    FINALFUNC_MODIFY = READ_WRITE,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE neardup_carried_ranks(bytea, jsonb, neardup_internal) IS
    'internal: what a method counts of carried documents before they meet: an order of tokens, or the terms that do not count';
CREATE FUNCTION neardup_carried_groups(carried pg_catalog.bytea, ranks pg_catalog.bytea, method pg_catalog.jsonb, parts pg_catalog.int4,
    internal neardup_internal DEFAULT NULL)
    RETURNS TABLE(part pg_catalog.int4, size pg_catalog.int4, bitmap pg_catalog.bytea, prefix pg_catalog.bytea)
    AS 'MODULE_PATHNAME', 'neardup_carried_groups'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000 ROWS 10;
COMMENT ON FUNCTION neardup_carried_groups(bytea, bytea, jsonb, int, neardup_internal) IS
    'internal: a carried document as rows for neardup_join_carried, one for each part that keys of it fall into';
CREATE FUNCTION neardup_join_carried_step(internal, pg_catalog.int8, pg_catalog.int4, pg_catalog.bytea, pg_catalog.bytea, pg_catalog.jsonb, neardup_internal)
    RETURNS internal
    AS 'MODULE_PATHNAME', 'neardup_join_carried_step'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_join_carried_step(internal, bigint, int, bytea, bytea, jsonb, neardup_internal) IS
    'internal: adds a row to a part for neardup_join_carried';
CREATE FUNCTION neardup_join_carried_result(internal, pg_catalog.int8, pg_catalog.int4, pg_catalog.bytea, pg_catalog.bytea, pg_catalog.jsonb, neardup_internal)
    RETURNS pg_catalog.int8[]
    AS 'MODULE_PATHNAME', 'neardup_join_carried_result'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_join_carried_result(internal, bigint, int, bytea, bytea, jsonb, neardup_internal) IS
    'internal: the result of neardup_join_carried';
CREATE AGGREGATE neardup_join_carried(id pg_catalog.int8, size pg_catalog.int4, bitmap pg_catalog.bytea, prefix pg_catalog.bytea, method pg_catalog.jsonb,
    internal neardup_internal) (
    SFUNC = neardup_join_carried_step,
    STYPE = internal,
    SSPACE = 67108864,
    FINALFUNC = neardup_join_carried_result,
    FINALFUNC_EXTRA,
    FINALFUNC_MODIFY = READ_WRITE,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE neardup_join_carried(bigint, int, bytea, bytea, jsonb, neardup_internal) IS
    'internal: the pairs of a part that a method may find similar, for near_duplicates_into';
CREATE FUNCTION neardup_carried_similarity("left" pg_catalog.bytea, "right" pg_catalog.bytea, ranks pg_catalog.bytea, method pg_catalog.jsonb,
    internal neardup_internal DEFAULT NULL) RETURNS pg_catalog.float8
    AS 'MODULE_PATHNAME', 'neardup_carried_similarity'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION neardup_carried_similarity(bytea, bytea, bytea, jsonb, neardup_internal) IS
    'internal: the similarity of two carried documents, NULL if they are no pair';
CREATE FUNCTION neardup_carried_passages("left" pg_catalog.bytea, "right" pg_catalog.bytea, ranks pg_catalog.bytea, method pg_catalog.jsonb,
    internal neardup_internal DEFAULT NULL) RETURNS pg_catalog.bytea
    AS 'MODULE_PATHNAME', 'neardup_carried_passages'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION neardup_carried_passages(bytea, bytea, bytea, jsonb, neardup_internal) IS
    'internal: the passages that two carried documents share, in one value; NULL if they share none';
CREATE FUNCTION neardup_passage_rows(passages pg_catalog.bytea, internal neardup_internal DEFAULT NULL)
    RETURNS TABLE(left_sentence pg_catalog.int4, right_sentence pg_catalog.int4, sentences pg_catalog.int4,
        left_span pg_catalog.int4range, right_span pg_catalog.int4range, similarity pg_catalog.float8)
    AS 'MODULE_PATHNAME', 'neardup_passage_rows'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 10 ROWS 5;
COMMENT ON FUNCTION neardup_passage_rows(bytea, neardup_internal) IS
    'internal: a value of neardup_carried_passages as rows';

-- The rows of parts in pieces, for tables that sessions share.
CREATE FUNCTION neardup_pack_result(internal) RETURNS pg_catalog.bytea[]
    AS 'MODULE_PATHNAME', 'neardup_pack_result'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_pack_result(internal) IS
    'internal: the result of the aggregates that pack rows';
CREATE FUNCTION neardup_join_packed_result(internal) RETURNS pg_catalog.int8[]
    AS 'MODULE_PATHNAME', 'neardup_join_part_result'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_join_packed_result(internal) IS
    'internal: the result of neardup_join_packed and neardup_join_packed_bands';
CREATE FUNCTION neardup_join_packed_carried_result(internal) RETURNS pg_catalog.int8[]
    AS 'MODULE_PATHNAME', 'neardup_join_carried_result'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_join_packed_carried_result(internal) IS
    'internal: the result of neardup_join_packed_carried';
CREATE FUNCTION neardup_pack_prefixes_step(internal, pg_catalog.int8, token_set, token_ranks, set_measure, pg_catalog.float8, pg_catalog.int4, neardup_internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'neardup_pack_prefixes_step'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_pack_prefixes_step(internal, bigint, token_set, token_ranks, set_measure, float8, int, neardup_internal) IS
    'internal: packs the rows of a document for neardup_pack_prefixes';
CREATE AGGREGATE neardup_pack_prefixes(n pg_catalog.int8, set token_set, ranks token_ranks, method set_measure, threshold pg_catalog.float8, parts pg_catalog.int4, internal neardup_internal) (
    SFUNC = neardup_pack_prefixes_step,
    STYPE = internal,
    FINALFUNC = neardup_pack_result,
    FINALFUNC_MODIFY = READ_WRITE,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE neardup_pack_prefixes(bigint, token_set, token_ranks, set_measure, float8, int, neardup_internal) IS
    'internal: the rows of sets for all parts, many in a value, for near_duplicates_into';
CREATE FUNCTION neardup_pack_bands_step(internal, pg_catalog.int8, token_set, pg_catalog.int8[], set_measure, pg_catalog.float8, pg_catalog.int4, neardup_internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'neardup_pack_bands_step'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_pack_bands_step(internal, bigint, token_set, bigint[], set_measure, float8, int, neardup_internal) IS
    'internal: packs the rows of a document for neardup_pack_bands';
CREATE AGGREGATE neardup_pack_bands(n pg_catalog.int8, set token_set, plan pg_catalog.int8[], method set_measure, threshold pg_catalog.float8,
    parts pg_catalog.int4, internal neardup_internal) (
    SFUNC = neardup_pack_bands_step,
    STYPE = internal,
    FINALFUNC = neardup_pack_result,
    FINALFUNC_MODIFY = READ_WRITE,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE neardup_pack_bands(bigint, token_set, bigint[], set_measure, float8, int, neardup_internal) IS
    'internal: the rows of sets for all parts that bands of them fall into, many in a value';
CREATE FUNCTION neardup_pack_carried_step(internal, pg_catalog.int8, pg_catalog.bytea, pg_catalog.bytea, pg_catalog.jsonb, pg_catalog.int4, neardup_internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'neardup_pack_carried_step'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_pack_carried_step(internal, bigint, bytea, bytea, jsonb, int, neardup_internal) IS
    'internal: packs the rows of a document for neardup_pack_carried';
CREATE AGGREGATE neardup_pack_carried(n pg_catalog.int8, carried pg_catalog.bytea, ranks pg_catalog.bytea, method pg_catalog.jsonb, parts pg_catalog.int4, internal neardup_internal) (
    SFUNC = neardup_pack_carried_step,
    STYPE = internal,
    FINALFUNC = neardup_pack_result,
    FINALFUNC_MODIFY = READ_WRITE,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE neardup_pack_carried(bigint, bytea, bytea, jsonb, int, neardup_internal) IS
    'internal: the rows of carried documents for all parts that keys of them fall into, many in a value';
CREATE FUNCTION neardup_join_packed_step(internal, pg_catalog.bytea, set_measure, pg_catalog.float8, neardup_internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'neardup_join_packed_step'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_join_packed_step(internal, bytea, set_measure, float8, neardup_internal) IS
    'internal: adds packed rows to a part for neardup_join_packed';
CREATE AGGREGATE neardup_join_packed(rows pg_catalog.bytea, method set_measure, threshold pg_catalog.float8, internal neardup_internal) (
    SFUNC = neardup_join_packed_step,
    STYPE = internal,
    SSPACE = 67108864,
    FINALFUNC = neardup_join_packed_result,
    FINALFUNC_MODIFY = READ_WRITE,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE neardup_join_packed(bytea, set_measure, float8, neardup_internal) IS
    'internal: neardup_join_part of rows from neardup_pack_prefixes';
CREATE FUNCTION neardup_join_packed_bands_step(internal, pg_catalog.bytea, set_measure, pg_catalog.float8, neardup_internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'neardup_join_packed_bands_step'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_join_packed_bands_step(internal, bytea, set_measure, float8, neardup_internal) IS
    'internal: adds packed rows to a part for neardup_join_packed_bands';
CREATE AGGREGATE neardup_join_packed_bands(rows pg_catalog.bytea, method set_measure, threshold pg_catalog.float8, internal neardup_internal) (
    SFUNC = neardup_join_packed_bands_step,
    STYPE = internal,
    SSPACE = 67108864,
    FINALFUNC = neardup_join_packed_result,
    FINALFUNC_MODIFY = READ_WRITE,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE neardup_join_packed_bands(bytea, set_measure, float8, neardup_internal) IS
    'internal: neardup_join_bands of rows from neardup_pack_bands';
CREATE FUNCTION neardup_join_packed_carried_step(internal, pg_catalog.bytea, pg_catalog.jsonb, neardup_internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'neardup_join_packed_carried_step'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION neardup_join_packed_carried_step(internal, bytea, jsonb, neardup_internal) IS
    'internal: adds packed rows to a part for neardup_join_packed_carried';
CREATE AGGREGATE neardup_join_packed_carried(rows pg_catalog.bytea, method pg_catalog.jsonb, internal neardup_internal) (
    SFUNC = neardup_join_packed_carried_step,
    STYPE = internal,
    SSPACE = 67108864,
    FINALFUNC = neardup_join_packed_carried_result,
    FINALFUNC_MODIFY = READ_WRITE,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE neardup_join_packed_carried(bytea, jsonb, neardup_internal) IS
    'internal: neardup_join_carried of rows from neardup_pack_carried';

CREATE FUNCTION neardup_into_step(docs pg_catalog.regclass, threshold pg_catalog.float8, options pg_catalog.jsonb, arguments pg_catalog.jsonb,
    began pg_catalog.timestamptz, internal neardup_internal DEFAULT NULL) RETURNS pg_catalog.text
    AS 'MODULE_PATHNAME', 'neardup_into_step'
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_into_step(regclass, float8, jsonb, jsonb, timestamptz, neardup_internal) IS 'internal: one transaction of near_duplicates_into; more or done';
CREATE FUNCTION neardup_into_begin(docs pg_catalog.regclass, threshold pg_catalog.float8, options pg_catalog.jsonb, arguments pg_catalog.jsonb,
    began pg_catalog.timestamptz, internal neardup_internal DEFAULT NULL) RETURNS pg_catalog.bool
    AS 'MODULE_PATHNAME', 'neardup_into_begin'
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_into_begin(regclass, float8, jsonb, jsonb, timestamptz, neardup_internal) IS
    'internal: checks that near_duplicates_into can commit; whether steps that fail may be repeated';
CREATE FUNCTION neardup_into_again(state pg_catalog.text, message pg_catalog.text, began pg_catalog.timestamptz, internal neardup_internal DEFAULT NULL)
    RETURNS pg_catalog.bool
    AS 'MODULE_PATHNAME', 'neardup_into_again'
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_into_again(text, text, timestamptz, neardup_internal) IS
    'internal: whether the step of near_duplicates_into that failed with this error is repeated';

-- Thin: each step is a transaction of its own. A function in C that commits would have to keep up with every version of
-- the server.
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
    clusters pg_catalog.text DEFAULT NULL,
    resume pg_catalog.bool DEFAULT NULL,
    update pg_catalog.bool DEFAULT false
)
    LANGUAGE plpgsql
AS $$
DECLARE
    home pg_catalog.name;
    status pg_catalog.text;
    guarded pg_catalog.bool;
    failure pg_catalog.text;
    message pg_catalog.text;
    arguments pg_catalog.jsonb := pg_catalog.jsonb_build_object(
        'id_column', id_column, 'text_column', text_column, 'method', method, 'tokenizer', tokenizer, 'shingle', shingle,
        'multiset', multiset, 'max_pairs', max_pairs, 'site_column', site_column, 'pairs', pairs, 'parts', parts,
        'clusters', clusters, 'resume', resume, 'update', update);
    began pg_catalog.timestamptz := pg_catalog.clock_timestamp();
BEGIN
    -- The last argument lets no other function be meant.
    SELECT n.nspname INTO STRICT home
    FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
    WHERE e.extname OPERATOR(pg_catalog.=) 'neardup'::pg_catalog.name;
    EXECUTE pg_catalog.format('SELECT neardup_internal.neardup_into_begin($1, $2, $3, $4, $5, NULL::%1$I.neardup_internal)'::pg_catalog.text, home) INTO guarded USING docs, threshold, options, arguments, began;
    LOOP
        failure := NULL;
        IF guarded THEN
            BEGIN
                EXECUTE pg_catalog.format('SELECT neardup_internal.neardup_into_step($1, $2, $3, $4, $5, NULL::%1$I.neardup_internal)'::pg_catalog.text, home) INTO status USING docs, threshold, options, arguments, began;
            EXCEPTION
                -- Other nodes, and other transactions.
                WHEN connection_exception OR serialization_failure OR deadlock_detected OR admin_shutdown OR crash_shutdown OR cannot_connect_now
                    OR too_many_connections THEN
                    GET STACKED DIAGNOSTICS failure := RETURNED_SQLSTATE, message := MESSAGE_TEXT;
                    EXECUTE pg_catalog.format('SELECT neardup_internal.neardup_into_again($1, $2, $3, NULL::%1$I.neardup_internal)'::pg_catalog.text, home) INTO guarded USING failure, message, began;
                    IF NOT guarded THEN
                        RAISE;
                    END IF;
            END;
        ELSE
            EXECUTE pg_catalog.format('SELECT neardup_internal.neardup_into_step($1, $2, $3, $4, $5, NULL::%1$I.neardup_internal)'::pg_catalog.text, home) INTO status USING docs, threshold, options, arguments, began;
        END IF;
        IF failure IS NULL THEN
            COMMIT;
            EXIT WHEN status OPERATOR(pg_catalog.<>) 'more'::pg_catalog.text;
        ELSE
            ROLLBACK;
        END IF;
    END LOOP;
END
$$;
COMMENT ON PROCEDURE near_duplicates_into(
    regclass, float8, text, jsonb, text, text, text, text, int, bool, bigint, text, int, text, bool, bool
) IS 'near_duplicates as a table; of a table partitioned over servers made on these, in steps that commit';

-- As thin as near_duplicates_into.
CREATE PROCEDURE partial_duplicates_into(
    docs pg_catalog.regclass,
    threshold pg_catalog.float8 DEFAULT NULL,
    passages pg_catalog.text DEFAULT NULL,
    options pg_catalog.jsonb DEFAULT '{}',
    id_column pg_catalog.text DEFAULT NULL,
    text_column pg_catalog.text DEFAULT NULL,
    features pg_catalog.text DEFAULT 'imatch',
    min_sentences pg_catalog.int4 DEFAULT 3,
    extend pg_catalog.bool DEFAULT true,
    shingle pg_catalog.int4 DEFAULT NULL,
    max_passages pg_catalog.int8 DEFAULT NULL,
    tokenizer pg_catalog.text DEFAULT NULL,
    parts pg_catalog.int4 DEFAULT NULL,
    resume pg_catalog.bool DEFAULT NULL
)
    LANGUAGE plpgsql
AS $$
DECLARE
    home pg_catalog.name;
    status pg_catalog.text;
    guarded pg_catalog.bool;
    failure pg_catalog.text;
    message pg_catalog.text;
    arguments pg_catalog.jsonb := pg_catalog.jsonb_build_object(
        'id_column', id_column, 'text_column', text_column, 'features', features, 'min_sentences', min_sentences,
        'extend', extend, 'shingle', shingle, 'max_pairs', max_passages, 'tokenizer', tokenizer, 'pairs', passages,
        'parts', parts, 'resume', resume, 'passages', true);
    began pg_catalog.timestamptz := pg_catalog.clock_timestamp();
BEGIN
    SELECT n.nspname INTO STRICT home
    FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
    WHERE e.extname OPERATOR(pg_catalog.=) 'neardup'::pg_catalog.name;
    EXECUTE pg_catalog.format('SELECT neardup_internal.neardup_into_begin($1, $2, $3, $4, $5, NULL::%1$I.neardup_internal)'::pg_catalog.text, home) INTO guarded USING docs, threshold, options, arguments, began;
    LOOP
        failure := NULL;
        IF guarded THEN
            BEGIN
                EXECUTE pg_catalog.format('SELECT neardup_internal.neardup_into_step($1, $2, $3, $4, $5, NULL::%1$I.neardup_internal)'::pg_catalog.text, home) INTO status USING docs, threshold, options, arguments, began;
            EXCEPTION
                -- Other nodes, and other transactions.
                WHEN connection_exception OR serialization_failure OR deadlock_detected OR admin_shutdown OR crash_shutdown OR cannot_connect_now
                    OR too_many_connections THEN
                    GET STACKED DIAGNOSTICS failure := RETURNED_SQLSTATE, message := MESSAGE_TEXT;
                    EXECUTE pg_catalog.format('SELECT neardup_internal.neardup_into_again($1, $2, $3, NULL::%1$I.neardup_internal)'::pg_catalog.text, home) INTO guarded USING failure, message, began;
                    IF NOT guarded THEN
                        RAISE;
                    END IF;
            END;
        ELSE
            EXECUTE pg_catalog.format('SELECT neardup_internal.neardup_into_step($1, $2, $3, $4, $5, NULL::%1$I.neardup_internal)'::pg_catalog.text, home) INTO status USING docs, threshold, options, arguments, began;
        END IF;
        IF failure IS NULL THEN
            COMMIT;
            EXIT WHEN status OPERATOR(pg_catalog.<>) 'more'::pg_catalog.text;
        ELSE
            ROLLBACK;
        END IF;
    END LOOP;
END
$$;
COMMENT ON PROCEDURE partial_duplicates_into(
    regclass, float8, text, jsonb, text, text, text, int, bool, int, bigint, text, int, bool
) IS 'partial_duplicates as a table; of a table partitioned over servers made on these, in steps that commit';

CREATE FUNCTION neardup_into_runs() RETURNS TABLE(
    node pg_catalog.text,
    run pg_catalog.text,
    pairs pg_catalog.text,
    owner pg_catalog.text,
    status pg_catalog.text,
    step pg_catalog.int4,
    name pg_catalog.text,
    rows pg_catalog.int8,
    parts pg_catalog.int8,
    started pg_catalog.timestamptz,
    noted pg_catalog.timestamptz,
    tables pg_catalog.int8,
    bytes pg_catalog.int8
)
    AS 'MODULE_PATHNAME', 'neardup_into_runs'
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000 ROWS 10;
COMMENT ON FUNCTION neardup_into_runs() IS
    'the calls of near_duplicates_into that have a log or working tables, here and on other nodes: how far they are, and what they left';

CREATE FUNCTION neardup_into_clean(run pg_catalog.text) RETURNS pg_catalog.int8
    AS 'MODULE_PATHNAME', 'neardup_into_clean'
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_into_clean(text) IS
    'drops the working tables that a call of near_duplicates_into left, here and on other nodes, and its log unless it was finished; how many tables';

CREATE FUNCTION near_duplicates_into_plan(
    docs pg_catalog.regclass,
    threshold pg_catalog.float8 DEFAULT NULL,
    options pg_catalog.jsonb DEFAULT '{}',
    id_column pg_catalog.text DEFAULT NULL,
    text_column pg_catalog.text DEFAULT NULL,
    method pg_catalog.text DEFAULT 'jaccard',
    tokenizer pg_catalog.text DEFAULT NULL,
    shingle pg_catalog.int4 DEFAULT NULL,
    multiset pg_catalog.bool DEFAULT NULL,
    site_column pg_catalog.text DEFAULT NULL,
    parts pg_catalog.int4 DEFAULT NULL,
    sample pg_catalog.int8 DEFAULT NULL
) RETURNS TABLE(
    node pg_catalog.text,
    documents pg_catalog.int8,
    sent pg_catalog.int8,
    received pg_catalog.int8,
    disk pg_catalog.int8,
    cpu_seconds pg_catalog.float8,
    candidates pg_catalog.int8,
    pairs pg_catalog.int8,
    sampled pg_catalog.int8
)
    AS 'MODULE_PATHNAME', 'neardup_near_duplicates_into_plan'
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000 ROWS 10;
COMMENT ON FUNCTION near_duplicates_into_plan(
    regclass, float8, jsonb, text, text, text, text, int, bool, text, int, bigint
) IS 'what near_duplicates_into with the same arguments will take on each node, estimated from a sample of the documents';

-- How many rows a call returns.
CREATE FUNCTION near_duplicates_rows(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'neardup_near_duplicates_rows'
    LANGUAGE c STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION near_duplicates_rows(internal) IS 'tells the planner how many rows a call returns, by the statistics of the relation';

ALTER FUNCTION near_duplicates(regclass, float8, jsonb, text, text, text, text, int, bool, bigint, text) SUPPORT near_duplicates_rows;
ALTER FUNCTION near_duplicates(regclass, float8, anyelement, jsonb, text, text, text, text, int, bool, bigint, text) SUPPORT near_duplicates_rows;
ALTER FUNCTION near_duplicates_between(regclass, regclass, float8, jsonb, text, text, text, text, int, bool, bigint, text, text, text, text) SUPPORT near_duplicates_rows;
ALTER FUNCTION near_duplicates_between(regclass, regclass, float8, anyelement, jsonb, text, text, text, text, int, bool, bigint, text, text, text, text) SUPPORT near_duplicates_rows;
ALTER FUNCTION near_duplicate_clusters(regclass, float8, jsonb, text, text, text, text, int, bool, bigint, text, text, int) SUPPORT near_duplicates_rows;
ALTER FUNCTION near_duplicate_clusters(regclass, float8, anyelement, jsonb, text, text, text, text, int, bool, bigint, text, text, int) SUPPORT near_duplicates_rows;

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
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 SUPPORT near_duplicates_rows;
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
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 SUPPORT near_duplicates_rows;
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
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 SUPPORT near_duplicates_rows;
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
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 SUPPORT near_duplicates_rows;
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

-- The text of HTML pages is another one: what was made of the old one is told.
DO $$
DECLARE
    made pg_catalog.text;
    jobs pg_catalog.text[];
BEGIN
    EXECUTE (
        SELECT pg_catalog.format('SELECT pg_catalog.array_agg(j.docs::pg_catalog.text) FROM %I.neardup_all_jobs j
            WHERE (j.settings OPERATOR(pg_catalog.->>) ''tokenizer''::pg_catalog.text) OPERATOR(pg_catalog.=) ''html''::pg_catalog.text'::pg_catalog.text, n.nspname)
        FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
        WHERE e.extname OPERATOR(pg_catalog.=) 'neardup'::pg_catalog.name) INTO jobs;
    WITH depends AS (
        SELECT d.classid, d.objid
        FROM pg_catalog.pg_extension e
            JOIN pg_catalog.pg_depend m ON m.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid
                AND m.refobjid OPERATOR(pg_catalog.=) e.oid AND m.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid
            JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) m.objid AND p.proname OPERATOR(pg_catalog.=) 'html_text'::pg_catalog.name
            JOIN pg_catalog.pg_depend d ON d.refclassid OPERATOR(pg_catalog.=) m.classid AND d.refobjid OPERATOR(pg_catalog.=) p.oid
        WHERE e.extname OPERATOR(pg_catalog.=) 'neardup'::pg_catalog.name
    ), things AS (
        SELECT pg_catalog.format('the job of %s'::pg_catalog.text, j.docs) AS thing FROM pg_catalog.unnest(jobs) j(docs)
        UNION
        SELECT pg_catalog.format('the index %s'::pg_catalog.text, c.oid::pg_catalog.regclass)
        FROM depends d JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) d.objid
        WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid
            AND c.relkind OPERATOR(pg_catalog.=) ANY ('{i,I}'::pg_catalog."char"[])
        UNION
        SELECT pg_catalog.format('the column %I of %s'::pg_catalog.text, a.attname, f.adrelid::pg_catalog.regclass)
        FROM depends d
            JOIN pg_catalog.pg_attrdef f ON f.oid OPERATOR(pg_catalog.=) d.objid
            JOIN pg_catalog.pg_attribute a ON a.attrelid OPERATOR(pg_catalog.=) f.adrelid AND a.attnum OPERATOR(pg_catalog.=) f.adnum
        WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_attrdef'::pg_catalog.regclass::pg_catalog.oid
            AND a.attgenerated OPERATOR(pg_catalog.<>) ''::pg_catalog."char"
    )
    SELECT pg_catalog.string_agg(t.thing, ', '::pg_catalog.text ORDER BY t.thing) INTO made FROM things t;
    IF made IS NOT NULL THEN
        RAISE WARNING USING MESSAGE := pg_catalog.format('the text of HTML pages is another one than before, and was made use of by %s'::pg_catalog.text, made),
            HINT := 'REINDEX indexes, write columns anew, and begin jobs anew: neardup_unwatch, drop the tables of pairs and clusters, neardup_watch.';
    END IF;
END
$$;

-- Reports: pairs at the threshold, titles and links, in arguments at the end.
DROP FUNCTION duplicates_report(regclass, float8, jsonb, text, text, text, text, int, bool, bigint, text, text, int, int, int);
DROP FUNCTION duplicates_report(regclass, float8, anyelement, jsonb, text, text, text, text, int, bool, bigint, text, text, int, int, int);

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
    link text DEFAULT NULL
) RETURNS text
    AS 'MODULE_PATHNAME', 'neardup_duplicates_report'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION duplicates_report(
    regclass, float8, jsonb, text, text, text, text, int, bool, bigint, text, text, int, int, int, int, text, text
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
    link text DEFAULT NULL
) RETURNS text
    AS 'MODULE_PATHNAME', 'neardup_duplicates_report_typed'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION duplicates_report(
    regclass, float8, anyelement, jsonb, text, text, text, text, int, bool, bigint, text, text, int, int, int, int, text, text
) IS 'one HTML page about the near duplicates of a relation, for ids of the given type';
COMMENT ON FUNCTION diff_html(text, text) IS
    'two texts side by side as HTML: what differs is marked, passages in common are shaded by a switch, with a dot plot of their sentences';

-- The kept row of a pair is called so: the server's hint for a column that does not exist led from duplicate_id to duplicate_of,
-- which names rows that stay.
DROP FUNCTION eliminate(regclass, float8, jsonb, text, text, text, text, int, bool, bigint, text, text);
DROP FUNCTION eliminate(regclass, float8, anyelement, jsonb, text, text, text, text, int, bool, bigint, text, text);

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
) RETURNS TABLE(id bigint, kept_id bigint, similarity float8)
    AS 'MODULE_PATHNAME', 'neardup_eliminate'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 SUPPORT near_duplicates_rows;
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
) RETURNS TABLE(id anyelement, kept_id anyelement, similarity float8)
    AS 'MODULE_PATHNAME', 'neardup_eliminate_typed'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 SUPPORT near_duplicates_rows;
COMMENT ON FUNCTION eliminate(
    regclass, float8, anyelement, jsonb, text, text, text, text, int, bool, bigint, text, text
) IS 'rows that would be removed as near duplicates, each with the kept row that it is near; removes nothing, for ids of the given type';

-- Explaining in a terminal, and what is running.
CREATE FUNCTION explain_pair_text(a text, b text, width int DEFAULT 80) RETURNS text
    AS 'MODULE_PATHNAME', 'neardup_explain_pair_text'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION explain_pair_text(text, text, int) IS
    'what every method says of two texts, and their words with the differences marked, as lines of a width for a terminal';

-- Two stored sketches explained.
CREATE FUNCTION explain_pair(a minhash_sketch, b minhash_sketch) RETURNS TABLE(method text, similarity float8, evidence jsonb)
    AS 'MODULE_PATHNAME', 'neardup_explain_pair_minhash'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 1;
COMMENT ON FUNCTION explain_pair(minhash_sketch, minhash_sketch) IS
    'what method minhash says of two sketches, and what that is made of';

CREATE FUNCTION explain_pair(a simhash_sketch, b simhash_sketch) RETURNS TABLE(method text, similarity float8, evidence jsonb)
    AS 'MODULE_PATHNAME', 'neardup_explain_pair_simhash'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 1;
COMMENT ON FUNCTION explain_pair(simhash_sketch, simhash_sketch) IS
    'what method simhash says of two sketches, and what that is made of';

-- Calls are told by what they write behind their query (src/pg/server/activity.rs), which those see that may see the query.
-- Numbers in it are cast only where they are short: anybody may write such a thing into a query.
CREATE VIEW neardup_activity WITH (security_barrier) AS
    WITH calls AS (
        SELECT a.pid, a.usename AS role, a.query_start,
            pg_catalog.regexp_match(a.query, '/[*] neardup:(?: ([0-9]{1,12}) kB)?(?: docs ([0-9]{1,10}))? [*]/ /[*] ([a-z_]{1,63}): ([^*]{0,200}) [*]/$'::pg_catalog.text) AS said
        FROM pg_catalog.pg_stat_activity a
        WHERE a.datname OPERATOR(pg_catalog.=) pg_catalog.current_database() AND a.state OPERATOR(pg_catalog.=) 'active'::pg_catalog.text
    ), running AS (
        SELECT c.pid, c.role, c.query_start, c.said[3] AS call, c.said[4] AS phase,
            CASE WHEN c.said[2]::pg_catalog.int8 OPERATOR(pg_catalog.<=) 4294967295 THEN c.said[2]::pg_catalog.int8::pg_catalog.oid::pg_catalog.regclass END AS docs,
            c.said[1]::pg_catalog.int8 OPERATOR(pg_catalog.*) 1024 AS memory,
            pg_catalog."substring"(c.said[4], '(?:^|[^0-9])([0-9]{1,3}) %'::pg_catalog.text)::pg_catalog.int4 AS percent
        FROM calls c
    )
    SELECT c.pid, c.role, c.call, c.docs, 'running'::pg_catalog.text AS status, c.phase, c.percent,
        pg_catalog.date_trunc('second'::pg_catalog.text, pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) c.query_start) AS elapsed,
        c.memory, NULL::pg_catalog.timestamptz AS last_finished, NULL::pg_catalog.interval AS last_took,
        pg_catalog.pg_size_pretty(c.memory) AS memory_shown
    FROM running c
    WHERE c.call IS NOT NULL AND NOT EXISTS (SELECT FROM neardup_progress p WHERE p.pid OPERATOR(pg_catalog.=) c.pid)
    UNION ALL
    SELECT p.pid, c.role, 'neardup_refresh'::pg_catalog.text, p.docs, p.status, p.step, c.percent,
        CASE WHEN p.pid IS NOT NULL THEN
            pg_catalog.date_trunc('second'::pg_catalog.text, pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) p.started) END,
        c.memory, p.last_finished, pg_catalog.date_trunc('second'::pg_catalog.text, l.took),
        pg_catalog.pg_size_pretty(c.memory)
    FROM neardup_progress p
        LEFT JOIN running c ON c.pid OPERATOR(pg_catalog.=) p.pid
        LEFT JOIN LATERAL (SELECT o.finished OPERATOR(pg_catalog.-) o.started AS took FROM neardup_all_runs o
            WHERE o.docs OPERATOR(pg_catalog.=) p.docs AND o.status OPERATOR(pg_catalog.=) 'done'::pg_catalog.text ORDER BY o.started DESC LIMIT 1) l ON true;
COMMENT ON VIEW neardup_activity IS 'calls that are running and jobs: what the queries that the reader may see are at, and the refreshes of relations of roles that the reader is a member of, with their last runs';
GRANT SELECT ON neardup_activity TO PUBLIC;

-- Indexes on texts were of sketches, and are of the texts' words now. What 0.1.0 made is neither kept under another meaning nor made
-- anew behind its owner's back: its owner says which is meant.
DO $$
DECLARE
    names pg_catalog.text;
    definitions pg_catalog.text;
BEGIN
    SELECT pg_catalog.string_agg(c.oid::pg_catalog.regclass::pg_catalog.text, ', '::pg_catalog.text ORDER BY c.oid::pg_catalog.regclass::pg_catalog.text),
        pg_catalog.string_agg(pg_catalog.pg_get_indexdef(c.oid), ';
'::pg_catalog.text ORDER BY c.oid::pg_catalog.regclass::pg_catalog.text)
        INTO names, definitions
    FROM pg_catalog.pg_extension e
        JOIN pg_catalog.pg_depend d ON d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid
            AND d.refobjid OPERATOR(pg_catalog.=) e.oid AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_opclass'::pg_catalog.regclass::pg_catalog.oid
        JOIN pg_catalog.pg_opclass o ON o.oid OPERATOR(pg_catalog.=) d.objid AND o.opcname OPERATOR(pg_catalog.=) 'text_minhash_ops'::pg_catalog.name
        JOIN pg_catalog.pg_index i ON o.oid OPERATOR(pg_catalog.=) ANY (i.indclass::pg_catalog.oid[])
        JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) i.indexrelid
    -- Those of partitions go with that of the table.
    WHERE e.extname OPERATOR(pg_catalog.=) 'neardup'::pg_catalog.name AND NOT c.relispartition;
    IF names IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE := 'dependent_objects_still_exist',
            MESSAGE := pg_catalog.format('indexes of the operator class text_minhash_ops, which is no more, are in the way: %s'::pg_catalog.text, names),
            DETAIL := definitions,
            HINT := pg_catalog.format('Before the update: DROP INDEX %s; after it make them anew, for exact searches by words: CREATE INDEX ON docs USING signature (body); or for what they were, by sketches: CREATE INDEX ON docs USING signature (minhash(body)); k and permutations become arguments of minhash and options of minhash_jaccard_ops.'::pg_catalog.text, names);
    END IF;
END
$$;
-- With its class.
DROP OPERATOR FAMILY text_minhash_ops USING signature;
DROP FUNCTION signature_class(text);
DROP FUNCTION signature_options_text(internal);

-- Exact balls of documents. near() of a text has other arguments and means another thing: what near_duplicates calls similar, and
-- no estimate. Balls that are stored mean what they meant.
DROP FUNCTION near(text, float8, int, int);
COMMENT ON TYPE text_ball IS 'all documents at least so similar to one, compared as near_duplicates compares them; made by near()';
CREATE FUNCTION near(
    text text,
    similarity float8 DEFAULT 0.8,
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL,
    tokenizer text DEFAULT NULL,
    method text DEFAULT 'jaccard'
) RETURNS text_ball
    AS 'MODULE_PATHNAME', 'neardup_near_set_text'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION near(text, float8, int, bool, text, text) IS
    'all texts at least so similar to this one, as near_duplicates compares them by the same arguments: WHERE body <@ near(...)';
CREATE FUNCTION near(
    tokens text[],
    similarity float8 DEFAULT 0.8,
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL,
    method text DEFAULT 'jaccard'
) RETURNS text_ball
    AS 'MODULE_PATHNAME', 'neardup_near_set_tokens'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION near(text[], float8, int, bool, text) IS
    'all arrays of words at least so similar to this one: WHERE words <@ near(...)';
CREATE FUNCTION near(
    lexemes tsvector,
    similarity float8 DEFAULT 0.8,
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL,
    method text DEFAULT 'jaccard'
) RETURNS text_ball
    AS 'MODULE_PATHNAME', 'neardup_near_set_lexemes'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION near(tsvector, float8, int, bool, text) IS
    'all tsvectors at least so similar to this one: WHERE lexemes <@ near(...)';
CREATE FUNCTION near(
    numbers bigint[],
    similarity float8 DEFAULT 0.8,
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL,
    method text DEFAULT 'jaccard'
) RETURNS text_ball
    AS 'MODULE_PATHNAME', 'neardup_near_set_numbers'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION near(bigint[], float8, int, bool, text) IS
    'all arrays of numbers, such as shingles, at least so similar to this one: WHERE numbers <@ near(...)';
CREATE FUNCTION near_similarity(value text, ball text_ball) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_near_similarity_text'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION near_similarity(text, text_ball) IS
    'how similar a text is to the middle of a ball, to the last bit as near_duplicates says it';
CREATE FUNCTION near_similarity(value tsvector, ball text_ball) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_near_similarity_lexemes'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION near_similarity(tsvector, text_ball) IS
    'how similar a tsvector is to the middle of a ball, to the last bit as near_duplicates says it';
CREATE FUNCTION near_similarity(value anyarray, ball text_ball) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_near_similarity_array'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION near_similarity(anyarray, text_ball) IS
    'how similar an array is to the middle of a ball, to the last bit as near_duplicates says it';
CREATE FUNCTION text_ball_distance(value text, ball text_ball) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_text_ball_distance_text'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION text_ball_distance(text, text_ball) IS
    '1 minus the similarity to the middle of a ball; Infinity outside of the ball';
CREATE OPERATOR <-> (
    LEFTARG = text,
    RIGHTARG = text_ball,
    FUNCTION = text_ball_distance
);
COMMENT ON OPERATOR <-> (text, text_ball) IS 'distance to the middle of the ball, Infinity outside of it';
CREATE FUNCTION lexemes_in_ball(value tsvector, ball text_ball) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_lexemes_in_ball'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION lexemes_in_ball(tsvector, text_ball) IS
    'whether a value is in a ball';
CREATE FUNCTION text_ball_contains(ball text_ball, value tsvector) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_text_ball_contains_lexemes'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION text_ball_contains(text_ball, tsvector) IS
    'whether a ball contains a value';
CREATE FUNCTION text_ball_distance(value tsvector, ball text_ball) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_text_ball_distance_lexemes'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION text_ball_distance(tsvector, text_ball) IS
    '1 minus the similarity to the middle of a ball; Infinity outside of the ball';
CREATE OPERATOR <@ (
    LEFTARG = tsvector,
    RIGHTARG = text_ball,
    FUNCTION = lexemes_in_ball,
    COMMUTATOR = @>,
    RESTRICT = near_selectivity,
    JOIN = near_join_selectivity
);
COMMENT ON OPERATOR <@ (tsvector, text_ball) IS 'is in the ball';
CREATE OPERATOR @> (
    LEFTARG = text_ball,
    RIGHTARG = tsvector,
    FUNCTION = text_ball_contains,
    COMMUTATOR = <@,
    RESTRICT = near_selectivity,
    JOIN = near_join_selectivity
);
COMMENT ON OPERATOR @> (text_ball, tsvector) IS 'contains';
CREATE OPERATOR <-> (
    LEFTARG = tsvector,
    RIGHTARG = text_ball,
    FUNCTION = text_ball_distance
);
COMMENT ON OPERATOR <-> (tsvector, text_ball) IS 'distance to the middle of the ball, Infinity outside of it';
CREATE FUNCTION array_in_ball(value anyarray, ball text_ball) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_array_in_ball'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION array_in_ball(anyarray, text_ball) IS
    'whether a value is in a ball';
CREATE FUNCTION text_ball_contains(ball text_ball, value anyarray) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_text_ball_contains_array'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION text_ball_contains(text_ball, anyarray) IS
    'whether a ball contains a value';
CREATE FUNCTION text_ball_distance(value anyarray, ball text_ball) RETURNS float8
    AS 'MODULE_PATHNAME', 'neardup_text_ball_distance_array'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION text_ball_distance(anyarray, text_ball) IS
    '1 minus the similarity to the middle of a ball; Infinity outside of the ball';
CREATE OPERATOR <@ (
    LEFTARG = anyarray,
    RIGHTARG = text_ball,
    FUNCTION = array_in_ball,
    COMMUTATOR = @>,
    RESTRICT = near_selectivity,
    JOIN = near_join_selectivity
);
COMMENT ON OPERATOR <@ (anyarray, text_ball) IS 'is in the ball';
CREATE OPERATOR @> (
    LEFTARG = text_ball,
    RIGHTARG = anyarray,
    FUNCTION = text_ball_contains,
    COMMUTATOR = <@,
    RESTRICT = near_selectivity,
    JOIN = near_join_selectivity
);
COMMENT ON OPERATOR @> (text_ball, anyarray) IS 'contains';
CREATE OPERATOR <-> (
    LEFTARG = anyarray,
    RIGHTARG = text_ball,
    FUNCTION = text_ball_distance
);
COMMENT ON OPERATOR <-> (anyarray, text_ball) IS 'distance to the middle of the ball, Infinity outside of it';
CREATE FUNCTION text_balls_meet(a text_ball, b text_ball) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_text_balls_meet'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION text_balls_meet(text_ball, text_ball) IS
    'whether the middle of each of two balls is in the other one';
CREATE OPERATOR && (
    LEFTARG = text_ball,
    RIGHTARG = text_ball,
    FUNCTION = text_balls_meet,
    COMMUTATOR = &&,
    RESTRICT = near_selectivity,
    JOIN = near_join_selectivity
);
COMMENT ON OPERATOR && (text_ball, text_ball) IS 'the middle of each is in the other';
-- A sketch in a string has no type, and near() takes it for a text. Without these the server says only that there is no
-- such operator; with them the call reaches an error of ours, which says how a sketch is written.
CREATE FUNCTION text_ball_as_minhash_ball(ball text_ball) RETURNS minhash_ball
    AS 'MODULE_PATHNAME', 'neardup_text_ball_as_minhash_ball'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION text_ball_as_minhash_ball(text_ball) IS
    'an error that says how the ball of a sketch is written';
CREATE FUNCTION text_ball_as_simhash_ball(ball text_ball) RETURNS simhash_ball
    AS 'MODULE_PATHNAME', 'neardup_text_ball_as_simhash_ball'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION text_ball_as_simhash_ball(text_ball) IS
    'an error that says how the ball of a sketch is written';
CREATE CAST (text_ball AS minhash_ball) WITH FUNCTION text_ball_as_minhash_ball(text_ball) AS IMPLICIT;
COMMENT ON CAST (text_ball AS minhash_ball) IS 'an error that says how the ball of a sketch is written';
CREATE CAST (text_ball AS simhash_ball) WITH FUNCTION text_ball_as_simhash_ball(text_ball) AS IMPLICIT;
COMMENT ON CAST (text_ball AS simhash_ball) IS 'an error that says how the ball of a sketch is written';

-- Classes of sets: what is in a ball, as near_duplicates compares.
CREATE FUNCTION signature_set_class(text) RETURNS int
    AS 'MODULE_PATHNAME', 'neardup_signature_class_text_set'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION signature_set_class(text) IS 'support function of text_set_ops';
CREATE FUNCTION signature_set_class(anyarray) RETURNS int
    AS 'MODULE_PATHNAME', 'neardup_signature_class_array_set'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION signature_set_class(anyarray) IS 'support function of array_set_ops';
CREATE FUNCTION signature_set_class(tsvector) RETURNS int
    AS 'MODULE_PATHNAME', 'neardup_signature_class_tsvector_set'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION signature_set_class(tsvector) IS 'support function of tsvector_set_ops';
CREATE FUNCTION signature_set_class(text_ball) RETURNS int
    AS 'MODULE_PATHNAME', 'neardup_signature_class_ball_set'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION signature_set_class(text_ball) IS 'support function of text_ball_set_ops';
CREATE FUNCTION signature_options_set(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'neardup_signature_options_set'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_options_set(internal) IS
    'options of text_set_ops and text_ball_set_ops: measure, shingle, multiset, tokenizer, least';
CREATE FUNCTION signature_options_tokens(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'neardup_signature_options_tokens'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_options_tokens(internal) IS
    'options of array_set_ops and tsvector_set_ops: measure, shingle, multiset, least';

CREATE OPERATOR FAMILY text_set_ops USING signature;
COMMENT ON OPERATOR FAMILY text_set_ops USING signature IS 'texts by the similarity of their sets of words';
CREATE OPERATOR CLASS text_set_ops DEFAULT FOR TYPE text USING signature FAMILY text_set_ops AS
    OPERATOR 1 <@ (text, text_ball),
    OPERATOR 3 <-> (text, text_ball) FOR ORDER BY pg_catalog.float_ops,
    FUNCTION 1 signature_set_class(text),
    FUNCTION 2 signature_options_set(internal);
COMMENT ON OPERATOR CLASS text_set_ops USING signature IS
    'texts: <@ near(text, similarity), ORDER BY <->, exactly';

CREATE OPERATOR FAMILY array_set_ops USING signature;
COMMENT ON OPERATOR FAMILY array_set_ops USING signature IS 'arrays of words or integers by the similarity of their sets';
CREATE OPERATOR CLASS array_set_ops DEFAULT FOR TYPE anyarray USING signature FAMILY array_set_ops AS
    OPERATOR 1 <@ (anyarray, text_ball),
    OPERATOR 3 <-> (anyarray, text_ball) FOR ORDER BY pg_catalog.float_ops,
    FUNCTION 1 signature_set_class(anyarray),
    FUNCTION 2 signature_options_tokens(internal);
COMMENT ON OPERATOR CLASS array_set_ops USING signature IS
    'arrays of words or integers: <@ near(array, similarity), ORDER BY <->, exactly';

CREATE OPERATOR FAMILY tsvector_set_ops USING signature;
COMMENT ON OPERATOR FAMILY tsvector_set_ops USING signature IS 'tsvectors by the similarity of their sets of lexemes';
CREATE OPERATOR CLASS tsvector_set_ops DEFAULT FOR TYPE tsvector USING signature FAMILY tsvector_set_ops AS
    OPERATOR 1 <@ (tsvector, text_ball),
    OPERATOR 3 <-> (tsvector, text_ball) FOR ORDER BY pg_catalog.float_ops,
    FUNCTION 1 signature_set_class(tsvector),
    FUNCTION 2 signature_options_tokens(internal);
COMMENT ON OPERATOR CLASS tsvector_set_ops USING signature IS
    'tsvectors: <@ near(tsvector, similarity), ORDER BY <->, exactly';

CREATE OPERATOR FAMILY text_ball_set_ops USING signature;
COMMENT ON OPERATOR FAMILY text_ball_set_ops USING signature IS 'balls by the similarity of their middles';
CREATE OPERATOR CLASS text_ball_set_ops DEFAULT FOR TYPE text_ball USING signature FAMILY text_ball_set_ops AS
    OPERATOR 2 && (text_ball, text_ball),
    FUNCTION 1 signature_set_class(text_ball),
    FUNCTION 2 signature_options_set(internal);
COMMENT ON OPERATOR CLASS text_ball_set_ops USING signature IS
    'balls: EXCLUDE USING signature (near(body, 0.8) WITH &&) lets no two near texts in';

-- Runs: the type of queries, the operator, and the class.
CREATE TYPE text_runs;

CREATE FUNCTION text_runs_in(cstring) RETURNS text_runs
    AS 'MODULE_PATHNAME', 'neardup_text_runs_in'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION text_runs_in(cstring) IS 'reads a text_runs from text';

CREATE FUNCTION text_runs_out(text_runs) RETURNS cstring
    AS 'MODULE_PATHNAME', 'neardup_text_runs_out'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION text_runs_out(text_runs) IS 'a text_runs as text';

CREATE FUNCTION text_runs_recv(internal) RETURNS text_runs
    AS 'MODULE_PATHNAME', 'neardup_text_runs_recv'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION text_runs_recv(internal) IS 'reads a text_runs in binary form';

CREATE FUNCTION text_runs_send(text_runs) RETURNS bytea
    AS 'byteasend'
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION text_runs_send(text_runs) IS 'a text_runs in binary form';

-- Hashes do not compress: where a row is long they go out of line as they are.
CREATE TYPE text_runs (
    INPUT = text_runs_in,
    OUTPUT = text_runs_out,
    RECEIVE = text_runs_recv,
    SEND = text_runs_send,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = external
);

CREATE FUNCTION text_runs_eq(a text_runs, b text_runs) RETURNS bool
    AS 'byteaeq'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION text_runs_eq(text_runs, text_runs) IS 'implementation of the = operator';

CREATE FUNCTION text_runs_ne(a text_runs, b text_runs) RETURNS bool
    AS 'byteane'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION text_runs_ne(text_runs, text_runs) IS 'implementation of the <> operator';

CREATE FUNCTION text_runs_lt(a text_runs, b text_runs) RETURNS bool
    AS 'bytealt'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION text_runs_lt(text_runs, text_runs) IS 'implementation of the < operator';

CREATE FUNCTION text_runs_le(a text_runs, b text_runs) RETURNS bool
    AS 'byteale'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION text_runs_le(text_runs, text_runs) IS 'implementation of the <= operator';

CREATE FUNCTION text_runs_gt(a text_runs, b text_runs) RETURNS bool
    AS 'byteagt'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION text_runs_gt(text_runs, text_runs) IS 'implementation of the > operator';

CREATE FUNCTION text_runs_ge(a text_runs, b text_runs) RETURNS bool
    AS 'byteage'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION text_runs_ge(text_runs, text_runs) IS 'implementation of the >= operator';

CREATE FUNCTION text_runs_cmp(a text_runs, b text_runs) RETURNS int
    AS 'byteacmp'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION text_runs_cmp(text_runs, text_runs) IS 'compares bytes: less than, equal to or greater than 0';

CREATE FUNCTION text_runs_hash(a text_runs) RETURNS int
    AS 'hashvarlena'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION text_runs_hash(text_runs) IS 'hash for joins and groups';

CREATE FUNCTION text_runs_hash_extended(a text_runs, salt bigint) RETURNS bigint
    AS 'hashvarlenaextended'
    LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION text_runs_hash_extended(text_runs, bigint) IS '64-bit hash with a salt';

CREATE OPERATOR = (
    LEFTARG = text_runs,
    RIGHTARG = text_runs,
    FUNCTION = text_runs_eq,
    COMMUTATOR = =,
    NEGATOR = <>,
    RESTRICT = eqsel,
    JOIN = eqjoinsel,
    HASHES,
    MERGES
);
COMMENT ON OPERATOR = (text_runs, text_runs) IS 'same bytes: made in the same way of equal values';

CREATE OPERATOR <> (
    LEFTARG = text_runs,
    RIGHTARG = text_runs,
    FUNCTION = text_runs_ne,
    COMMUTATOR = <>,
    NEGATOR = =,
    RESTRICT = neqsel,
    JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (text_runs, text_runs) IS 'not the same bytes';

CREATE OPERATOR < (
    LEFTARG = text_runs,
    RIGHTARG = text_runs,
    FUNCTION = text_runs_lt,
    COMMUTATOR = >,
    NEGATOR = >=,
    RESTRICT = scalarltsel,
    JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (text_runs, text_runs) IS 'first by bytes, in an order that only serves to sort';

CREATE OPERATOR <= (
    LEFTARG = text_runs,
    RIGHTARG = text_runs,
    FUNCTION = text_runs_le,
    COMMUTATOR = >=,
    NEGATOR = >,
    RESTRICT = scalarlesel,
    JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (text_runs, text_runs) IS 'first by bytes or the same';

CREATE OPERATOR > (
    LEFTARG = text_runs,
    RIGHTARG = text_runs,
    FUNCTION = text_runs_gt,
    COMMUTATOR = <,
    NEGATOR = <=,
    RESTRICT = scalargtsel,
    JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (text_runs, text_runs) IS 'last by bytes';

CREATE OPERATOR >= (
    LEFTARG = text_runs,
    RIGHTARG = text_runs,
    FUNCTION = text_runs_ge,
    COMMUTATOR = <=,
    NEGATOR = <,
    RESTRICT = scalargesel,
    JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (text_runs, text_runs) IS 'last by bytes or the same';

CREATE OPERATOR CLASS text_runs_ops DEFAULT FOR TYPE text_runs USING btree AS
    OPERATOR 1 <,
    OPERATOR 2 <=,
    OPERATOR 3 =,
    OPERATOR 4 >=,
    OPERATOR 5 >,
    FUNCTION 1 text_runs_cmp(text_runs, text_runs),
    FUNCTION 2 bytea_sortsupport(internal);
COMMENT ON OPERATOR CLASS text_runs_ops USING btree IS 'order of bytes';
COMMENT ON OPERATOR FAMILY text_runs_ops USING btree IS 'order of bytes';

CREATE OPERATOR CLASS text_runs_ops DEFAULT FOR TYPE text_runs USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 text_runs_hash(text_runs),
    FUNCTION 2 text_runs_hash_extended(text_runs, bigint);
COMMENT ON OPERATOR CLASS text_runs_ops USING hash IS 'equality of bytes';
COMMENT ON OPERATOR FAMILY text_runs_ops USING hash IS 'equality of bytes';

COMMENT ON TYPE text_runs IS 'all texts that have a run of tokens in common with one; made by runs()';

CREATE FUNCTION runs(text text, min_run int DEFAULT 12, tokenizer text DEFAULT NULL) RETURNS text_runs
    AS 'MODULE_PATHNAME', 'neardup_runs'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION runs(text, int, text) IS
    'all texts that have so many words in a row in common with this one: WHERE body && runs(...)';

CREATE FUNCTION text_shares_run(value text, query text_runs) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_text_shares_run'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION text_shares_run(text, text_runs) IS
    'whether a text has a run in common with that of a query';

CREATE FUNCTION text_runs_shared(query text_runs, value text) RETURNS bool
    AS 'MODULE_PATHNAME', 'neardup_text_runs_shared'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION text_runs_shared(text_runs, text) IS
    'whether the text of a query has a run in common with a text';

CREATE OPERATOR && (
    LEFTARG = text,
    RIGHTARG = text_runs,
    FUNCTION = text_shares_run,
    COMMUTATOR = &&,
    RESTRICT = near_selectivity,
    JOIN = near_join_selectivity
);
COMMENT ON OPERATOR && (text, text_runs) IS 'has a run in common';

CREATE OPERATOR && (
    LEFTARG = text_runs,
    RIGHTARG = text,
    FUNCTION = text_runs_shared,
    COMMUTATOR = &&,
    RESTRICT = near_selectivity,
    JOIN = near_join_selectivity
);
COMMENT ON OPERATOR && (text_runs, text) IS 'has a run in common';

-- The class of runs: what has so many tokens in a row in common.
CREATE FUNCTION signature_runs_class(text) RETURNS int
    AS 'MODULE_PATHNAME', 'neardup_signature_class_text_runs'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION signature_runs_class(text) IS 'support function of text_runs_ops';
CREATE FUNCTION signature_options_runs(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'neardup_signature_options_runs'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_options_runs(internal) IS 'options of text_runs_ops: least, tokenizer';
CREATE OPERATOR FAMILY text_runs_ops USING signature;
COMMENT ON OPERATOR FAMILY text_runs_ops USING signature IS 'texts by the runs of tokens that they have in common';
CREATE OPERATOR CLASS text_runs_ops FOR TYPE text USING signature FAMILY text_runs_ops AS
    OPERATOR 2 && (text, text_runs),
    FUNCTION 1 signature_runs_class(text),
    FUNCTION 2 signature_options_runs(internal);
COMMENT ON OPERATOR CLASS text_runs_ops USING signature IS
    'texts that have a run of tokens in common: body && runs(text, 16)';

-- The class of grams: short strings that have grams of characters in common.
CREATE FUNCTION signature_gram_class(text) RETURNS int
    AS 'MODULE_PATHNAME', 'neardup_signature_class_text_grams'
    LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION signature_gram_class(text) IS 'support function of text_gram_ops';
CREATE FUNCTION signature_options_grams(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'neardup_signature_options_grams'
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION signature_options_grams(internal) IS 'options of text_gram_ops: shingle';
CREATE OPERATOR FAMILY text_gram_ops USING signature;
COMMENT ON OPERATOR FAMILY text_gram_ops USING signature IS 'short texts by the grams of characters that they have in common';
CREATE OPERATOR CLASS text_gram_ops FOR TYPE text USING signature FAMILY text_gram_ops AS
    OPERATOR 1 <@ (text, text_ball),
    OPERATOR 3 <-> (text, text_ball) FOR ORDER BY pg_catalog.float_ops,
    FUNCTION 1 signature_gram_class(text),
    FUNCTION 2 signature_options_grams(internal);
COMMENT ON OPERATOR CLASS text_gram_ops USING signature IS
    'short texts: <@ near(text, similarity, tokenizer => ''chars''), ORDER BY <->, exactly, at every similarity';

CREATE FUNCTION signature_index_fits(index regclass, ball text_ball) RETURNS text
    AS 'MODULE_PATHNAME', 'neardup_signature_index_fits'
    LANGUAGE c VOLATILE STRICT PARALLEL RESTRICTED COST 1000;
COMMENT ON FUNCTION signature_index_fits(regclass, text_ball) IS
    'why an index of sets does not serve a ball, so that all rows would have to be looked at; NULL if it does';

-- What a whole table says again, word for word.
CREATE FUNCTION repeated_runs(
    docs regclass,
    min_length int DEFAULT 50,
    unit text DEFAULT 'window',
    keep text DEFAULT 'first',
    within text DEFAULT NULL,
    min_documents int DEFAULT 2,
    min_share float8 DEFAULT NULL,
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    tokenizer text DEFAULT NULL,
    within_documents bool DEFAULT NULL,
    min_tokens int DEFAULT 3
) RETURNS TABLE(
    id bigint,
    span int4range,
    tokens int,
    of_id bigint,
    of_span int4range,
    documents bigint
)
    AS 'MODULE_PATHNAME', 'neardup_repeated_runs'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION repeated_runs(
    regclass, int, text, text, text, int, float8, text, text, text, bool, int
) IS 'the runs of words that a table says again, with the place where each stands first, for ids that are integers';

CREATE FUNCTION repeated_runs(
    docs regclass,
    min_length int,
    id_type anyelement,
    unit text DEFAULT 'window',
    keep text DEFAULT 'first',
    within text DEFAULT NULL,
    min_documents int DEFAULT 2,
    min_share float8 DEFAULT NULL,
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    tokenizer text DEFAULT NULL,
    within_documents bool DEFAULT NULL,
    min_tokens int DEFAULT 3
) RETURNS TABLE(
    id anyelement,
    span int4range,
    tokens int,
    of_id anyelement,
    of_span int4range,
    documents bigint
)
    AS 'MODULE_PATHNAME', 'neardup_repeated_runs_typed'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION repeated_runs(
    regclass, int, anyelement, text, text, text, int, float8, text, text, text, bool, int
) IS 'the runs of words that a table says again, with the place where each stands first, for ids of the given type';

CREATE FUNCTION cut_repeats(
    docs regclass,
    min_length int DEFAULT 50,
    unit text DEFAULT 'window',
    keep text DEFAULT 'first',
    within text DEFAULT NULL,
    min_documents int DEFAULT 2,
    min_share float8 DEFAULT NULL,
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    tokenizer text DEFAULT NULL,
    within_documents bool DEFAULT NULL,
    min_tokens int DEFAULT 3,
    snap text DEFAULT 'none',
    min_left int DEFAULT 0
) RETURNS TABLE(id bigint, body text, cut_characters int, cut_tokens int)
    AS 'MODULE_PATHNAME', 'neardup_cut_repeats'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION cut_repeats(
    regclass, int, text, text, text, int, float8, text, text, text, bool, int, text, int
) IS 'the texts of a table without what the table says again, for ids that are integers';

CREATE FUNCTION cut_repeats(
    docs regclass,
    min_length int,
    id_type anyelement,
    unit text DEFAULT 'window',
    keep text DEFAULT 'first',
    within text DEFAULT NULL,
    min_documents int DEFAULT 2,
    min_share float8 DEFAULT NULL,
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    tokenizer text DEFAULT NULL,
    within_documents bool DEFAULT NULL,
    min_tokens int DEFAULT 3,
    snap text DEFAULT 'none',
    min_left int DEFAULT 0
) RETURNS TABLE(id anyelement, body text, cut_characters int, cut_tokens int)
    AS 'MODULE_PATHNAME', 'neardup_cut_repeats_typed'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION cut_repeats(
    regclass, int, anyelement, text, text, text, int, float8, text, text, text, bool, int, text, int
) IS 'the texts of a table without what the table says again, for ids of the given type';

CREATE FUNCTION shared_runs(
    a text,
    b text,
    min_run int DEFAULT 12,
    tokenizer text DEFAULT NULL
) RETURNS TABLE(left_span int4range, right_span int4range, tokens int)
    AS 'MODULE_PATHNAME', 'neardup_shared_runs'
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 5000 ROWS 5;
COMMENT ON FUNCTION shared_runs(text, text, int, text) IS
    'the runs of words that two texts share and that are longer in neither direction, with their places in both';

-- The nearest of each row.
CREATE FUNCTION nearest(
    docs regclass,
    k int DEFAULT 10,
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    method text DEFAULT 'jaccard',
    tokenizer text DEFAULT NULL,
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL
) RETURNS TABLE(id bigint, nearest_id bigint, similarity float8, rank int)
    AS 'MODULE_PATHNAME', 'neardup_nearest'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 SUPPORT near_duplicates_rows;
COMMENT ON FUNCTION nearest(regclass, int, text, text, text, text, int, bool) IS
    'for each row the k rows whose texts are the most similar to it, for ids that are integers';

CREATE FUNCTION nearest(
    docs regclass,
    k int,
    id_type anyelement,
    id_column text DEFAULT NULL,
    text_column text DEFAULT NULL,
    method text DEFAULT 'jaccard',
    tokenizer text DEFAULT NULL,
    shingle int DEFAULT NULL,
    multiset bool DEFAULT NULL
) RETURNS TABLE(id anyelement, nearest_id anyelement, similarity float8, rank int)
    AS 'MODULE_PATHNAME', 'neardup_nearest_typed'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 10000 SUPPORT near_duplicates_rows;
COMMENT ON FUNCTION nearest(regclass, int, anyelement, text, text, text, text, int, bool) IS
    'for each row the k rows whose texts are the most similar to it, for ids of the given type';

-- Where rows as they were seen are, if not beside the marks of those that wait. A job that is there has them beside these; the next
-- refresh moves them, where they are to be elsewhere.
ALTER TABLE neardup_all_jobs ADD COLUMN hashes pg_catalog.regclass;
COMMENT ON TABLE neardup_all_jobs IS 'internal: the jobs of neardup_watch; seen: what the definition of the relation was like when all of its rows were compared last; hashes: where rows as they were seen are, if not in state';
CREATE OR REPLACE VIEW neardup_jobs WITH (security_barrier) AS
    SELECT j.docs, j.pairs, j.clusters, j.state, j.lists, j.settings, j.created, j.hashes
    FROM neardup_all_jobs j
    WHERE pg_catalog.pg_has_role((SELECT c.relowner FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) j.docs::pg_catalog.oid),
        'USAGE'::pg_catalog.text);

-- What only the server and neardup's own statements call, in a schema that is in no search path. Body: src/pg/functions/internal.rs.

CREATE SCHEMA neardup_internal;
COMMENT ON SCHEMA neardup_internal IS 'functions of neardup that users do not call: they implement types, operators, indexes and jobs';
-- Statements of jobs call some of them as the owner of the watched table.
GRANT USAGE ON SCHEMA neardup_internal TO PUBLIC;

-- The server moves an extension only if all of its objects are in one schema.
CREATE FUNCTION neardup_moves() RETURNS event_trigger
    AS 'MODULE_PATHNAME', 'neardup_moves'
    LANGUAGE c VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION neardup_moves() IS
    'internal: before ALTER EXTENSION neardup SET SCHEMA moves the internal functions to the others, and back afterwards';
CREATE EVENT TRIGGER neardup_moves_before ON ddl_command_start WHEN TAG IN ('ALTER EXTENSION') EXECUTE FUNCTION neardup_moves();
COMMENT ON EVENT TRIGGER neardup_moves_before IS 'ALTER EXTENSION neardup SET SCHEMA: gathers all functions in one schema';
CREATE EVENT TRIGGER neardup_moves_after ON ddl_command_end WHEN TAG IN ('ALTER EXTENSION') EXECUTE FUNCTION neardup_moves();
COMMENT ON EVENT TRIGGER neardup_moves_after IS 'ALTER EXTENSION neardup SET SCHEMA: internal functions out of sight again';

-- Functions of types, operators, casts, indexes and aggregates, and what a comment calls internal. The trigger function of jobs
-- stays with the tables of jobs: dumps of 0.1.0 name them with their schema.
DO $$
DECLARE
    moved pg_catalog.text;
BEGIN
    FOR moved IN
        SELECT p.oid::pg_catalog.regprocedure::pg_catalog.text
        FROM pg_catalog.pg_extension e
            JOIN pg_catalog.pg_depend d ON d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid
                AND d.refobjid OPERATOR(pg_catalog.=) e.oid AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid
            JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) d.objid
        WHERE e.extname OPERATOR(pg_catalog.=) 'neardup'::pg_catalog.name AND p.proname OPERATOR(pg_catalog.<>) 'neardup_changed'::pg_catalog.name
            AND (pg_catalog.starts_with(pg_catalog.obj_description(p.oid, 'pg_proc'::pg_catalog.name), 'internal: '::pg_catalog.text)
                OR EXISTS (SELECT FROM pg_catalog.pg_type t WHERE p.oid OPERATOR(pg_catalog.=) ANY (ARRAY[t.typinput, t.typoutput, t.typreceive, t.typsend]::pg_catalog.oid[]))
                OR EXISTS (SELECT FROM pg_catalog.pg_operator o WHERE p.oid OPERATOR(pg_catalog.=) ANY (ARRAY[o.oprcode, o.oprrest, o.oprjoin]::pg_catalog.oid[]))
                OR EXISTS (SELECT FROM pg_catalog.pg_amproc s WHERE s.amproc::pg_catalog.oid OPERATOR(pg_catalog.=) p.oid)
                OR EXISTS (SELECT FROM pg_catalog.pg_am a WHERE a.amhandler::pg_catalog.oid OPERATOR(pg_catalog.=) p.oid)
                OR EXISTS (SELECT FROM pg_catalog.pg_cast c WHERE c.castfunc OPERATOR(pg_catalog.=) p.oid)
                OR EXISTS (SELECT FROM pg_catalog.pg_proc f WHERE f.prosupport::pg_catalog.oid OPERATOR(pg_catalog.=) p.oid))
    LOOP
        EXECUTE pg_catalog.format('ALTER ROUTINE %s SET SCHEMA neardup_internal'::pg_catalog.text, moved);
    END LOOP;
END
$$;

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
        UNION ALL
        SELECT pg_catalog.format('ALTER OPERATOR %s OWNER TO %I'::pg_catalog.text, m.objid::pg_catalog.regoperator, keeper_name)
        FROM mine m WHERE m.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_operator'::pg_catalog.regclass::pg_catalog.oid
        UNION ALL
        SELECT pg_catalog.format('ALTER OPERATOR CLASS %I.%I USING %I OWNER TO %I'::pg_catalog.text, n.nspname, c.opcname, a.amname, keeper_name)
        FROM mine m
            JOIN pg_catalog.pg_opclass c ON c.oid OPERATOR(pg_catalog.=) m.objid
            JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.opcnamespace
            JOIN pg_catalog.pg_am a ON a.oid OPERATOR(pg_catalog.=) c.opcmethod
        WHERE m.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_opclass'::pg_catalog.regclass::pg_catalog.oid
        UNION ALL
        SELECT pg_catalog.format('ALTER OPERATOR FAMILY %I.%I USING %I OWNER TO %I'::pg_catalog.text, n.nspname, f.opfname, a.amname, keeper_name)
        FROM mine m
            JOIN pg_catalog.pg_opfamily f ON f.oid OPERATOR(pg_catalog.=) m.objid
            JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) f.opfnamespace
            JOIN pg_catalog.pg_am a ON a.oid OPERATOR(pg_catalog.=) f.opfmethod
        WHERE m.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_opfamily'::pg_catalog.regclass::pg_catalog.oid
        UNION ALL
        SELECT pg_catalog.format('ALTER SCHEMA %s OWNER TO %I'::pg_catalog.text, m.objid::pg_catalog.regnamespace, keeper_name)
        FROM mine m WHERE m.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_namespace'::pg_catalog.regclass::pg_catalog.oid
        UNION ALL
        -- Event triggers belong to superusers only.
        SELECT pg_catalog.format('ALTER EVENT TRIGGER %I OWNER TO %I'::pg_catalog.text, t.evtname, keeper_name)
        FROM mine m
            JOIN pg_catalog.pg_event_trigger t ON t.oid OPERATOR(pg_catalog.=) m.objid
            JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) keeper AND r.rolsuper
        WHERE m.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_event_trigger'::pg_catalog.regclass::pg_catalog.oid
    LOOP
        EXECUTE change;
    END LOOP;
END
$$;
