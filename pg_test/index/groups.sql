-- After compare.sql: group columns of every type that has a class, and the same queries within a group. regroup(n) puts group
-- columns before the column of each index, or of those with such a name, other ones for each n.
CREATE TYPE kind AS ENUM ('essay', 'letter', 'note');
-- Skewed groups, some of a few rows; some values are NULL.
CREATE FUNCTION some_group(most int) RETURNS int LANGUAGE sql VOLATILE AS $$ SELECT nullif(floor(most * random() ^ 2)::int, most - 1) $$;
ALTER TABLE docs
    ADD small smallint DEFAULT some_group(4),
    ADD tenant int DEFAULT some_group(9) - 1,
    ADD big bigint DEFAULT some_group(5) * 3000000000 - 1,
    ADD site uuid DEFAULT md5(some_group(5)::text)::uuid,
    ADD lang text DEFAULT CASE WHEN random() < 0.5 THEN 'l' ELSE 'L' END || some_group(4),
    ADD word varchar(5) DEFAULT 'w' || some_group(3),
    ADD kind kind DEFAULT (enum_range(NULL::kind))[1 + some_group(4)],
    ADD day date DEFAULT date '2026-11-29' + some_group(5),
    ADD public boolean DEFAULT some_group(3) = 0;
-- Equal texts are written in different ways where the server has a collation for that.
DO $$ BEGIN
    CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    ALTER TABLE docs ALTER lang TYPE text COLLATE no_case;
EXCEPTION WHEN feature_not_supported THEN NULL;
END $$;
CREATE TABLE grouped (n int GENERATED ALWAYS AS IDENTITY, index_name text, plain text, columns text[] DEFAULT '{}');
INSERT INTO grouped (index_name, plain) SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'docs' AND indexdef ~ 'signature' ORDER BY 1;

CREATE FUNCTION regroup(shift int, names text DEFAULT '') RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    choices text[] := ARRAY['tenant', 'lang', 'tenant,lang', 'site', 'kind', 'public', 'day', 'small', 'big', 'word,public', 'kind,big'];
    it record;
BEGIN
    UPDATE grouped SET columns = string_to_array(choices[1 + (n + shift) % cardinality(choices)], ',') WHERE index_name ~ names;
    FOR it IN SELECT * FROM grouped WHERE index_name ~ names LOOP
        EXECUTE 'DROP INDEX IF EXISTS ' || it.index_name;
        EXECUTE replace(it.plain, 'signature (', format('signature (%s, ',
            regexp_replace(array_to_string(it.columns, ', '), '(lang|word)', '\1 text_group_ops')));
    END LOOP;
END $$;

-- Rows change their groups, too.
CREATE OR REPLACE FUNCTION change_docs(count int) RETURNS void LANGUAGE sql VOLATILE AS $$
    UPDATE docs SET body = CASE WHEN random() < 0.5 THEN body ELSE some_text() END, numbers = CASE WHEN random() < 0.5 THEN numbers ELSE some_numbers() END,
        small = DEFAULT, tenant = DEFAULT, big = DEFAULT, site = DEFAULT, lang = DEFAULT, word = DEFAULT, kind = DEFAULT, day = DEFAULT, public = DEFAULT
    WHERE id IN (SELECT id FROM docs ORDER BY random() LIMIT count)
$$;

-- A condition on each of the columns: equal to a value that some row has, to one of two, or to an integer of another type.
CREATE FUNCTION some_condition(columns text[]) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    name text;
    one text;
    other text;
    type text;
    conditions text := '';
BEGIN
    FOREACH name IN ARRAY columns LOOP
        -- Of the catalog, since the table may be empty.
        SELECT atttypid::regtype FROM pg_attribute WHERE attrelid = 'docs'::regclass AND attname = name INTO STRICT type;
        EXECUTE format('SELECT %1$I FROM docs ORDER BY %1$I IS NULL AND random() < 0.9, random() LIMIT 1', name) INTO one;
        EXECUTE format('SELECT %I FROM docs ORDER BY random() LIMIT 1', name) INTO other;
        conditions := conditions || CASE
            WHEN random() < 0.15 THEN format('%I = ANY (%L::%s[]) AND ', name, ARRAY[one, other], type)
            WHEN name IN ('small', 'tenant', 'big') THEN format('%s = %s::%I AND ', name, quote_nullable(one),
                CASE WHEN one::bigint > 2000000000 THEN 'int8' ELSE (ARRAY['int2', 'int4', 'int8'])[1 + floor(3 * random())] END)
            ELSE format('%I = %L AND ', name, one) END;
    END LOOP;
    RETURN conditions;
END $$;
ALTER FUNCTION some_queries() RENAME TO queries_of_all;
CREATE FUNCTION some_queries() RETURNS TABLE (index_name text, query text) LANGUAGE sql VOLATILE AS $$
    SELECT index_name, replace(query, 'docs WHERE ', 'docs WHERE ' || CASE WHEN random() < 0.05 THEN '' ELSE some_condition(columns) END)
    FROM queries_of_all() JOIN grouped USING (index_name)
$$;

-- Of several draws, since no index has the order of several groups, and none is asked for what is NULL.
CREATE FUNCTION many_queries() RETURNS TABLE (index_name text, query text) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    FOR n IN 1..4 LOOP
        RETURN QUERY SELECT * FROM some_queries();
    END LOOP;
END $$;
CREATE OR REPLACE FUNCTION unused_indexes() RETURNS SETOF text LANGUAGE sql VOLATILE AS $$
    -- 15 knows conditions on booleans of its own classes only.
    SELECT format('%s, for example %s', index_name, min(query)) FROM many_queries() JOIN grouped USING (index_name)
    WHERE NOT 'public' = ANY (columns) OR current_setting('server_version_num')::int >= 160000
    GROUP BY index_name, query ~ 'ORDER BY .* LIMIT'
    HAVING NOT bool_or(plan_of(query) LIKE '%"' || index_name || '"%')
$$;
