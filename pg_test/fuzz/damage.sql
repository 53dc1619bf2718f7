-- Tables of eve's with one index of ours each, of all classes in turn: rows in segments, dead ones, ones that wait.
CREATE FUNCTION fuzz.add_damaged(seed int, first int, last int) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET client_min_messages = error AS $$
DECLARE
    n int;
BEGIN
    PERFORM setseed(seed % 1000000 / 1e6);
    FOR n IN first .. last LOOP
        EXECUTE format('DROP TABLE IF EXISTS w.damaged%1$s; CREATE TABLE w.damaged%1$s (id int, body text, numbers bigint[], uuids uuid[], m minhash_sketch, s simhash_sketch)', n);
        EXECUTE format('INSERT INTO w.damaged%s SELECT * FROM w.sound LIMIT 250', n);
        EXECUTE format('CREATE INDEX damage%1$s ON w.damaged%1$s USING signature (%2$s) WITH (pending_limit = 64)', n,
            (ARRAY['body text_set_ops (threshold = 0.5)', 'numbers', 'uuids', 'm', 's', 'string_to_array(body, '' '') array_set_ops (measure = cosine, threshold = 0.5)', 'near(body, 0.8) text_ball_set_ops (threshold = 0.4)'])[1 + n % 7]);
        EXECUTE format('DELETE FROM w.damaged%s WHERE id %% 7 = 0', n);
        EXECUTE format('INSERT INTO w.damaged%s SELECT * FROM w.sound OFFSET 250', n);
        EXECUTE format('ALTER TABLE w.damaged%s OWNER TO eve', n);
    END LOOP;
END
$$;
CREATE TABLE w.sound AS SELECT i AS id, t.body, shingles(t.body, 1) || ARRAY[i % 3, i]::bigint[] AS numbers, ARRAY[md5((i % 20)::text), md5(i::text)]::uuid[] AS uuids, minhash(t.body) AS m, simhash(t.body) AS s
    FROM (SELECT i, CASE WHEN i % 17 <> 0 THEN (SELECT string_agg('w' || hashint8extended(j, i / 3) % 40, ' ' ORDER BY j) || ' ' || i % 3 FROM generate_series(1, 3 + i % 20) j) WHEN i % 2 = 0 THEN '' END AS body FROM generate_series(1, 400) i) t;
GRANT SELECT ON w.sound TO eve;

-- What is done to them, one statement a line: first while they are damaged, then after REINDEX.
CREATE FUNCTION fuzz.damaged_statements(n int) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT replace(replace(statement, '%d', 'w.damaged' || n), '%i', 'w.damage' || n) FROM (
        SELECT * FROM unnest(ARRAY['SELECT signature_index_check(''%i'', true)', 'SELECT signature_index_stats(''%i'')', 'EXPLAIN SELECT FROM %d WHERE numbers && ''{1}'''])
        UNION ALL SELECT unnest(CASE n % 7
            WHEN 0 THEN ARRAY['SELECT count(*) FROM %d WHERE body <@ near((SELECT body FROM w.sound WHERE id = 5), 0.5)', 'SELECT count(*) FROM %d WHERE body <@ near((SELECT string_agg(body, '' '') FROM w.sound WHERE id < 30), 0.5)', 'SELECT count(*) FROM %d WHERE body <@ near(''w1 w2 w3'', 0.01)', 'SELECT count(*) FROM %d WHERE body <@ near(''w1'', 0.9, 2)', 'SELECT id FROM %d ORDER BY body <-> near((SELECT body FROM w.sound WHERE id = 5), 0.5) LIMIT 20', 'SELECT id FROM %d ORDER BY body <-> near((SELECT body FROM w.sound WHERE id = 5), 0.5)']
            WHEN 1 THEN ARRAY['SELECT count(*) FROM %d WHERE numbers && ''{0,1,2,50}''', 'SELECT count(*) FROM %d WHERE numbers && ARRAY(SELECT generate_series(1, 400))::bigint[]', 'SELECT count(*) FROM %d WHERE shares(numbers, (SELECT numbers FROM w.sound WHERE id = 8), 2)']
            WHEN 2 THEN ARRAY['SELECT count(*) FROM %d WHERE uuids && ARRAY[md5(''1''), md5(''50'')]::uuid[]', 'SELECT count(*) FROM %d WHERE uuids && (SELECT array_agg(md5(g::text)::uuid) FROM generate_series(0, 400) g)']
            WHEN 3 THEN ARRAY['SELECT count(*) FROM %d WHERE m <@ near((SELECT m FROM w.sound WHERE id = 5), 0.5)', 'SELECT count(*) FROM %d WHERE m <@ near((SELECT m FROM w.sound WHERE id = 5), 0.01)', 'SELECT id FROM %d ORDER BY m <%> (SELECT m FROM w.sound WHERE id = 5) LIMIT 20', 'SELECT id FROM %d ORDER BY m <%> (SELECT m FROM w.sound WHERE id = 5)']
            WHEN 5 THEN ARRAY['SELECT count(*) FROM %d WHERE string_to_array(body, '' '') <@ near((SELECT string_to_array(body, '' '') FROM w.sound WHERE id = 5), 0.5, method => ''cosine'')', 'SELECT id FROM %d ORDER BY string_to_array(body, '' '') <-> near((SELECT string_to_array(body, '' '') FROM w.sound WHERE id = 8), 0.6, method => ''cosine'') LIMIT 20']
            WHEN 6 THEN ARRAY['SELECT count(*) FROM %d WHERE near(body, 0.8) && near((SELECT body FROM w.sound WHERE id = 5), 0.4)', 'SELECT count(*) FROM %d WHERE near(body, 0.8) && near((SELECT body FROM w.sound WHERE id = 8), 0.1)']
            ELSE ARRAY['SELECT count(*) FROM %d WHERE s <@ near((SELECT s FROM w.sound WHERE id = 5), 3)', 'SELECT count(*) FROM %d WHERE s <@ near((SELECT s FROM w.sound WHERE id = 5), 60)', 'SELECT id FROM %d ORDER BY s <~> (SELECT s FROM w.sound WHERE id = 5) LIMIT 20', 'SELECT id FROM %d ORDER BY s <~> (SELECT s FROM w.sound WHERE id = 5)'] END)
        UNION ALL SELECT * FROM unnest(ARRAY['SELECT count(*) FROM %d', 'INSERT INTO %d SELECT * FROM w.sound WHERE id = 7', 'INSERT INTO %d SELECT * FROM w.sound LIMIT 150', 'UPDATE %d SET id = id + 1 WHERE id % 5 = 0', 'VACUUM %d', 'SELECT signature_index_merge(''%i'')', 'INSERT INTO %d SELECT * FROM w.sound LIMIT 2',
            'VACUUM %d', 'SELECT signature_index_check(''%i'')', 'DELETE FROM %d WHERE id % 3 = 0', 'VACUUM (FULL false) %d'])
    ) s(statement)
$$;
-- Afterwards: the same again by the index and without it.
CREATE FUNCTION fuzz.mended_statements(n int) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT format('REINDEX INDEX w.damage%s', n)
    UNION ALL SELECT format('SELECT signature_index_check(''w.damage%s'', true)', n)
    UNION ALL SELECT format('SELECT fuzz.same(%L)', statement) FROM fuzz.damaged_statements(n) statement WHERE statement LIKE 'SELECT count%'
$$;
-- For psql: each statement behind a line that shows it, and one line between the damaged and the mended. Where checksums
-- leave nothing unnoticed (strict) an answer has to be right.
CREATE FUNCTION fuzz.damage_script(n int, strict bool) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT format(E'\\echo <%s>\n%s;', translate(statement, E'\'\\', '"'),
        CASE WHEN strict AND statement LIKE 'SELECT count%' THEN format('SELECT fuzz.same(%L)', statement) ELSE statement END) FROM fuzz.damaged_statements(n) statement
    UNION ALL SELECT '\echo <mended>'
    UNION ALL SELECT statement || ';' FROM fuzz.mended_statements(n) statement
$$;
