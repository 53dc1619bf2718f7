-- Longest common subsequences, sentence signatures, and near_duplicates with methods tlcs and lcs against all pairs.
SET client_min_messages = warning;
\pset null NULL

-- Exact, on characters as they are.
SELECT lcs_length('abcabba', 'cbabac'), lcs_resemblance('abcabba', 'cbabac') = 8 / 13::float8 AS resemblance, lcs_containment('abcabba', 'cbabac') = 4 / 6::float8 AS containment,
    lcs_containment('cbabac', 'abcabba') = 4 / 7::float8 AS other_way;
SELECT lcs_length('近似文本', '近的似本') AS chinese, lcs_length('🙂🙃', '🙃🙂') AS emoji, lcs_length('Ab', 'ab') AS "case", lcs_length(U&'\00e9', U&'e\0301') AS normal_form;
SELECT lcs_length('', ''), lcs_length('', 'a'), lcs_resemblance('', ''), lcs_containment('a', ''), lcs_length(NULL, 'a'), lcs_resemblance('a', NULL);
SELECT n, lcs_length(repeat('ab', n), repeat('ab', n) || 'c') = 2 * n AS one_more, lcs_length(repeat('ab', n), repeat('ba', n)) = 2 * n - 1 AS moved,
    lcs_length(repeat('a', n), repeat('b', n)) AS unlike, lcs_length(repeat('abc', n), repeat('cab', 2 * n)) = 3 * n AS inside
FROM unnest(array[1, 31, 32, 33, 64, 511, 512, 513, 20000]) n;

-- The trustable part: where it is, and how long.
SELECT left_span, right_span, length, substring(a FROM lower(left_span) FOR upper(left_span) - lower(left_span)) AS found
FROM (VALUES ('Home. The ferry to the island was cancelled on Monday because of the storm.', 'Weather: The ferry to the island was cancelled on Monday because of the storm. Imprint')) t(a, b), tlcs(a, b);
-- The same frame around something else is nothing, something in another frame is much; lcs_resemblance sees no difference.
CREATE SCHEMA lcs_test;
SET search_path = lcs_test, public;
CREATE FUNCTION prose(seed int, sentences int) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg('The ' || s || '. ', '' ORDER BY i)
    FROM generate_series(1, sentences) i, LATERAL (
        SELECT string_agg(substr(md5(hashint8extended(seed * 1000 + i, j)::text), 1, 3 + (abs(hashint8extended(seed * 100 + i, j)) % 5)::int), ' ' ORDER BY j) AS s
        FROM generate_series(1, 8) j) d
$$;
CREATE TABLE pages AS
SELECT frame * 10 + body AS id, prose(frame, 5) || prose(100 + body, 20) || prose(200 + frame, 5) AS page
FROM generate_series(1, 2) frame, generate_series(1, 2) body;
SELECT a.id AS a, b.id AS b, round(lcs_resemblance(a.page, b.page)::numeric, 1) AS lcs, round(tlcs_resemblance(a.page, b.page)::numeric, 1) AS tlcs,
    tlcs_containment(a.page, b.page) > 0.5 AS contained
FROM pages a JOIN pages b ON a.id < b.id ORDER BY 1, 2;
-- A passage that moved is found by searching again.
SELECT round(tlcs_resemblance(x || y, y || x, centre => '{0,1}')::numeric, 1) AS once, round(tlcs_resemblance(x || y, y || x, min_part => 50)::numeric, 1) AS again,
    (SELECT count(*) FROM tlcs(x || y, y || x, min_part => 50)) AS parts
FROM prose(1, 9) x, prose(2, 9) y;
-- A frame is no moved passage, unless its place does not matter.
SELECT tlcs_resemblance(a.page, b.page, min_part => 50) AS central, round(tlcs_resemblance(a.page, b.page, min_part => 50, centre => '{0,1}')::numeric, 1) AS anywhere
FROM pages a, pages b WHERE a.id = 11 AND b.id = 12;
SELECT tlcs_resemblance('', ''), tlcs_resemblance('a', ''), tlcs_resemblance('same  text', E'same\ntext') AS white_space, tlcs_containment('x', 'y'), tlcs_resemblance(NULL, 'a');
SELECT tlcs_resemblance(page, page || 'x', first => 100) AS beginning, tlcs_resemblance(page, reverse(page), first => 0) AS reversed FROM pages WHERE id = 11;
SELECT count(*) FROM tlcs('a', 'b');

-- Signatures of sentences: their words count, not how they are written.
SELECT cardinality(sentence_signatures('A sentence that is long enough.')) AS one, cardinality(sentence_signatures('Too short. It is, too.')) AS none,
    sentence_signatures('A sentence that is long enough.') = sentence_signatures('(a sentence, THAT is   long enough)') AS same,
    cardinality(sentence_signatures(prose(1, 100))) AS many, cardinality(sentence_signatures(prose(1, 100), m => 3, n => 2, s => 1)) AS few,
    sentence_signatures(NULL), pg_typeof(sentence_signatures('')) AS type;
SELECT sentence_signatures('这是一个足够长的句子。', n => 2) AS chinese;

-- Texts that make pairs: sentences of a small world.
CREATE TABLE docs (id int PRIMARY KEY, body text, site text);
INSERT INTO docs SELECT i, (SELECT string_agg(prose((abs(hashint8extended(i, k)) % 40)::int, 1), CASE i % 2 WHEN 0 THEN ' ' ELSE E'\n\n' END) FROM generate_series(1, 1 + i % 7) k), 's' || i % 5
FROM generate_series(1, 150) i;
INSERT INTO docs SELECT 200 + id, overlay(body placing '!' from 1 + id * 7 % length(body) for 3), site FROM docs WHERE id % 4 = 0;
INSERT INTO docs VALUES (1001, NULL, 'x'), (1002, '', 'x'), (1003, '', NULL), (1004, ' ', NULL), (1005, ' ', NULL), (1006, 'short', NULL), (1007, ' short ', NULL), (1008, 'short', NULL);
CREATE TABLE others AS SELECT id + 5000 AS id, body, site FROM docs WHERE id % 3 = 0 OR id > 1000;
ALTER TABLE others ADD PRIMARY KEY (id);
-- Of two texts of the same length the first one decides what the trustable region is.
CREATE FUNCTION plain(body text) RETURNS text LANGUAGE sql AS $$ SELECT regexp_replace(body, '\s+', ' ', 'g') $$;
CREATE TABLE truth AS
SELECT side, a.id AS a, b.id AS b, tlcs_resemblance(a.body, b.body) AS tlcs,
    CASE WHEN length(plain(a.body)) < length(plain(b.body)) THEN tlcs_containment(b.body, a.body) ELSE tlcs_containment(a.body, b.body) END AS containment
FROM docs a, LATERAL (SELECT 'left' AS side, * FROM docs WHERE id > a.id UNION ALL SELECT 'right', * FROM others) b
WHERE sentence_signatures(a.body) && sentence_signatures(b.body) OR trim(plain(a.body)) = trim(plain(b.body));
-- Pairs that one side lacks.
CREATE FUNCTION differences(side text, threshold float8, part float8) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    answer bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM (SELECT * FROM truth WHERE side = $1 AND (tlcs >= $2 OR containment >= $3)) t
        FULL JOIN %s(%s, threshold => $2, method => ''tlcs'', text_column => ''body'', options => jsonb_build_object(''containment'', $3)) f ON left_id = a AND right_id = b
        WHERE (a IS NULL) <> (left_id IS NULL)',
        CASE side WHEN 'left' THEN 'near_duplicates' ELSE 'near_duplicates_between' END,
        CASE side WHEN 'left' THEN '''docs''' ELSE '''docs'', ''others''' END)
    INTO answer USING side, threshold, part;
    RETURN answer;
END
$$;
SELECT threads, sum(differences(side, threshold, part)) AS differences, count(*) AS joins
FROM generate_series(1, 3) threads, set_config('neardup.threads', threads::text, false),
    unnest(array['left', 'right']) side, unnest(array[0.28, 0.5, 0.9, 1]) threshold, unnest(array[0.3, 0.7, 1]) part
GROUP BY threads ORDER BY threads;
RESET neardup.threads;
-- With little memory it is the same.
SET neardup.memory = '64kB';
SELECT sum(differences(side, 0.28, 0.7)) FROM unnest(array['left', 'right']) side;
RESET neardup.memory;
SELECT side, count(*) FILTER (WHERE tlcs >= 0.28) > 50 AS many, count(*) FILTER (WHERE tlcs < 0.28 AND containment >= 0.7) > 5 AS contained, count(*) FILTER (WHERE tlcs = 1) > 3 AS equal
FROM truth GROUP BY side ORDER BY side;
-- Without a threshold 0.28 or a containment of 0.7; with one of them that alone.
SELECT count(*) = (SELECT count(*) FROM truth WHERE side = 'left' AND (tlcs >= 0.28 OR containment >= 0.7)) AS both,
    count(*) FILTER (WHERE similarity < 0.28) > 5 AS by_containment
FROM near_duplicates('docs', method => 'tlcs', text_column => 'body');
SELECT count(*) FILTER (WHERE similarity < 0.28) AS less, count(*) = (SELECT count(*) FROM truth WHERE side = 'left' AND tlcs >= 0.28) AS one
FROM near_duplicates('docs', 0.28, method => 'tlcs', text_column => 'body');
SELECT count(*) = (SELECT count(*) FROM truth WHERE side = 'left' AND tlcs >= 0.28) AS off
FROM near_duplicates('docs', method => 'tlcs', text_column => 'body', options => '{"containment": false}');
SELECT left_id, right_id, similarity FROM near_duplicates('docs', method => 'tlcs', text_column => 'body') WHERE left_id > 1000 ORDER BY 1, 2;
-- The LCS of the sketches is never shorter than its trustable part.
SELECT count(*) FROM near_duplicates('docs', 0.5, method => 'tlcs', text_column => 'body') t
    LEFT JOIN near_duplicates('docs', 0.5, method => 'lcs', text_column => 'body') l USING (left_id, right_id) WHERE l.similarity IS NULL OR l.similarity < t.similarity;
-- What it did.
SELECT count(*) FROM near_duplicates('docs', 0.5, method => 'tlcs', text_column => 'body') \gset
SELECT documents, skipped_null, skipped_empty, tokens > distinct_tokens AS signatures, distinct_sets = (SELECT count(DISTINCT body) - 1 FROM docs) AS texts,
    candidates >= verified AND verified > 0 AS verified, pairs = :count AS pairs, stop_signatures, stop_documents
FROM near_duplicates_stats();

-- Perhaps-similar sets are made of signatures, before any pair is compared: the steps of Huang et al. (CIKM 2008).
CREATE TABLE sets (representative int, member int);
CREATE FUNCTION make_sets(source regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    first record;
    next record;
    members int[];
BEGIN
    TRUNCATE sets;
    CREATE TEMP TABLE lists ON COMMIT DROP AS SELECT NULL::uuid AS signature, NULL::text AS whole, 0 AS id LIMIT 0;
    EXECUTE format('INSERT INTO lists SELECT s, NULL, id FROM %1$s, unnest(sentence_signatures(body)) s
        UNION SELECT NULL, trim(plain(body)), id FROM %1$s WHERE trim(plain(body)) <> $1', source) USING '';
    -- Lists by their representative: the document of the most signatures, of several the last.
    CREATE TEMP TABLE merged ON COMMIT DROP AS
    WITH keys AS (SELECT id, count(DISTINCT signature) AS weight FROM lists GROUP BY id),
        by_list AS (SELECT (array_agg(id ORDER BY weight DESC, id DESC))[1] AS representative, array_agg(id) AS ids
            FROM lists JOIN keys USING (id) GROUP BY signature, whole HAVING count(*) > 1)
    SELECT representative, weight, array_agg(DISTINCT member) AS ids FROM by_list JOIN keys ON id = representative, unnest(ids) member GROUP BY representative, weight;
    LOOP
        SELECT * INTO first FROM merged ORDER BY weight DESC, representative DESC LIMIT 1;
        EXIT WHEN NOT FOUND;
        DELETE FROM merged WHERE representative = first.representative;
        members := first.ids;
        LOOP
            DELETE FROM merged WHERE representative = (SELECT representative FROM merged WHERE representative = ANY (members) LIMIT 1) RETURNING * INTO next;
            EXIT WHEN NOT FOUND;
            members := members || next.ids;
        END LOOP;
        INSERT INTO sets SELECT DISTINCT first.representative, unnest(members);
    END LOOP;
    DROP TABLE lists, merged;
END
$$;
SELECT make_sets('docs');
SELECT count(*) > 100 AS members, count(DISTINCT representative) > 2 AS sets, count(*) > count(DISTINCT member) AS in_several FROM sets;
-- Members, and their similarity to the representative where the two are a pair.
CREATE FUNCTION set_differences(threshold float8, part float8) RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FROM (
        SELECT s.*, count(*) OVER (PARTITION BY representative) AS size, CASE WHEN representative = member THEN 1 ELSE tlcs END AS tlcs
        FROM sets s LEFT JOIN truth ON side = 'left' AND a = least(representative, member) AND b = greatest(representative, member) AND (tlcs >= threshold OR containment >= part)) s
    FULL JOIN near_duplicate_clusters('docs', threshold, method => 'tlcs', text_column => 'body', clustering => 'perhaps_similar', options => jsonb_build_object('containment', part)) f
        ON f.cluster_id = s.representative AND f.id = member
    WHERE f.id IS NULL OR member IS NULL OR f.size <> s.size OR f.representative <> (member = s.representative) OR (f.similarity IS NULL) <> (tlcs IS NULL)
$$;
SELECT threads, memory, sum(set_differences(threshold, part)) AS differences
FROM unnest(array['64kB', '64MB']) memory, set_config('neardup.memory', memory, false) m, generate_series(1, 3, 2) threads, set_config('neardup.threads', threads::text, false) t,
    unnest(array[0.28, 0.5, 1]) threshold, unnest(array[0.3, 0.7, 1]) part
GROUP BY threads, memory ORDER BY threads, memory;
RESET neardup.threads;
RESET neardup.memory;
SELECT * FROM near_duplicate_clusters('docs', method => 'tlcs', text_column => 'body', clustering => 'perhaps_similar') WHERE cluster_id > 1000;
-- What it did: representatives were compared, and nothing else.
SELECT count(*) AS members, count(similarity) - count(*) FILTER (WHERE representative) AS similar
FROM near_duplicate_clusters('docs', method => 'tlcs', text_column => 'body', clustering => 'perhaps_similar') \gset
SELECT documents, candidates < :members AS few, verified > 0 AS verified, pairs = :similar AS pairs FROM near_duplicates_stats();
-- Perhaps-similar sets compared whole: all pairs of a set are candidates, whether they share a signature or not, for pairs and for all clusters.
CREATE TABLE whole AS SELECT a.id AS a, b.id AS b, tlcs_resemblance(a.body, b.body) AS tlcs
FROM (SELECT DISTINCT x.member AS x, y.member AS y FROM sets x JOIN sets y USING (representative) WHERE x.member < y.member) s JOIN docs a ON a.id = x JOIN docs b ON b.id = y;
CREATE FUNCTION whole_differences(threshold float8) RETURNS TABLE (missing bigint, extra bigint, without_signature bool) LANGUAGE sql AS $$
    WITH expected AS (SELECT a::bigint, b::bigint FROM whole WHERE tlcs >= threshold),
        found AS (SELECT left_id, right_id FROM near_duplicates('docs', threshold, method => 'tlcs', text_column => 'body', options => '{"compare": "all"}')),
        shared AS (SELECT left_id, right_id FROM near_duplicates('docs', threshold, method => 'tlcs', text_column => 'body', options => '{"compare": "representative"}'))
    SELECT (SELECT count(*) FROM (TABLE expected EXCEPT TABLE found) x), (SELECT count(*) FROM (TABLE found EXCEPT TABLE expected) x),
        EXISTS (TABLE found EXCEPT TABLE shared) AND NOT EXISTS (TABLE shared EXCEPT TABLE found)
$$;
SELECT memory, threshold, w.* FROM unnest(array['64kB', '64MB']) memory, set_config('neardup.memory', memory, false) m, unnest(array[0.1, 0.28, 0.5, 1]) threshold, whole_differences(threshold) w ORDER BY 1, 2;
RESET neardup.memory;
SELECT clustering, count(found) > 10 AS many, count(*) FILTER (WHERE found IS DISTINCT FROM expected) AS unlike
FROM unnest(array['connected', 'star', 'perhaps_similar']) clustering, LATERAL (
    SELECT f AS found, c AS expected
    FROM (SELECT cluster_id, id, representative, size, similarity FROM near_duplicate_clusters('docs', 0.3, method => 'tlcs', text_column => 'body', clustering => clustering, options => '{"compare": "all"}')) f
    FULL JOIN (SELECT cluster_id, id, representative, size, similarity FROM clusters_of_pairs('SELECT * FROM near_duplicates(''docs'', 0.3, method => ''tlcs'', text_column => ''body'', options => ''{"compare": "all"}'')', clustering => clustering)) c USING (cluster_id, id)) x GROUP BY 1 ORDER BY 1;
SELECT count(*) > 0 AS between FROM near_duplicates_between('docs', 'others', 0.3, method => 'lcs', text_column => 'body', options => '{"compare": "all"}');
-- A measure of words in place of the subsequence, for the same candidates: the contender of Huang et al.
CREATE FUNCTION by_words(measure text, threshold float8, table_name text) RETURNS TABLE (missing bigint, extra bigint, found bool) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('WITH expected AS (SELECT a.id::bigint, b.id::bigint, %1$s(a.body, b.body) AS s FROM truth JOIN docs a ON a.id = a JOIN %2$s b ON b.id = b WHERE side = $3 AND %1$s(a.body, b.body) >= $1),
            found AS (SELECT left_id, right_id, similarity FROM %3$s, threshold => $1, method => ''tlcs'', text_column => ''body'', options => jsonb_build_object(''measure'', $2)))
        SELECT (SELECT count(*) FROM (TABLE expected EXCEPT TABLE found) x), (SELECT count(*) FROM (TABLE found EXCEPT TABLE expected) x), (SELECT count(*) > 20 FROM found)',
        measure, table_name, CASE table_name WHEN 'docs' THEN 'near_duplicates(''docs''' ELSE 'near_duplicates_between(''docs'', ''others''' END)
        USING threshold, measure, CASE table_name WHEN 'docs' THEN 'left' ELSE 'right' END;
END
$$;
SELECT measure, table_name, sum(missing) AS missing, sum(extra) AS extra, bool_and(found) AS found
FROM unnest(array['jaccard', 'cosine', 'dice', 'overlap']) measure, unnest(array['docs', 'others']) table_name, unnest(array[0.2, 0.5, 0.8]) threshold, by_words(measure, threshold, table_name) GROUP BY 1, 2 ORDER BY 1, 2;
-- Without a threshold, the published one of the cosine, and the usual one of others.
SELECT measure, method, bool_and(similarity >= CASE measure WHEN 'cosine' THEN 0.95 ELSE 0.8 END) AS above, count(*) = (SELECT count(*) FROM near_duplicates('docs', CASE measure WHEN 'cosine' THEN 0.95 ELSE 0.8 END, method => method, text_column => 'body', options => jsonb_build_object('measure', measure))) AS same
FROM unnest(array['jaccard', 'cosine', 'dice', 'overlap']) measure, unnest(array['tlcs', 'lcs']) method, LATERAL near_duplicates('docs', method => method, text_column => 'body', options => jsonb_build_object('measure', measure)) GROUP BY 1, 2 ORDER BY 1, 2;
SELECT method, (SELECT count(*) FROM near_duplicates('docs', method => method, text_column => 'body', options => jsonb_build_object('measure', method)))
    - (SELECT count(*) FROM near_duplicates('docs', method => method, text_column => 'body')) AS own_measure FROM unnest(array['tlcs', 'lcs']) method;
SELECT count(*) > 0 AS represented FROM near_duplicate_clusters('docs', method => 'tlcs', text_column => 'body', clustering => 'perhaps_similar', options => '{"measure": "cosine"}') WHERE similarity >= 0.95 AND NOT representative;
-- A column may weigh documents: the heaviest one represents its set, NULL is lightest.
CREATE TABLE weighed AS SELECT id, prose(1, 2) || prose(10 + id, 1) AS body, nullif(7 - id, 4)::text AS stars FROM generate_series(1, 5) id;
ALTER TABLE weighed ADD PRIMARY KEY (id);
SELECT cluster_id, array_agg(id ORDER BY id) FROM near_duplicate_clusters('weighed', method => 'lcs', text_column => 'body', clustering => 'perhaps_similar') GROUP BY 1;
SELECT cluster_id, array_agg(id ORDER BY id) FROM near_duplicate_clusters('weighed', method => 'lcs', text_column => 'body', clustering => 'perhaps_similar', options => '{"weight": "stars"}') GROUP BY 1;
SELECT * FROM near_duplicate_clusters('weighed', method => 'lcs', text_column => 'body', clustering => 'perhaps_similar', options => '{"weight": "moons"}');
SELECT * FROM near_duplicate_clusters('weighed', method => 'lcs', text_column => 'body', clustering => 'perhaps_similar', options => '{"weight": 3}');
-- Other clusterings are made of pairs, whatever the method; a page shows such sets, too.
SELECT clustering, count(DISTINCT cluster_id) FROM unnest(array['connected', 'star']) clustering,
    near_duplicate_clusters('weighed', 0.3, method => 'lcs', text_column => 'body', clustering => clustering) GROUP BY 1;
SELECT duplicates_report('weighed', 0.3, method => 'lcs', text_column => 'body', clustering => 'perhaps_similar') LIKE '<!DOCTYPE html>%' AS page;
SELECT * FROM near_duplicate_clusters('docs', method => 'tlcs', text_column => 'body', clustering => 'perhaps_similar', max_pairs => 3);

-- Stop signatures: of too many documents, or of many of which most are of one site.
CREATE TABLE templates AS
SELECT i AS id, prose(1, 1) || 'Number ' || i || '.' AS body, CASE WHEN i % 3 = 0 THEN 'b' ELSE 'a' END AS site, 'same'::text AS one, NULL::text AS none FROM generate_series(1, 30) i;
ALTER TABLE templates ADD PRIMARY KEY (id);
CREATE FUNCTION with_limits(no int, site text, limits jsonb) RETURNS TABLE(pairs bigint, dropped bigint, documents bigint) LANGUAGE plpgsql AS $$
BEGIN
    SELECT count(*) INTO pairs FROM near_duplicates('templates', 0.5, method => 'tlcs', text_column => 'body', site_column => site, options => limits);
    SELECT stop_signatures, stop_documents INTO dropped, documents FROM near_duplicates_stats();
    RETURN NEXT;
END
$$;
SELECT site, limits, w.*
FROM (VALUES (1, NULL, '{}'), (2, NULL, '{"stop_documents": 30}'), (3, NULL, '{"stop_documents": 29}'), (4, NULL, '{"stop_site_documents": 1}'),
    (5, 'site', '{}'), (6, 'site', '{"stop_site_documents": 29}'), (7, 'site', '{"stop_site_documents": 30}'), (8, 'one', '{"stop_site_documents": 29}'), (9, 'none', '{"stop_site_documents": 29}')) v(no, site, limits),
    LATERAL with_limits(no, site, limits::jsonb) w
ORDER BY no;

-- Sentences dispersed over the document: what pages of one site have at one place makes no candidates, and copies stay pairs.
CREATE TABLE framed AS SELECT i AS id, prose(1, 4) || prose(100 + i % 40, 9) AS body FROM generate_series(1, 80) i;
CREATE FUNCTION dispersed(options jsonb) RETURNS TABLE(pairs bigint, copies bool, candidates bigint) LANGUAGE plpgsql AS $$
BEGIN
    SELECT count(*), bool_and(left_id % 40 = right_id % 40) INTO pairs, copies
    FROM near_duplicates('framed', 0.7, method => 'tlcs', id_column => 'id', options => options || '{"stop_documents": 1000}');
    SELECT s.candidates INTO dispersed.candidates FROM near_duplicates_stats() s;
    RETURN NEXT;
END
$$;
SELECT near.pairs, near.copies, far.pairs, far.copies, far.candidates < near.candidates / 2 AS fewer
FROM dispersed('{}') near, dispersed('{"dispersed": 0.3}') far;

-- One pair at a time, ids of other types, nothing.
SELECT count(*) FROM (SELECT near_duplicates('docs', 0.3, method => 'tlcs', text_column => 'body') LIMIT 5) p;
SELECT count(*) FROM near_duplicates('docs', 0.3, method => 'tlcs', text_column => 'body', max_pairs => 3);
CREATE TABLE few (id text PRIMARY KEY, body text);
SELECT * FROM near_duplicates('few', 0.5, NULL::text, method => 'tlcs');
INSERT INTO few VALUES ('x', prose(1, 3)), ('y', prose(1, 4)), ('z', NULL);
SELECT left_id, right_id, similarity > 0.8 AS similar FROM near_duplicates('few', 0.5, NULL::text, method => 'lcs');
SELECT left_id, right_id, similarity > 0.8 AS similar FROM near_duplicates_between('few', 'few', 0.5, NULL::text, method => 'tlcs') ORDER BY 1, 2;

-- What is out of range is an error, with a call that works.
SELECT * FROM near_duplicates('few', 1.5, NULL::text, method => 'tlcs');
SELECT * FROM near_duplicates('few', 0.5, NULL::text, method => 'tlcs', options => '{"slope": 1}');
SELECT * FROM near_duplicates('few', 0.5, NULL::text, method => 'tlcs', options => '{"slope": "x"}');
SELECT * FROM near_duplicates('few', 0.5, NULL::text, method => 'tlcs', options => '{"centre": [0.6, 0.4]}');
SELECT * FROM near_duplicates('few', 0.5, NULL::text, method => 'tlcs', options => '{"centre": 1}');
SELECT * FROM near_duplicates('few', 0.5, NULL::text, method => 'tlcs', options => '{"s": 2}');
SELECT * FROM near_duplicates('few', 0.5, NULL::text, method => 'tlcs', options => '{"window": -1}');
SELECT * FROM near_duplicates('few', 0.5, NULL::text, method => 'tlcs', options => '{"containment": 7}');
SELECT * FROM near_duplicates('few', 0.5, NULL::text, method => 'lcs', options => '{"slope": 0.1}');
SELECT * FROM near_duplicates('few', 0.5, NULL::text, method => 'tlcs', options => '{"dispersed": 0.6}');
SELECT * FROM near_duplicates('few', 0.5, NULL::text, method => 'tlcs', options => '{"dispersed": -0.1}');
SELECT * FROM near_duplicates('few', 0.5, NULL::text, method => 'tlcs', tokenizer => 'words');
SELECT * FROM near_duplicates('few', 0.5, NULL::text, method => 'tlcs', options => '{"compare": "some"}');
SELECT * FROM near_duplicates('few', 0.5, NULL::text, method => 'tlcs', options => '{"compare": "all", "weight": "id"}');
SELECT * FROM near_duplicates('few', 0.5, NULL::text, method => 'tlcs', options => '{"measure": "edit"}');
SELECT * FROM near_duplicates('few', 0.5, NULL::text, method => 'tlcs', options => '{"measure": "lcs"}');
SELECT * FROM near_duplicates('few', 0.5, NULL::text, method => 'tlcs', options => '{"measure": "cosine", "min_part": 50}');
SELECT * FROM near_duplicates('few', NULL, NULL::text, method => 'lcs', options => '{"measure": "cosine", "containment": 0.7}');
SELECT tlcs_resemblance('a', 'b', slope => 1);
SELECT tlcs_resemblance('a', 'b', "window" => 2000);
SELECT tlcs_resemblance('a', 'b', first => -1);
SELECT tlcs_containment('a', 'b', centre => '{0.5}');
SELECT tlcs_containment('a', 'b', centre => '{0.5,NULL}');
SELECT sentence_signatures('a', m => 0);
SELECT sentence_signatures('a', n => 17);
SELECT sentence_signatures('a', s => 2);
DROP SCHEMA lcs_test CASCADE;
