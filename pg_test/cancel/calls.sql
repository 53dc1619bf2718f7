-- A call of each function, of what takes it long. Patterns stand in brackets, which count where a pattern refers to its own. Answers are thrown away: pg_column_size of them is read.
CREATE FUNCTION add(pattern text, VARIADIC calls text[]) RETURNS void LANGUAGE sql AS $$
    INSERT INTO calls(pattern, call, fails) SELECT add.pattern, regexp_replace(c, '^\w{5}: ', ''), coalesce(substring(c FROM '^(\w{5}): '), '') FROM unnest(calls) c
$$;
-- Texts, of several shapes.
SELECT add('(words|html_text|feature_code|sentence_signatures|spotsigs|imatch|shingles)\(text.*\)',
    'SELECT pg_column_size({f}(text)) FROM big', 'SELECT pg_column_size({f}(short)) FROM big', 'SELECT pg_column_size({f}(one)) FROM big',
    'SELECT pg_column_size({f}(html)) FROM big', 'SELECT pg_column_size({f}(open_html)) FROM big');
SELECT add('(sentences|paragraphs)\(text\)',
    'SELECT count(*) FROM big, {f}(text)', 'SELECT count(*) FROM big, {f}(short)', 'SELECT count(*) FROM big, {f}(one)', 'SELECT count(*) FROM (SELECT {f}(short) FROM big OFFSET 0) s');
SELECT add('(minhash|simhash|tokens|near)\(text,.*\)', 'SELECT pg_column_size({f}(text)) FROM big', 'SELECT pg_column_size({f}(short)) FROM big', 'SELECT pg_column_size({f}(one)) FROM big',
    'SELECT pg_column_size({f}(text, tokenizer => ''chars'')) FROM big');
SELECT add('(tokens|near)\(text,.*\)', 'SELECT pg_column_size({f}(html, tokenizer => ''html'')) FROM big');
SELECT add('(minhash|simhash|tokens|near)\(text\[\],.*\)', 'SELECT pg_column_size({f}(words)) FROM vals');
SELECT add('(minhash|simhash|tokens|near)\(tsvector,.*\)', 'SELECT pg_column_size({f}(tsvector)) FROM vals');
SELECT add('(minhash|simhash|tokens|near)\(bigint\[\],.*\)', 'SELECT pg_column_size({f}(numbers)) FROM vals');
SELECT add('minhash\(text,.*\)', 'SELECT pg_column_size(minhash(text, 5, 2048)) FROM big');
SELECT add('(jaccard|cosine|dice|overlap|resemblance|containment)\(text,text,integer\)',
    'SELECT {f}(text, other) FROM big', 'SELECT {f}(short, one) FROM big', 'SELECT {f}(one, one || ''b'', 200) FROM big');
SELECT add('(edit_similarity|tlcs_\w+|repeatability|diff_html|explain_pair_text)\(text,text.*\)',
    'SELECT pg_column_size({f}(text, other)) FROM big', 'SELECT pg_column_size({f}(short, one)) FROM big', 'SELECT pg_column_size({f}(one, one || ''b'')) FROM big');
-- These refuse what would take hours.
SELECT add('lcs_\w+\(text,text.*\)', '54000: SELECT {f}(text, other) FROM big', '54000: SELECT {f}(short, one) FROM big', 'SELECT {f}(one, one || ''b'') FROM big', 'SELECT {f}(left(text, 4000000), reverse(left(text, 4000000))) FROM big');
-- Codes are short.
SELECT add('code_repeatability\(.*\)', '22023: SELECT {f}(text, other) FROM big', 'SELECT count({f}(''abc'' || i, ''bc'' || i)) FROM generate_series(1, 1000000) i');
SELECT add('(tlcs|shared_passages|shared_runs|explain_pair)\(text,text.*\)',
    'SELECT count(*) FROM big, {f}(text, other)', 'SELECT count(*) FROM big, {f}(short, one)', 'SELECT count(*) FROM big, {f}(short, short || ''b'')');
SELECT add('(explain_pair|diff_html)\(regclass,.*\)', '42804: SELECT count(*) FROM {f}(''same'', 1, 2)');
-- Types.
SELECT add('\w+_(in\(cstring\)|out\(\w+\))', 'SELECT pg_column_size({t}::text::{t}) FROM big', '22P02: SELECT one::{t} FROM big', '22P02: SELECT repeat('':'', 50000000)::{t}');
SELECT add('\w+_send\(\w+\)', 'SELECT pg_column_size({f}({t})) FROM big');
SELECT add('\w+_recv\(internal\)', 'COPY received_{t} FROM :file (FORMAT binary)');
SELECT add('\w+_(eq|ne|lt|le|gt|ge|cmp)\((\w+),\3\)', 'SELECT {f}({t}, {t}) FROM big');
SELECT add('\w+_hash\(\w+\)', 'SELECT {f}({t}) FROM big');
SELECT add('\w+_hash_extended\(\w+,bigint\)', 'SELECT {f}({t}, 1) FROM big');
-- Sketches and sets.
SELECT add('(minhash|simhash)_(similarity|distance)\((\w+),\4\)', 'SELECT count({f}({a}, {a})) FROM big, generate_series(1, 1000000)');
SELECT add('(super|mega)shingles\(.*\)', 'SELECT count({f}(minhash_sketch)) FROM big, generate_series(1, 1000000)');
SELECT add('simhash_(to|from)_.*', 'SELECT count(simhash_from_bits(simhash_to_bit(simhash_sketch))) FROM big, generate_series(1, 1000000)',
    'SELECT count(simhash_from_bits(simhash_to_varbit(simhash_sketch))) FROM big, generate_series(1, 1000000)', '22023: SELECT simhash_from_bits(repeat(''1'', 80000000)::varbit)');
SELECT add('near\((minhash|simhash)_sketch,double precision\)', 'SELECT count({f}({a}, 1)) FROM big, generate_series(1, 1000000)');
SELECT add('(minhash|simhash)_(in_ball|ball_contains)\(.*\)', 'SELECT count(minhash_sketch <@ minhash_ball), count(minhash_ball @> minhash_sketch), count(simhash_sketch <@ simhash_ball), count(simhash_ball @> simhash_sketch) FROM big, generate_series(1, 1000000)');
SELECT add('explain_pair\((minhash|simhash)_sketch,\w+\)', 'SELECT count(*) FROM big, generate_series(1, 1000000), {f}({a}, {a})');
SELECT add('(near_similarity|text_in_ball|lexemes_in_ball|array_in_ball|text_ball_distance|text_ball_contains)\(.*\)',
    'SELECT near_similarity(text, near(other)), text <@ near(other), text <-> near(other), near(other) @> text FROM big',
    'SELECT near_similarity(text, near(other, 0.1, method => ''edit'')), text <@ near(other, 0.1, method => ''edit''), text <-> near(other, 0.1, method => ''edit'') FROM big', '22023: SELECT near_similarity(text, text_ball) FROM big', 'SELECT near_similarity(short, near(one)) FROM big',
    'SELECT near_similarity(tsvector, near(tsvector)), tsvector <@ near(tsvector), tsvector <-> near(tsvector), near(tsvector) @> tsvector FROM vals',
    'SELECT near_similarity(numbers, text_ball) FROM big, vals', 'SELECT numbers <@ text_ball FROM big, vals', 'SELECT numbers <-> text_ball FROM big, vals', 'SELECT text_ball @> numbers FROM big, vals', 'SELECT near_similarity(words, near(words)) FROM vals');
SELECT add('text_balls_meet\(.*\)', 'SELECT text_ball && text_ball FROM big', 'SELECT count(*) FROM big, generate_series(1, 1000000) WHERE text_ball && text_ball');
SELECT add('shares\(bigint\[\],.*\)', 'SELECT shares(numbers, numbers || 1::int8, 6000000) FROM vals');
SELECT add('shares\(uuid\[\],.*\)', 'SELECT shares(uuids, uuids, 3000000) FROM vals');
SELECT add('neardup_part_(pack|pack_step|pack_result)\(.*\)', 'SELECT cardinality(neardup_part_pack(1, carried, ranks, ''{"method": "jaccard", "threshold": 0.1, "made": true}'', 1000, NULL)) FROM vals',
    'SELECT cardinality(neardup_part_pack(s.id, s.set, ranks, ''{"method": "jaccard", "threshold": 0.8}'', 4, NULL)) FROM sets s, vals WHERE name = ''jaccard''',
    'SELECT cardinality(neardup_part_pack(s.id, s.set, NULL, ''{"method": "minhash", "threshold": 0.8, "options": {"bands": 4, "rows": 2}}'', 1000, NULL)) FROM sets s WHERE name = ''minhash''',
    'SELECT cardinality(neardup_part_pack(1, c, '''', ''{"method": "runs"}'', 1000, NULL)) FROM big, neardup_part_document(text, NULL, NULL, NULL, ''{"method": "runs"}'') c');
SELECT add('neardup_part_join_packed(_step|_result)?\(.*\)', '53400: SELECT cardinality(neardup_part_join_packed(rows, ''{"method": "jaccard", "threshold": 0.8}'', NULL)) FROM packed WHERE name = ''jaccard''',
    '53400: SELECT cardinality(neardup_part_join_packed(rows, ''{"method": "minhash", "threshold": 0.8, "options": {"bands": 4, "rows": 2}}'', NULL)) FROM packed WHERE name = ''minhash''',
    '53400: SELECT cardinality(neardup_part_join_packed(rows, ''{"method": "imatch"}'', NULL)) FROM packed WHERE name = ''imatch''');
SELECT add('neardup_part_join(_step|_result)?\(.*\)', '53400: SELECT cardinality(neardup_part_join(id, size, bitmap, prefix, ''{"method": "jaccard", "threshold": 0.8}'', NULL)) FROM routes WHERE name = ''jaccard''',
    '53400: SELECT cardinality(neardup_part_join(id, size, bitmap, prefix, ''{"method": "jaccard", "threshold": 0.8}'', NULL)) FROM routes, generate_series(1, 10) WHERE name = ''jaccard''',
    '53400: SELECT cardinality(neardup_part_join(id, size, bitmap, prefix, ''{"method": "minhash", "threshold": 0.8, "options": {"bands": 4, "rows": 2}}'', NULL)) FROM routes WHERE name = ''minhash''',
    'SELECT cardinality(neardup_part_join(id, 1, '''', ''\x010700000000000000'', ''{"method": "runs"}'', NULL)) FROM same');
SELECT add('neardup_part_document\(text,.*\)', format('SELECT pg_column_size({f}(text, NULL, NULL, NULL, %L)) FROM big', m), format('SELECT pg_column_size({f}(short, NULL, NULL, NULL, %L)) FROM big', m), format('SELECT pg_column_size({f}(one, NULL, NULL, NULL, %L)) FROM big', m))
    FROM unnest('{"{\"method\": \"edit\"}","{\"method\": \"tlcs\"}","{\"method\": \"runs\"}","{\"method\": \"simhash\"}","{\"method\": \"imatch\"}","{\"method\": \"spotsigs\"}"}'::text[]) m;
SELECT add('neardup_part_document\(text\[\],.*\)', 'SELECT pg_column_size({f}(words, NULL, NULL, NULL, ''{"method": "shingling", "made": true}'')) FROM vals');
SELECT add('neardup_part_document\(tsvector,.*\)', 'SELECT pg_column_size({f}(tsvector, NULL, NULL, NULL, ''{"method": "combined", "made": true}'')) FROM vals');
SELECT add('neardup_part_document\(bigint\[\],.*\)', 'SELECT pg_column_size({f}(numbers, NULL, NULL, NULL, ''{"method": "imatch", "made": true}'')) FROM vals');
SELECT add('neardup_part_rows\(.*\)', 'SELECT count(*) FROM vals, {f}(carried, ranks, ''{"method": "jaccard", "threshold": 0.1, "made": true}'', 1000)',
    'SELECT count(*) FROM big, neardup_part_document(text, NULL, NULL, NULL, ''{"method": "runs"}'') c, {f}(c, '''', ''{"method": "runs"}'', 1000)',
    'SELECT count(*) FROM big, neardup_part_document(text, NULL, NULL, NULL, ''{"method": "edit"}'') c, {f}(c, ''\x0100000000000000'', ''{"method": "edit"}'', 1000)');
SELECT add('neardup_part_ranks.*', 'SELECT pg_column_size(neardup_part_ranks(carried, ''{"method": "jaccard", "threshold": 0.1, "made": true}'', NULL)) FROM vals', 'SELECT pg_column_size(neardup_part_ranks(set, ''{"method": "jaccard", "threshold": 0.8}'', NULL)) FROM sets WHERE name = ''jaccard''',
    'SELECT pg_column_size(neardup_part_ranks(neardup_part_document(text, NULL, NULL, NULL, ''{"method": "imatch"}''), ''{"method": "imatch"}'', NULL)) FROM big',
    'SELECT pg_column_size(neardup_part_ranks(neardup_part_document(text, NULL, NULL, NULL, ''{"method": "edit"}''), ''{"method": "edit"}'', NULL)) FROM big');
SELECT add('neardup_part_passages\(.*\)', 'SELECT octet_length({f}(''\x01'' || convert_to(text, ''UTF8''), ''\x01'' || convert_to(other, ''UTF8''), NULL, ''{"method": "partial_duplicates", "passages": {"min_sentences": 1}}'')) FROM big');
SELECT add('neardup_part_passage_rows\(.*\)', 'SELECT count(*) FROM {f}(decode(repeat(repeat(''00'', 36), 2500000), ''hex''))');
SELECT add('neardup_part_similarity\(.*\)', 'SELECT {f}(carried, carried, NULL, ''{"method": "jaccard", "threshold": 0.1, "made": true}'') FROM vals', 'SELECT count({f}(carried, carried, NULL, ''{"method": "jaccard", "threshold": 0.1, "made": true}'')) FROM vals, generate_series(1, 1000)',
    'SELECT {f}(''\x01'' || convert_to(text, ''UTF8''), ''\x01'' || convert_to(other, ''UTF8''), NULL, ''{"method": "edit", "threshold": 0.1}'') FROM big',
    'SELECT {f}(''\x01'' || convert_to(text, ''UTF8''), ''\x01'' || convert_to(other, ''UTF8''), NULL, ''{"method": "runs"}'') FROM big',
    'SELECT {f}(''\x01'' || convert_to(text, ''UTF8''), ''\x01'' || convert_to(other, ''UTF8''), NULL, ''{"method": "tlcs"}'') FROM big');
SELECT add('neardup_part_candidates\(.*\)', 'SELECT count(*) FROM {f}(ARRAY(SELECT i FROM generate_series(1, 4000000::int8) i))', 'SELECT count(*) FROM (SELECT {f}(ARRAY(SELECT i FROM generate_series(1, 4000000::int8) i)) OFFSET 0) s');
SELECT add('neardup_job_hash\(.*\)', 'SELECT neardup_job_hash(text) FROM big');
SELECT add('neardup_plan\(.*\)', 'SELECT count(*) FROM generate_series(1, 1000000), neardup_plan(0.8, 0.99)');
SELECT add('neardup_(version|check_library)\(\)', 'SELECT count(*) FROM generate_series(1, 10000000), {f}()');
SELECT add('near_duplicates_stats\(\)', 'SELECT count(*) FROM generate_series(1, 10000000), {f}()');
-- Equal rows by every method.
SELECT add('near_duplicates\(regclass,double precision,jsonb.*\)', format('SELECT count(*) FROM near_duplicates(''same'', %s, id_column => ''id'', method => %L, max_pairs => 100000000000)', m.threshold, m.method),
    format('SELECT count(*) FROM (SELECT near_duplicates(''same'', %s, id_column => ''id'', method => %L) OFFSET 0) s', m.threshold, m.method)) FROM methods m;
SELECT add('(near_duplicate_clusters|eliminate)\(regclass,double precision,jsonb.*\)', format('SELECT count(*) FROM {f}(''mixed'', %s, id_column => ''id'', text_column => ''body'', method => %L)', m.threshold, m.method)) FROM methods m;
SELECT add('near_duplicate_clusters\(regclass,double precision,jsonb.*\)', format('SELECT count(*) FROM {f}(''mixed'', 0.8, id_column => ''id'', text_column => ''body'', clustering => %L, max_cluster_size => %s)', c, coalesce(size, 'NULL')))
    FROM unnest('{connected,star,perhaps_similar}'::text[]) c, unnest('{NULL,1000}'::text[]) size WHERE c = 'connected' OR size IS NULL;
-- In one large group, in many small ones, and of rows that all differ in their source.
SELECT add('near_duplicates\(regclass,double precision,jsonb.*\)', format('SELECT count(*) FROM near_duplicates(''same'', 0.8, id_column => ''id'', text_column => ''body'', max_pairs => 100000000000, %s)', more))
    FROM unnest('{"within => ''body''", "within => ''id''", "across => ''id''"}'::text[]) more;
SELECT add('(near_duplicate_clusters|eliminate)\(regclass,double precision,jsonb.*\)', 'SELECT count(*) FROM {f}(''same'', 0.8, id_column => ''id'', text_column => ''body'', within => ''body'', across => ''id'')');
SELECT add('duplicates_report\(regclass,double precision,jsonb.*\)', 'SELECT length({f}(''mixed'', 0.8, id_column => ''id'', text_column => ''body''))', 'SELECT length({f}(''same'', 0.8, id_column => ''id'', method => ''minhash''))');
SELECT add('(near_duplicates|near_duplicate_clusters|eliminate)\(regclass,double precision,anyelement.*\)', 'SELECT count(*) FROM {f}(''same'', 0.8, NULL::int, id_column => ''id'', max_pairs => 100000000000)');
SELECT add('duplicates_report\(regclass,double precision,anyelement.*\)', 'SELECT length({f}(''same'', 0.8, NULL::int, id_column => ''id''))');
SELECT add('near_duplicates_between\(regclass,regclass,double precision,jsonb.*\)', 'SELECT count(*) FROM {f}(''same'', ''mixed'', 0.8, id_column => ''id'', right_text_column => ''body'', max_pairs => 100000000000)');
SELECT add('near_duplicates_between\(regclass,regclass,double precision,anyelement.*\)', 'SELECT count(*) FROM {f}(''same'', ''mixed'', 0.8, NULL::int, id_column => ''id'', right_text_column => ''body'', max_pairs => 100000000000)');
SELECT add('partial_duplicates(_between)?\((regclass,)+double precision,jsonb.*\)', 'SELECT count(*) FROM {f}({docs}, id_column => ''id'', text_column => ''body'', min_sentences => 1, features => ''shingles'', options => ''{"max_similar": 1000000}'', max_passages => 4000000000)');
SELECT add('partial_duplicates(_between)?\((regclass,)+double precision,anyelement.*\)', 'SELECT count(*) FROM {f}({docs}, 0.9, NULL::int, id_column => ''id'', text_column => ''body'', min_sentences => 1, max_passages => 4000000000)');
SELECT add('(repeated_runs|cut_repeats)\(regclass,integer,text.*\)', 'SELECT count(*) FROM {f}(''same'', 3, id_column => ''id'')', 'SELECT count(*) FROM {f}(''mixed'', 3, id_column => ''id'', text_column => ''body'', unit => ''line'')');
SELECT add('(repeated_runs|cut_repeats)\(regclass,integer,anyelement.*\)', 'SELECT count(*) FROM {f}(''same'', 3, NULL::int, id_column => ''id'')');
-- Pairs.
SELECT add('(clusters_of_pairs|cluster_stats|cluster_links)\(text,(integer.*)\)', 'SELECT count(*) FROM {f}(''TABLE pairs'')');
SELECT add('(clusters_of_pairs|cluster_stats|cluster_links)\(text,(anyelement.*)\)', 'SELECT count(*) FROM {f}(''TABLE pairs'', NULL::int)');
SELECT add('(clusters_of_pairs|cluster_stats|cluster_links)\(regclass,(integer.*)\)', 'SELECT count(*) FROM {f}(''pairs''::regclass)');
SELECT add('(clusters_of_pairs|cluster_stats|cluster_links)\(regclass,(anyelement.*)\)', 'SELECT count(*) FROM {f}(''pairs''::regclass, NULL::numeric)');
SELECT add('(clusters_of_pairs|cluster_stats)\(text,integer,text.*\)', format('SELECT count(*) FROM {f}(''TABLE pairs'', clustering => %L, max_cluster_size => %s)', c, coalesce(size, 'NULL')))
    FROM unnest('{connected,star,perhaps_similar}'::text[]) c, unnest('{NULL,1000}'::text[]) size WHERE c = 'connected' OR size IS NULL;
SELECT add('(near_duplicates_into|neardup_into_(steps?|begin|again))\(.*\)', 'CALL near_duplicates_into(''same'', 0.8, ''into_pairs'', id_column => ''id'', max_pairs => 100000000000)');
SELECT add('(near_duplicates_into|neardup_into_(steps?|begin|again))\(.*\)', 'CALL near_duplicates_into(''same'', 0.8, ''into_update'', id_column => ''id'', incremental => true)');
SELECT add('(partial_duplicates_into|neardup_into_step)\(.*\)', 'CALL partial_duplicates_into(''same'', passages => ''into_passages'', id_column => ''id'', parts => 2)');
SELECT add('near_duplicates_plan\(.*\)', 'SELECT * FROM {f}(''same'', 0.8, id_column => ''id'', parts => 4)', 'SELECT * FROM {f}(''mixed'', 0.5, id_column => ''id'', text_column => ''body'', parts => 4, sample => 300000)');
SELECT add('neardup_into_calls\(\)', 'SELECT count(*) FROM {f}()');
SELECT add('neardup_into_clean\(.*\)', 'SELECT {f}(''0123456789ab'')');
-- Jobs.
SELECT add('neardup_changed\(\)', 'INSERT INTO watched SELECT id + 1000000, body FROM same', 'UPDATE watched SET body = body || ''.''');
SELECT add('neardup_watch\(.*\)', 'SELECT neardup_watch(''unwatched'', 0.8)');
SELECT add('neardup_unwatch\(.*\)', 'SELECT neardup_unwatch(''watched'')');
SELECT add('(neardup_refresh|neardup_refresh_step)\(.*\)', 'CALL neardup_refresh(''watched'')');
SELECT add('neardup_rows\(.*\)', '0A000: SELECT * FROM neardup_rows(''x'') AS r(a int)');
-- The index, and what plans ask.
SELECT add('signature_(handler|class|options_\w+)\(.*\)', 'CREATE INDEX ON sketches USING signature (minhash_sketch)',
    'CREATE INDEX ON sketches USING signature (simhash_sketch)', 'CREATE INDEX ON sketches USING signature (numbers bigint_signature_ops)', 'CREATE INDEX ON sketches USING signature (uuids)',
    'INSERT INTO few(minhash_sketch, simhash_sketch) SELECT minhash_sketch, simhash_sketch FROM sketches', 'INSERT INTO long_numbers VALUES (1)');
SELECT add('signature_(set_class|options_(set|ball_set|tokens))\(.*\)', 'CREATE INDEX ON same USING signature (body text_set_ops (shingle = 2))', 'CREATE INDEX ON big USING signature (text)', 'CREATE INDEX ON big USING signature (one)',
    'CREATE INDEX ON vals USING signature (words array_set_ops (shingle = 2))', 'CREATE INDEX ON vals USING signature (tsvector)',
    'CREATE INDEX ON big USING signature (near(text, 0.8))', 'INSERT INTO long_text VALUES (1)', 'INSERT INTO long_words VALUES (1)', 'INSERT INTO few(text) SELECT body FROM same');
SELECT add('signature_index_(check|stats|merge)\(.*\)', format('SELECT {f}(%L)', i)) FROM unnest('{by_minhash,by_simhash,by_numbers,by_uuids,by_text}'::text[]) i;
SELECT add('signature_index_check\(.*\)', 'SELECT signature_index_check(''by_text'', true)');
SELECT add('neardup_moves\(\)', '39P01: SELECT neardup_moves()');
SELECT add('near_duplicates_plan\(.*\)', 'SELECT * FROM {f}(''same'', 0.8, id_column => ''id'')', 'SELECT * FROM {f}(''mixed'', 0.5, id_column => ''id'', sample => 300000)', 'SELECT * FROM {f}(''same'', id_column => ''id'', method => ''tlcs'', sample => 300000)');
SELECT add('nearest\(regclass,integer,text.*\)', 'SELECT count(*) FROM {f}(''same'', id_column => ''id'')', 'SELECT count(*) FROM {f}(''mixed'', 100, id_column => ''id'', text_column => ''body'', method => ''overlap'')', 'SELECT count(*) FROM (SELECT {f}(''mixed'', 3, id_column => ''id'', text_column => ''body'', shingle => 2) OFFSET 0) s');
SELECT add('nearest\(regclass,integer,anyelement.*\)', 'SELECT count(*) FROM {f}(''same'', 3, NULL::int, id_column => ''id'')');
SELECT add('suggest\(.*\)', 'SELECT * FROM {f}(''same'', id_column => ''id'')', 'SELECT * FROM {f}(''mixed'', id_column => ''id'', sample => 300000)', 'SELECT count(*) FROM {f}(''same'', id_column => ''id'', labels => ''labels'')');
SELECT add('suggest_pairs\(regclass,integer,text.*\)', 'SELECT count(*) FROM {f}(''same'', 100, id_column => ''id'')', 'SELECT count(*) FROM {f}(''mixed'', 10000, id_column => ''id'', sample => 300000)');
SELECT add('suggest_pairs\(regclass,integer,anyelement.*\)', 'SELECT count(*) FROM {f}(''same'', 100, NULL::bigint, id_column => ''id'')', 'SELECT count(*) FROM {f}(''mixed'', 10000, NULL::bigint, id_column => ''id'', sample => 300000)');
SELECT add('signature_runs_class\(.*\)', 'CREATE INDEX ON same USING signature (body text_runs_ops)', 'CREATE INDEX ON big USING signature (text text_runs_ops)', 'CREATE INDEX ON big USING signature (one text_runs_ops (min_run = 1))');
SELECT add('signature_gram_class\(.*\)', 'CREATE INDEX ON same USING signature (body text_gram_ops)', 'CREATE INDEX ON big USING signature (near(one, 0.8, method => ''edit'') text_ball_gram_ops (shingle = 1))', 'CREATE INDEX ON big USING signature (text text_gram_ops)', 'CREATE INDEX ON big USING signature (one text_gram_ops (shingle = 1))');
SELECT add('(shared_run\(text,integer,text,text|text_shares_run\(text,text_runs|text_runs_shared\(text_runs,text)\)', 'SELECT pg_column_size(shared_run(text)) FROM big', 'SELECT pg_column_size(shared_run(one, 2147483647)) FROM big', 'SELECT other && text_runs FROM big', 'SELECT text_runs && short FROM big', 'SELECT short && shared_run(short, 1) FROM big');
SELECT add('signature_index_fits\(.*\)', 'SELECT signature_index_fits(''by_text'', text_ball) FROM big');
SELECT add('(near_selectivity|near_join_selectivity|near_support|shares_support|near_duplicates_rows)\(.*\)', 'EXPLAIN SELECT * FROM near_duplicates(''million'', 0.8, id_column => ''id'')', 'SELECT count(*) FROM same a JOIN same b ON a.body <@ near(b.body, 0.8)', 'SELECT count(*) FROM same a WHERE NOT EXISTS (SELECT FROM same b WHERE a.body <@ near(b.body, 0.8) AND a.id > b.id + 1000000)',
    'SELECT count(*) FROM same a LEFT JOIN same b ON a.body <@ near(b.body, 0.8) AND a.id > b.id + 1000000', 'SELECT count(b.id) FROM mixed a FULL JOIN (SELECT id, id || '' other text'' AS body FROM mixed) b ON b.body <@ near(a.body, 0.8) WHERE b.id < 0 OR a.id < 0',
    'SELECT count(*) FROM sketches a JOIN sketches b ON a.minhash_sketch <@ near(b.minhash_sketch, 0.8)',
    'SELECT count(*) FROM sketches a JOIN sketches b ON a.simhash_sketch <@ near(b.simhash_sketch, 1)', 'SELECT count(*) FROM sketches a JOIN sketches b ON shares(a.numbers, b.numbers)',
    'EXPLAIN SELECT * FROM same WHERE body <@ near((SELECT text FROM big), 0.8)', 'SELECT count(*) FROM same WHERE body <@ near((SELECT text FROM big), 0.8)', 'SELECT count(*) FROM (SELECT * FROM sketches a ORDER BY minhash_sketch <%> minhash(''The quick brown fox jumps over'') OFFSET 299000) s');
