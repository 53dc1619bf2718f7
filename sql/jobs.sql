-- Jobs that keep pairs and clusters up to date: src/pg/jobs.
--
-- The registry are tables that only their owner, who is the extension's, and for dumps the owner of the database may touch;
-- views show each user what concerns relations of their own. The functions work on the registry as the owner of the
-- extension, and on the users' tables as the owner of the watched relation, with pg_catalog as the only schema in the
-- search path.

-- An argument of this type tells an internal function of jobs from any that others declare: these may not use the type, so
-- none of theirs is as good a match for a call, nor does one make it ambiguous.
CREATE TYPE neardup_internal AS ENUM ();
COMMENT ON TYPE neardup_internal IS 'internal: an argument of functions that users do not call; NULL';
REVOKE USAGE ON TYPE neardup_internal FROM PUBLIC;

CREATE TABLE neardup_all_jobs (
    docs pg_catalog.regclass PRIMARY KEY,
    pairs pg_catalog.regclass NOT NULL,
    clusters pg_catalog.regclass NOT NULL,
    state pg_catalog.regclass NOT NULL,
    lists pg_catalog.regclass,
    settings pg_catalog.jsonb NOT NULL,
    created pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.now(),
    seen pg_catalog.text,
    hashes pg_catalog.regclass
);
COMMENT ON TABLE neardup_all_jobs IS 'internal: the jobs of neardup_watch; seen: what the definition of the relation was like when all of its rows were compared last; hashes: where rows as they were seen are, if not in state';
CREATE TABLE neardup_all_history (
    docs pg_catalog.regclass NOT NULL,
    started pg_catalog.timestamptz NOT NULL,
    finished pg_catalog.timestamptz,
    status pg_catalog.text NOT NULL,
    batches pg_catalog.int4 NOT NULL,
    rows pg_catalog.int8 NOT NULL,
    pairs_removed pg_catalog.int8 NOT NULL,
    pairs_added pg_catalog.int8 NOT NULL,
    total pg_catalog.int8,
    PRIMARY KEY (docs, started)
);
COMMENT ON TABLE neardup_all_history IS 'internal: the runs of neardup_refresh';
-- Marks are only ever added by writers, so that none waits for another one or for a refresh.
CREATE TABLE neardup_unnoted (
    docs pg_catalog.oid NOT NULL
);
COMMENT ON TABLE neardup_unnoted IS 'internal: relations with changes that a trigger could not note row by row, so that the next refresh compares all rows';
SELECT pg_catalog.pg_extension_config_dump('neardup_all_jobs'::pg_catalog.regclass, ''::pg_catalog.text);
SELECT pg_catalog.pg_extension_config_dump('neardup_all_history'::pg_catalog.regclass, ''::pg_catalog.text);
-- The owner of the database dumps and restores it. What a restore puts into the registry is not trusted: src/pg/jobs/tables.
GRANT SELECT, INSERT ON neardup_all_jobs, neardup_all_history TO pg_database_owner;

CREATE VIEW neardup_jobs WITH (security_barrier) AS
    SELECT j.docs, j.pairs, j.clusters, j.state, j.lists, j.settings, j.created, j.hashes
    FROM neardup_all_jobs j
    WHERE pg_catalog.pg_has_role((SELECT c.relowner FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) j.docs::pg_catalog.oid),
        'USAGE'::pg_catalog.text);
COMMENT ON VIEW neardup_jobs IS 'jobs of neardup_watch on relations of roles that the reader is a member of: the relation, its job tables, and the arguments';
CREATE VIEW neardup_history WITH (security_barrier) AS
    SELECT r.docs, r.started, r.finished, r.status, r.batches, r.rows, r.pairs_removed, r.pairs_added
    FROM neardup_all_history r
    WHERE pg_catalog.pg_has_role((SELECT c.relowner FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) r.docs::pg_catalog.oid),
        'USAGE'::pg_catalog.text);
COMMENT ON VIEW neardup_history IS 'the last runs of neardup_refresh, neardup.keep_history of each job, on relations of roles that the reader is a member of: running, done, or interrupted; how many rows were new, changed or deleted, and what became of pairs';
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
                AND COALESCE(o.started OPERATOR(pg_catalog.>=) a.query_start, true) AS is_it FROM neardup_all_history o
            WHERE o.docs OPERATOR(pg_catalog.=) j.docs ORDER BY o.started DESC LIMIT 1) r ON true
        LEFT JOIN LATERAL (SELECT o.finished FROM neardup_all_history o
            WHERE o.docs OPERATOR(pg_catalog.=) j.docs AND o.status OPERATOR(pg_catalog.=) 'done'::pg_catalog.text ORDER BY o.started DESC LIMIT 1) d ON true
    WHERE pg_catalog.pg_has_role((SELECT c.relowner FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) j.docs::pg_catalog.oid),
        'USAGE'::pg_catalog.text);
COMMENT ON VIEW neardup_progress IS 'where the refresh of each job is, or how its last one ended, for relations of roles that the reader is a member of';
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
        LEFT JOIN LATERAL (SELECT o.finished OPERATOR(pg_catalog.-) o.started AS took FROM neardup_all_history o
            WHERE o.docs OPERATOR(pg_catalog.=) p.docs AND o.status OPERATOR(pg_catalog.=) 'done'::pg_catalog.text ORDER BY o.started DESC LIMIT 1) l ON true;
COMMENT ON VIEW neardup_activity IS 'calls that are running and jobs: what the queries that the reader may see are at, and the refreshes of relations of roles that the reader is a member of, with their last runs';
GRANT SELECT ON neardup_jobs, neardup_history, neardup_progress, neardup_activity TO PUBLIC;

CREATE FUNCTION neardup_changed() RETURNS pg_catalog.trigger
    AS 'MODULE_PATHNAME', 'neardup_changed'
    LANGUAGE c VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION neardup_changed() IS 'internal: notes the ids of changed rows for neardup_refresh; a trigger of neardup_watch';

CREATE FUNCTION neardup_watch(
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
    clustering pg_catalog.text DEFAULT 'connected',
    max_cluster_size pg_catalog.int4 DEFAULT NULL,
    detect pg_catalog.text DEFAULT NULL,
    within pg_catalog.text DEFAULT NULL,
    across pg_catalog.text DEFAULT NULL
) RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME', 'neardup_watch'
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_watch(
    regclass, float8, jsonb, text, text, text, text, int, bool, text, text, int, text, text, text
) IS 'sets up a job that keeps the near duplicates of a relation in tables beside it';

CREATE FUNCTION neardup_unwatch(docs pg_catalog.regclass, keep_results pg_catalog.bool DEFAULT false) RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME', 'neardup_unwatch'
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_unwatch(regclass, bool) IS 'ends a job and drops its tables, or only what is not its results';

CREATE FUNCTION neardup_refresh_step(docs pg_catalog.regclass, started pg_catalog.timestamptz, batch_rows pg_catalog.int4,
    internal neardup_internal DEFAULT NULL) RETURNS pg_catalog.text
    AS 'MODULE_PATHNAME', 'neardup_refresh_step'
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_refresh_step(regclass, timestamptz, int, neardup_internal) IS
    'internal: one batch of neardup_refresh; more, done, or skipped';

-- Thin: each step is a transaction of its own. A function in C that commits would have to keep up with every version of
-- the server.
CREATE PROCEDURE neardup_refresh(docs pg_catalog.regclass, INOUT status pg_catalog.text DEFAULT NULL, batch_rows pg_catalog.int4 DEFAULT 1000000)
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
COMMENT ON PROCEDURE neardup_refresh(regclass, text, int) IS
    'brings the pairs and clusters of a watched relation up to date, in batches that commit; status: done, or skipped where another session is at it';

-- What statements of a refresh call.
CREATE FUNCTION neardup_job_hash(content pg_catalog.text, internal neardup_internal DEFAULT NULL) RETURNS pg_catalog.uuid
    AS 'MODULE_PATHNAME', 'neardup_job_hash' LANGUAGE c IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_job_hash(text, neardup_internal) IS 'internal: a hash of a row, to notice changes by';
-- Of any columns, which the statement names; the library checks their types.
CREATE FUNCTION neardup_rows(query pg_catalog.text, internal neardup_internal DEFAULT NULL) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'neardup_rows' LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_rows(text, neardup_internal) IS 'internal: rows that the library computes for one of its own statements; an error in any other statement';
