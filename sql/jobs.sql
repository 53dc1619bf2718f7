-- Jobs that keep pairs and clusters up to date. Bodies of C functions: src/pg/jobs.
--
-- neardup_job (C) checks that the caller owns the relation, and runs the functions neardup_job_* below by SPI, with
-- pg_catalog as the only schema in the search path: those that keep books as the owner of the extension, those that work
-- on the user's tables as their owner. All SQL on these is made of what C code found out about the job: names and
-- operators come quoted and with their schemas.

CREATE TABLE neardup_jobs (
    docs regclass PRIMARY KEY,
    pairs regclass NOT NULL,
    clusters regclass NOT NULL,
    state regclass NOT NULL,
    lists regclass,
    settings jsonb NOT NULL,
    created timestamptz NOT NULL DEFAULT pg_catalog.now()
);
COMMENT ON TABLE neardup_jobs IS 'jobs of neardup_watch: the relation, its job tables, and the arguments';
CREATE TABLE neardup_runs (
    docs regclass NOT NULL,
    started timestamptz NOT NULL,
    finished timestamptz,
    status text NOT NULL,
    batches int NOT NULL,
    rows bigint NOT NULL,
    pairs_removed bigint NOT NULL,
    pairs_added bigint NOT NULL,
    PRIMARY KEY (docs, started)
);
COMMENT ON TABLE neardup_runs IS 'every run of neardup_refresh: running, done, or interrupted; how many rows were new, changed or deleted, and what became of pairs';
SELECT pg_catalog.pg_extension_config_dump('neardup_jobs', '');
SELECT pg_catalog.pg_extension_config_dump('neardup_runs', '');
GRANT SELECT ON neardup_jobs, neardup_runs TO PUBLIC;

CREATE FUNCTION neardup_job(action text, docs regclass, arguments jsonb) RETURNS text
    AS 'MODULE_PATHNAME', 'neardup_job'
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_job(text, regclass, jsonb) IS 'internal: does the work of neardup_watch, neardup_refresh and neardup_unwatch';

CREATE FUNCTION neardup_changed() RETURNS trigger
    AS 'MODULE_PATHNAME', 'neardup_changed'
    LANGUAGE c VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION neardup_changed() IS 'internal: notes the ids of changed rows for neardup_refresh; a trigger of neardup_watch';

CREATE FUNCTION neardup_watch(
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
    clustering text DEFAULT 'connected',
    max_cluster_size int DEFAULT NULL,
    detect text DEFAULT NULL
) RETURNS void
    LANGUAGE sql VOLATILE PARALLEL UNSAFE COST 10000
BEGIN ATOMIC
    SELECT neardup_job('watch', docs, jsonb_build_object('threshold', threshold, 'options', options, 'id_column', id_column,
        'text_column', text_column, 'method', method, 'tokenizer', tokenizer, 'shingle', shingle, 'multiset', multiset,
        'site_column', site_column, 'clustering', clustering, 'max_cluster_size', max_cluster_size, 'detect', detect));
END;
COMMENT ON FUNCTION neardup_watch(
    regclass, float8, jsonb, text, text, text, text, int, bool, text, text, int, text
) IS 'sets up a job that keeps the near duplicates of a relation in tables beside it';

CREATE FUNCTION neardup_unwatch(docs regclass, keep_results bool DEFAULT false) RETURNS void
    LANGUAGE sql VOLATILE PARALLEL UNSAFE COST 10000
BEGIN ATOMIC
    SELECT neardup_job('unwatch', docs, jsonb_build_object('keep_results', keep_results));
END;
COMMENT ON FUNCTION neardup_unwatch(regclass, bool) IS 'ends a job and drops its tables, or only what is not its results';

-- Thin: each step is a transaction of its own.
CREATE PROCEDURE neardup_refresh(docs regclass, INOUT status text DEFAULT NULL, batch_rows int DEFAULT 1000000)
    LANGUAGE plpgsql
AS $$
DECLARE
    step text;
    began pg_catalog.timestamptz := pg_catalog.clock_timestamp();
BEGIN
    SELECT pg_catalog.format('SELECT %I.neardup_job(''step'', $1, $2)', n.nspname) INTO STRICT step
    FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
    WHERE e.extname OPERATOR(pg_catalog.=) 'neardup';
    LOOP
        EXECUTE step INTO status USING docs,
            pg_catalog.jsonb_build_object('started', began, 'batch_rows', batch_rows);
        COMMIT;
        EXIT WHEN status OPERATOR(pg_catalog.<>) 'more';
    END LOOP;
END
$$;
COMMENT ON PROCEDURE neardup_refresh(regclass, text, int) IS
    'brings the pairs and clusters of a watched relation up to date, in batches that commit; status: done, or skipped where another session is at it';

-- Books: run as the owner of the extension.
CREATE FUNCTION neardup_job_find(a jsonb) RETURNS jsonb LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    found jsonb;
BEGIN
    -- A watched relation that was dropped leaves its row behind.
    EXECUTE format('DELETE FROM %s.neardup_jobs j WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = j.docs)', a->>'schema');
    EXECUTE format('SELECT j.settings || jsonb_build_object(''docs'', j.docs::text, ''pairs'', j.pairs::text, ''clusters'', j.clusters::text, ''state'', j.state::text, ''lists'', j.lists::text,
            ''missing'', (SELECT string_agg(n, '', '')
                FROM (VALUES (j.pairs, ''pairs''), (j.clusters, ''clusters''), (j.state, ''neardup''), (j.lists, ''neardup_lists'')) t(o, n)
                WHERE t.o IS NOT NULL AND NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = t.o)))
        FROM %s.neardup_jobs j WHERE docs = $1 %s', a->>'schema', a->>'lock') INTO found USING (a->>'docs')::oid;
    IF found IS NULL AND a->>'lock' <> '' THEN
        EXECUTE format('SELECT ''{"skipped": true}'' FROM %s.neardup_jobs WHERE docs = $1', a->>'schema') INTO found USING (a->>'docs')::oid;
    END IF;
    RETURN found;
END
$$;
COMMENT ON FUNCTION neardup_job_find(jsonb) IS 'internal: the job of a relation';

CREATE FUNCTION neardup_job_add(a jsonb) RETURNS jsonb LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    EXECUTE format('INSERT INTO %s.neardup_jobs(docs, pairs, clusters, state, lists, settings) VALUES ($1, $2, $3, $4, $5, $6)', a->>'schema')
        USING (a->>'docs')::oid::regclass, (a->>'pairs')::regclass, (a->>'clusters')::regclass, (a->>'state')::regclass,
            CASE a->'settings'->>'mode' WHEN 'sets' THEN (a->>'lists')::regclass END, a->'settings';
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION neardup_job_add(jsonb) IS 'internal: adds a job';

CREATE FUNCTION neardup_job_remove(a jsonb) RETURNS jsonb LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    EXECUTE format('DELETE FROM %s.neardup_jobs WHERE docs = $1', a->>'schema') USING (a->>'docs')::oid;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION neardup_job_remove(jsonb) IS 'internal: removes a job';

CREATE FUNCTION neardup_job_log(a jsonb) RETURNS jsonb LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    -- Nobody else is at it: what runs no more was interrupted.
    EXECUTE format('UPDATE %s.neardup_runs SET status = ''interrupted'' WHERE docs = $1 AND status = ''running'' AND started <> $2', a->>'schema')
        USING (a->>'docs')::oid, (a->>'started')::timestamptz;
    EXECUTE format('INSERT INTO %s.neardup_runs AS r VALUES ($1, $2, CASE WHEN $3 THEN NULL ELSE clock_timestamp() END,
            CASE WHEN $3 THEN ''running'' ELSE ''done'' END, ($4 > 0)::int, $4, $5, $6)
        ON CONFLICT (docs, started) DO UPDATE SET finished = excluded.finished, status = excluded.status,
            batches = r.batches + excluded.batches, rows = r.rows + excluded.rows,
            pairs_removed = r.pairs_removed + excluded.pairs_removed, pairs_added = r.pairs_added + excluded.pairs_added', a->>'schema')
        USING (a->>'docs')::oid::regclass, (a->>'started')::timestamptz, (a->>'more')::bool, (a->>'rows')::bigint, (a->>'removed')::bigint,
            (a->>'added')::bigint;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION neardup_job_log(jsonb) IS 'internal: logs a step of a run';

-- What a watched method is like, and the work that is done in C.
CREATE FUNCTION neardup_job_check(docs regclass, threshold float8, id_type regtype, options jsonb, id_column text, text_column text,
    method text, tokenizer text, shingle int, multiset bool, max_pairs bigint, site_column text, clustering text, max_cluster_size int) RETURNS text
    AS 'MODULE_PATHNAME', 'neardup_job_check' LANGUAGE c VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION neardup_job_check(
    regclass, float8, regtype, jsonb, text, text, text, text, int, bool, bigint, text, text, int
) IS 'internal: checks the arguments of a job; sets, pairs, whole, or signatures: what can be brought up to date of its method';
CREATE FUNCTION neardup_job_hash(content text) RETURNS uuid
    AS 'MODULE_PATHNAME', 'neardup_job_hash' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION neardup_job_hash(text) IS 'internal: a hash of a row, to notice changes by';
CREATE FUNCTION neardup_job_lists(docs regclass, threshold float8, id_type regtype, options jsonb, id_column text, text_column text,
    method text, tokenizer text, shingle int, multiset bool, max_pairs bigint, site_column text, state regclass, rows text, lists regclass,
    first_segment bigint)
    RETURNS TABLE(kind "char", segment bigint, part int, documents int, data bytea, ids text[])
    AS 'MODULE_PATHNAME', 'neardup_job_lists' LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_job_lists(
    regclass, float8, regtype, jsonb, text, text, text, text, int, bool, bigint, text, regclass, text, regclass, bigint
) IS 'internal: outlines of rows, batch or known by a table of state or all, as rows of the table of lists; of kind ! where those are damaged';
CREATE FUNCTION neardup_job_merge(lists regclass)
    RETURNS TABLE(kind "char", segment bigint, part int, documents int, data bytea, ids text[])
    AS 'MODULE_PATHNAME', 'neardup_job_merge' LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_job_merge(regclass) IS 'internal: small segments of a table of lists as one; a row of kind ! where it is damaged';
-- Not polymorphic, so that no planted function is a better match; the caller says of which type the columns of ids are.
CREATE FUNCTION neardup_job_pairs(docs regclass, threshold float8, id_type regtype, options jsonb, id_column text, text_column text,
    method text, tokenizer text, shingle int, multiset bool, max_pairs bigint, site_column text,
    state regclass, changed text, others text, lists regclass, new_segment bigint)
    RETURNS SETOF record -- left_id, right_id, similarity float8, and the columns of the table of lists
    AS 'MODULE_PATHNAME', 'neardup_job_pairs' LANGUAGE c VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION neardup_job_pairs(
    regclass, float8, regtype, jsonb, text, text, text, text, int, bool, bigint, text, regclass, text, text, regclass, bigint
) IS 'internal: pairs of a changed row and any other one, and the outlines of changed rows as rows of the table of lists';
CREATE FUNCTION neardup_job_clusters(pairs text, id_type regtype, max_cluster_size int, clustering text, relation regclass)
    RETURNS SETOF record -- cluster_id, id, representative bool
    AS 'MODULE_PATHNAME', 'neardup_job_clusters' LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_job_clusters(text, regtype, int, text, regclass) IS 'internal: clusters of the pairs that a query on a relation gives';
CREATE FUNCTION neardup_job_grouping(docs regclass, threshold float8, id_type regtype, options jsonb, id_column text, text_column text,
    method text, tokenizer text, shingle int, multiset bool, max_pairs bigint, site_column text, clustering text)
    RETURNS SETOF record -- cluster_id, id, representative bool
    AS 'MODULE_PATHNAME', 'neardup_job_grouping' LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION neardup_job_grouping(
    regclass, float8, regtype, jsonb, text, text, text, text, int, bool, bigint, text, text
) IS 'internal: clusters that a method makes of signatures';

-- Work: runs as the owner of the relation.
CREATE FUNCTION neardup_job_set_up(a jsonb) RETURNS jsonb LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    s jsonb := a->'settings';
    id text := a->>'column_type';
    kind "char";
    plain bool;
    mode text;
    detect text := s->>'detect';
    name text;
BEGIN
    SELECT c.relkind, c.relkind = 'r' AND NOT c.relispartition
        AND NOT EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = c.oid OR i.inhrelid = c.oid)
    INTO kind, plain FROM pg_class c WHERE c.oid = (a->>'docs')::oid;
    IF detect IS NULL THEN
        detect := CASE WHEN plain THEN 'triggers' ELSE 'compare' END;
    ELSIF detect NOT IN ('triggers', 'compare') THEN
        RAISE invalid_parameter_value USING MESSAGE = format('unknown way to detect changes "%s"', detect),
            HINT = 'Ways: triggers, compare.';
    ELSIF detect = 'triggers' AND NOT plain THEN
        RAISE invalid_parameter_value USING MESSAGE = 'triggers see every change of plain tables only',
            HINT = 'Leave detect out, or say detect => ''compare''.';
    END IF;
    EXECUTE format('SELECT %s.neardup_job_check(%s, %L, %L::int)', a->>'schema',
        replace(a->>'call', format('::float8, NULL::%s, ', s->>'id_type'), format('::float8, %L::regtype, ', s->>'id_type')), s->>'clustering', s->>'max_cluster_size')
        INTO mode;
    FOREACH name IN ARRAY ARRAY['pairs', 'clusters', 'state', 'lists'] LOOP
        IF to_regclass(a->>name) IS NOT NULL THEN
            RAISE duplicate_table USING MESSAGE = format('relation %s already exists, and the job needs a table of this name', a->>name),
                HINT = 'Rename or drop it, or watch a view of another name.';
        END IF;
    END LOOP;
    EXECUTE format('CREATE TABLE %s (left_id %s NOT NULL, right_id %2$s NOT NULL, similarity float8 NOT NULL, PRIMARY KEY (left_id, right_id))', a->>'pairs', id);
    EXECUTE format('CREATE INDEX ON %s (right_id)', a->>'pairs');
    EXECUTE format('COMMENT ON TABLE %s IS %L', a->>'pairs', format('near duplicates of %s, kept by neardup_refresh', a->>'shown'));
    EXECUTE format('CREATE TABLE %s (cluster_id %s NOT NULL, id %2$s NOT NULL, representative bool NOT NULL, PRIMARY KEY (id, cluster_id))', a->>'clusters', id);
    EXECUTE format('CREATE INDEX ON %s (cluster_id)', a->>'clusters');
    EXECUTE format('COMMENT ON TABLE %s IS %L', a->>'clusters', format('clusters of near duplicates of %s, kept by neardup_refresh', a->>'shown'));
    -- A row of the relation as it was last seen (change is NULL), or a mark: 1 waits for a refresh; within one, 0 is
    -- in its batch, and -1 and -2 are near such a row before and after.
    EXECUTE format('CREATE TABLE %s (id %s NOT NULL, hash uuid, change smallint)', a->>'state', id);
    EXECUTE format('CREATE UNIQUE INDEX ON %s (id) WHERE change IS NULL', a->>'state');
    EXECUTE format('CREATE INDEX ON %s (change, id) WHERE change IS NOT NULL', a->>'state');
    EXECUTE format('COMMENT ON TABLE %s IS %L', a->>'state', format('what neardup_refresh knows of the rows of %s', a->>'shown'));
    -- Outlines of all rows, to find those that may be similar to a changed one without reading them: src/pg/jobs/near.rs.
    IF mode = 'sets' THEN
        EXECUTE format('CREATE TABLE %s (kind "char" NOT NULL, segment bigint NOT NULL, part int NOT NULL, documents int, data bytea, ids text[],
            PRIMARY KEY (segment, kind, part))', a->>'lists');
        EXECUTE format('ALTER TABLE %s ALTER data SET STORAGE external, ALTER ids SET STORAGE external', a->>'lists');
        -- A part is read with its row.
        EXECUTE format('ALTER TABLE %s SET (toast_tuple_target = 8160)', a->>'lists');
        EXECUTE format('COMMENT ON TABLE %s IS %L', a->>'lists', format('what neardup_refresh looks changed rows of %s up in', a->>'shown'));
    END IF;
    IF detect = 'triggers' THEN
        EXECUTE format('CREATE TRIGGER neardup_insert AFTER INSERT ON %s REFERENCING NEW TABLE AS new_rows
            FOR EACH STATEMENT EXECUTE FUNCTION %s.neardup_changed()', a->>'qualified', a->>'schema');
        EXECUTE format('CREATE TRIGGER neardup_update AFTER UPDATE ON %s REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
            FOR EACH STATEMENT EXECUTE FUNCTION %s.neardup_changed()', a->>'qualified', a->>'schema');
        EXECUTE format('CREATE TRIGGER neardup_delete AFTER DELETE ON %s REFERENCING OLD TABLE AS old_rows
            FOR EACH STATEMENT EXECUTE FUNCTION %s.neardup_changed()', a->>'qualified', a->>'schema');
        EXECUTE format('CREATE TRIGGER neardup_truncate AFTER TRUNCATE ON %s
            FOR EACH STATEMENT EXECUTE FUNCTION %s.neardup_changed()', a->>'qualified', a->>'schema');
    END IF;
    RETURN s || jsonb_build_object('detect', detect, 'mode', mode);
END
$$;
COMMENT ON FUNCTION neardup_job_set_up(jsonb) IS 'internal: makes the tables and triggers of a job';

CREATE FUNCTION neardup_job_take_down(a jsonb) RETURNS jsonb LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    name text;
BEGIN
    IF a->>'detect' = 'triggers' THEN
        FOREACH name IN ARRAY ARRAY['insert', 'update', 'delete', 'truncate'] LOOP
            EXECUTE format('DROP TRIGGER IF EXISTS neardup_%s ON %s', name, a->>'docs');
        END LOOP;
    END IF;
    FOREACH name IN ARRAY CASE WHEN (a->>'keep_results')::bool THEN ARRAY['state', 'lists'] ELSE ARRAY['pairs', 'clusters', 'state', 'lists'] END LOOP
        -- One that was dropped before shows as a number.
        IF a->>name !~ '^\d+$' THEN
            EXECUTE format('DROP TABLE IF EXISTS %s', a->>name);
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION neardup_job_take_down(jsonb) IS 'internal: drops the tables and triggers of a job';

CREATE FUNCTION neardup_job_step(a jsonb) RETURNS jsonb LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    docs text := a->>'docs';
    pairs text := a->>'pairs';
    clusters text := a->>'clusters';
    state text := a->>'state';
    lists text := a->>'lists';
    eq text := a->>'equals';
    schema text := a->>'schema';
    arguments text := a->>'call';
    id text := a->>'id';
    -- Whether clusters are made of signatures, not of pairs; then all is made anew.
    signatures constant bool := a->>'mode' = 'signatures';
    mode constant text := CASE WHEN signatures THEN 'whole' ELSE a->>'mode' END;
    -- Nobody looks at hashes where triggers tell.
    source text := format('(SELECT %s AS id, %s AS hash FROM %s d WHERE %1$s IS NOT NULL)', id,
        CASE a->>'detect' WHEN 'compare' THEN format('%s.neardup_job_hash(%s)', schema, a->>'content') ELSE 'NULL::uuid' END, docs);
    -- Rows that one can get to by pairs from those of certain marks.
    reach constant text := 'INSERT INTO %1$s(id, change) SELECT DISTINCT ON (r.id) r.id, %4$s FROM (WITH RECURSIVE reach(id) AS (
            SELECT id FROM %1$s WHERE change = ANY (%5$L::smallint[])
        UNION
            SELECT n.id FROM reach, LATERAL (SELECT p.right_id FROM %2$s p WHERE p.left_id %3$s reach.id
                UNION ALL SELECT p.left_id FROM %2$s p WHERE p.right_id %3$s reach.id) n(id)
        ) SELECT id FROM reach) r';
    -- A method that makes all pairs anew takes all changes at once.
    most_rows bigint := CASE mode WHEN 'whole' THEN NULL ELSE (a->>'batch_rows')::bigint END;
    known bigint := 0;
    batch bigint;
    removed bigint := 0;
    added bigint := 0;
    counted bigint;
    segment bigint;
    unknown bool := false;
    everything bool := false;
    alone bool;
    more bool;
    most bool;
    whole_clusters bool;
    -- As the functions in C want them: the type of ids by itself, and what they give.
    join_arguments text := replace(a->>'call', format('::float8, NULL::%s, ', a->>'id_type'), format('::float8, %L::regtype, ', a->>'id_type'));
    as_pairs text := format('AS f(left_id %1$s, right_id %1$s, similarity float8, kind "char", segment bigint, part int, documents int, data bytea, ids text[])', a->>'id_type');
    as_clusters text := format('AS f(cluster_id %1$s, id %1$s, representative bool)', a->>'id_type');
    side text;
    had_pairs bool;
    -- Whether changed rows are few enough to be looked up in the lists; then, their partners, and whether they are there.
    few bool;
    near text;
    listed bool := false;
    damaged bool;
    partners text;
    before text;
BEGIN
    -- Statements are short: to compile them would take longer.
    PERFORM set_config('jit', 'off', true);
    IF (a->>'first')::bool THEN
        EXECUTE format('SELECT NOT EXISTS (SELECT FROM %s WHERE change IS NULL)', state) INTO unknown;
        IF unknown THEN
            EXECUTE format('SELECT count(*) FROM (SELECT FROM %s d LIMIT $1) d', docs) INTO counted USING most_rows + 1;
            everything := most_rows IS NULL OR counted <= most_rows;
        END IF;
        IF unknown OR a->>'detect' = 'compare' THEN
            -- What waits is found again. Rows that change from now on wait for the next time.
            EXECUTE format('DELETE FROM %s WHERE change = 1', state);
        END IF;
        IF everything THEN
            EXECUTE format('INSERT INTO %s(id, hash) SELECT id, hash FROM %s d', state, source);
            GET DIAGNOSTICS batch = ROW_COUNT;
        ELSIF unknown OR a->>'detect' = 'compare' THEN
            -- Rows that are not the same as when they were last seen: where nobody tells, or nothing is known yet.
            EXECUTE format('INSERT INTO %1$s(id, change) SELECT coalesce(d.id, s.id), ($1 IS NOT NULL AND row_number() OVER () > $1)::int
                FROM %2$s d FULL JOIN (SELECT id, hash FROM %1$s WHERE change IS NULL) s ON d.id %3$s s.id
                WHERE d.id IS NULL OR s.id IS NULL OR d.hash IS DISTINCT FROM s.hash', state, source, eq) USING most_rows;
            GET DIAGNOSTICS batch = ROW_COUNT;
            batch := least(batch, most_rows);
        END IF;
    END IF;
    IF batch IS NULL THEN
        EXECUTE format('WITH taken AS (DELETE FROM %1$s WHERE ctid = ANY (ARRAY(SELECT ctid FROM %1$s WHERE change = 1 LIMIT $1)) RETURNING id)
            INSERT INTO %1$s(id, change) SELECT DISTINCT id, 0 FROM taken', state) USING most_rows;
        GET DIAGNOSTICS batch = ROW_COUNT;
    END IF;
    IF batch = 0 THEN
        RETURN '{"more": false, "rows": 0, "removed": 0, "added": 0}';
    END IF;
    IF NOT everything THEN
        -- How many rows there are is of interest only where they are not very many more, for what is the fastest way.
        EXECUTE format('SELECT CASE WHEN reltuples > $1 * 4 THEN $1 END FROM pg_class WHERE oid = %L::regclass', state) INTO known USING batch * 20 + 1;
        IF known IS NULL THEN
            EXECUTE format('SELECT count(*) FROM (SELECT FROM %s WHERE change IS NULL LIMIT $1) s', state) INTO known USING batch * 20 + 1;
        END IF;
    END IF;
    -- Where much has changed, clusters are made anew, and nobody looks for those that did not.
    most := mode = 'whole' OR batch * 5 > known;
    -- Where clusters are all that is connected, they say themselves how far a change reaches.
    whole_clusters := a->>'clustering' = 'connected' AND a->>'max_cluster_size' IS NULL;
    -- The planner does not know how many are in the batch: indexes are for few of them.
    PERFORM set_config('enable_nestloop', CASE WHEN batch > 1000 AND batch * 20 > known THEN 'off' ELSE 'on' END, true);
    IF NOT most AND NOT whole_clusters THEN
        EXECUTE format(reach, state, pairs, eq, -1, '{0}');
    END IF;
    IF everything OR mode = 'whole' THEN
        EXECUTE format('DELETE FROM %s', pairs);
        GET DIAGNOSTICS removed = ROW_COUNT;
    ELSE
        -- Connected clusters have all rows of pairs, so one look says whether rows of the batch have any.
        EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE id %s ANY (ARRAY(SELECT id FROM %s WHERE change = 0)))', clusters, eq, state)
            INTO had_pairs;
        FOREACH side IN ARRAY CASE WHEN had_pairs OR NOT whole_clusters THEN ARRAY['left_id', 'right_id'] ELSE '{}' END LOOP
            EXECUTE format('DELETE FROM %s WHERE %s %s ANY (ARRAY(SELECT id FROM %s WHERE change = 0))', pairs, side, eq, state);
            GET DIAGNOSTICS counted = ROW_COUNT;
            removed := removed + counted;
        END LOOP;
    END IF;
    IF everything THEN
        alone := true;
        counted := batch;
    ELSE
        EXECUTE format('DELETE FROM %1$s WHERE change IS NULL AND id %2$s ANY (ARRAY(SELECT id FROM %1$s WHERE change = 0))', state, eq);
        EXECUTE format('SELECT NOT EXISTS (SELECT FROM %s WHERE change IS NULL)', state) INTO alone;
        EXECUTE format('INSERT INTO %1$s(id, hash) SELECT d.id, d.hash FROM %2$s d JOIN %1$s b ON b.change = 0 AND b.id %3$s d.id',
            state, source, eq);
        GET DIAGNOSTICS counted = ROW_COUNT;
    END IF;
    IF mode = 'sets' AND NOT everything THEN
        -- From time to time lists are made anew: in the order of what words are rare now, and without rows that are no more.
        EXECUTE format('SELECT max(segment) + 1 FROM %1$s WHERE $1 + (SELECT sum(documents) FROM %1$s WHERE kind = ''s'')
            <= (SELECT 1000 + 3 * documents FROM %1$s WHERE kind = ''o'' AND part = $2)', lists) INTO segment
            USING counted, (a->>'lists_version')::int;
    END IF;
    few := mode = 'sets' AND NOT alone AND batch * 4 < known;
    IF mode = 'whole' THEN
        EXECUTE format('INSERT INTO %s SELECT * FROM %s.near_duplicates(%s)', pairs, schema, arguments);
        GET DIAGNOSTICS added = ROW_COUNT;
    ELSIF few THEN
        -- Changed rows are read once, for their pairs and for the lists, if these are not made anew.
        EXECUTE format('WITH found AS MATERIALIZED (SELECT * FROM %2$s.neardup_job_pairs(%3$s, %4$L, ''batch'', ''known'', %6$L, %7$L) %5$s),
                list AS (INSERT INTO %6$s SELECT kind, segment, part, documents, data, ids FROM found WHERE kind IS NOT NULL),
                put AS (INSERT INTO %1$s SELECT DISTINCT least(left_id, right_id), greatest(left_id, right_id), similarity FROM found
                    WHERE kind IS NULL ORDER BY 1, 2 RETURNING left_id, right_id),
                near AS (SELECT left_id AS id FROM put UNION SELECT right_id FROM put)
            SELECT (SELECT count(*) FROM put), %8$s, EXISTS (SELECT FROM found WHERE kind IS NOT NULL)',
            pairs, schema, join_arguments, state, as_pairs, lists, segment,
            CASE WHEN whole_clusters THEN '(SELECT array_agg(id) FROM near)' ELSE 'NULL' END) INTO added, near, listed;
    ELSE
        EXECUTE format('INSERT INTO %s SELECT least(left_id, right_id), greatest(left_id, right_id), similarity
            FROM %s.neardup_job_pairs(%s, %L, %L, %L, NULL, NULL) %s ON CONFLICT DO NOTHING', pairs, schema, join_arguments, state,
            -- All rows at once are joined with themselves; where most are new, all others are read.
            CASE WHEN NOT alone THEN 'batch' END,
            CASE WHEN NOT alone THEN 'known' WHEN NOT everything THEN 'batch' END, as_pairs);
        GET DIAGNOSTICS added = ROW_COUNT;
    END IF;
    IF mode = 'sets' THEN
        IF segment IS NOT NULL THEN
            IF NOT listed THEN
                EXECUTE format('INSERT INTO %1$s SELECT * FROM %2$s.neardup_job_lists(%3$s, %4$L, ''batch'', %1$L, %5$s)', lists, schema,
                    join_arguments, state, segment);
            END IF;
            -- A mark that they are damaged may be there already.
            EXECUTE format('INSERT INTO %1$s SELECT * FROM %2$s.neardup_job_merge(%1$L) ON CONFLICT DO NOTHING', lists, schema);
            EXECUTE format('DELETE FROM %1$s l USING %1$s x WHERE x.kind = ''x'' AND l.segment = x.segment', lists);
        END IF;
        EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE kind = ''!'')', lists) INTO damaged;
        IF segment IS NULL OR damaged THEN
            EXECUTE format('DELETE FROM %s', lists);
            EXECUTE format('INSERT INTO %s SELECT * FROM %s.neardup_job_lists(%s, %L, %L, NULL, 1)', lists, schema, join_arguments, state,
                CASE WHEN NOT everything THEN 'known' END);
        END IF;
    END IF;
    IF most THEN
        EXECUTE format('DELETE FROM %s', clusters);
    END IF;
    IF signatures THEN
        EXECUTE format('INSERT INTO %s SELECT * FROM %s.neardup_job_grouping(%s, %L) %s',
            clusters, schema, join_arguments, a->>'clustering', as_clusters);
    ELSIF most THEN
        EXECUTE format('INSERT INTO %s SELECT * FROM %s.neardup_job_clusters(%L, %L, %L, %L, %L) %s',
            clusters, schema, format('TABLE %s', pairs), a->>'id_type', a->>'max_cluster_size', a->>'clustering', pairs, as_clusters);
    ELSIF whole_clusters THEN
        -- All clusters that have rows of the batch or partners of these, as they were and as they are: most of their rows
        -- stay as they are.
        partners := CASE WHEN few THEN format('SELECT unnest(%L::%s[])', near, a->>'column_type')
            ELSE format('SELECT p.right_id FROM %1$s b JOIN %2$s p ON p.left_id %3$s b.id WHERE b.change = 0
                UNION SELECT p.left_id FROM %1$s b JOIN %2$s p ON p.right_id %3$s b.id WHERE b.change = 0', state, pairs, eq) END;
        -- Rows that had no pairs were in no cluster.
        before := CASE WHEN NOT had_pairs THEN format('SELECT id FROM near EXCEPT SELECT id FROM %s WHERE change = 0', state) ELSE 'TABLE near' END;
        EXECUTE format('WITH near(id) AS MATERIALIZED (SELECT id FROM %1$s WHERE change = 0 UNION %2$s),
            touched AS (SELECT DISTINCT c.cluster_id FROM (%3$s) n, LATERAL (SELECT cluster_id FROM %4$s c WHERE c.id %5$s n.id OFFSET 0) c),
            old AS MATERIALIZED (SELECT c.* FROM touched t,
                LATERAL (SELECT cluster_id, id, representative, ctid AS place FROM %4$s c WHERE c.cluster_id %5$s t.cluster_id OFFSET 0) c),
            new AS (SELECT * FROM %6$s.neardup_job_clusters(
                format(%7$L, (SELECT array_agg(id) FROM (SELECT id FROM near UNION ALL SELECT id FROM old) reached)), %8$L, NULL, NULL, %9$L) %10$s),
            differ AS MATERIALIZED (SELECT n.cluster_id, n.id, n.representative, o.place
                FROM new n FULL JOIN old o ON n.id %5$s o.id AND n.cluster_id %5$s o.cluster_id
                WHERE n.representative IS DISTINCT FROM o.representative),
            come AS (INSERT INTO %4$s SELECT cluster_id, id, representative FROM differ WHERE place IS NULL ORDER BY id, cluster_id),
            gone AS (DELETE FROM %4$s WHERE ctid = ANY (ARRAY(SELECT place FROM differ WHERE id IS NULL)))
            UPDATE %4$s SET representative = NOT representative WHERE ctid = ANY (ARRAY(SELECT place FROM differ WHERE id IS NOT NULL))',
            state, partners, before, clusters, eq, schema,
            format('SELECT left_id, right_id, similarity FROM %s WHERE left_id %s ANY (%%L::%s[])', pairs, eq, a->>'column_type'),
            a->>'id_type', pairs, as_clusters);
    ELSE
        EXECUTE format(reach, state, pairs, eq, -2, '{0,-1}');
        EXECUTE format('DELETE FROM %s c USING %s b WHERE b.change = -2 AND c.id %s b.id', clusters, state, eq);
        EXECUTE format('INSERT INTO %s SELECT * FROM %s.neardup_job_clusters(%L, %L, %L, %L, %L) %s',
            clusters, schema, format('SELECT p.left_id, p.right_id, p.similarity FROM %s b JOIN %s p ON p.left_id %s b.id WHERE b.change = -2', state, pairs, eq),
            a->>'id_type', a->>'max_cluster_size', a->>'clustering', pairs, as_clusters);
    END IF;
    EXECUTE format('DELETE FROM %s WHERE change <= 0', state);
    EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE change = 1)', state) INTO more;
    IF most THEN
        -- Or the next step would be planned as if the tables were empty.
        EXECUTE format('ANALYZE %s, %s, %s', state, pairs, clusters);
    END IF;
    RETURN jsonb_build_object('more', more, 'rows', batch, 'removed', removed, 'added', added);
END
$$;
COMMENT ON FUNCTION neardup_job_step(jsonb) IS 'internal: brings a batch of changed rows of a job up to date';
