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
