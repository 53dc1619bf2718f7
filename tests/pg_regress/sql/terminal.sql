-- Two texts for a terminal.
\pset format unaligned
\pset tuples_only on
SELECT explain_pair_text('The harbour of Port Ellis will stay closed until Thursday, after a crane "collapsed" on Monday.',
    'PORT ELLIS - The harbour of Port Ellis will stay closed until Friday after a crane collapsed on (late) Monday.', 70);
\pset format aligned
SELECT explain_pair_text('市图书馆将于下周一重新开放，读者可以在网上预约座位。', '据报道，市图书馆将于下周二重新开放，读者可在网上预约座位。', 44);
\pset format unaligned
-- The words alone; nothing of a text steers the terminal.
CREATE FUNCTION words_of(a text, b text, width int DEFAULT 60) RETURNS text LANGUAGE sql AS $$ SELECT split_part(explain_pair_text(a, b, width), E'\n\n', 4) $$;
SELECT words_of('', ''), words_of('same', 'SAME!'), words_of('a', ''), words_of('', 'a b');
SELECT words_of(E'one\x1b[2J two\x07 three\r\n\r\n four', E'one two \u202ethree\u2066 four');
SELECT words_of('x1 x2 x3 x4 y1 y2 y3 y4 y5 z', 'y1 y2 y3 y4 y5 x1 x2 x3 x4 z');
SELECT words_of(string_agg('w' || i, ' '), string_agg('w' || CASE WHEN i = 500 THEN 'x' ELSE '' END || i, ' ')) FROM generate_series(1, 1000) i;
SELECT length(words_of(repeat('x', 100000), repeat('y', 100000))), max(length(l)) FROM string_to_table(words_of(repeat('x', 100000), repeat('y', 100000)), E'\n') l;
SELECT right(words_of(string_agg('w' || i, ' '), string_agg('w' || i || CASE WHEN i % 2 = 0 THEN 'x' ELSE '' END, ' ')), 40) FROM generate_series(1, 20000) i;
SELECT max(length(l)) <= 40 FROM string_to_table(explain_pair_text(repeat('to be or not ', 300), repeat('not to be ', 300), 40), E'\n') l;
-- The figures are those of explain_pair.
WITH texts(a, b) AS (VALUES ('the quick brown fox jumps', 'the quick red fox jumped'), ('', 'x'), ('同样的文字', '同样的文字'))
SELECT count(*), count(*) FILTER (WHERE t.line ~ format('^%s +%s ', e.method, coalesce(round(e.similarity::numeric, 3)::text, '-')))
FROM texts, explain_pair(a, b) e LEFT JOIN LATERAL (SELECT line FROM string_to_table(explain_pair_text(a, b, 100), E'\n') s(line) WHERE starts_with(line, e.method || ' ')) t ON true;
SELECT explain_pair_text(NULL, 'x') IS NULL, explain_pair_text('x', 'y', NULL) IS NULL;
SELECT explain_pair_text('x', 'y', 39);
SELECT explain_pair_text('x', 'y', 1001);
DROP FUNCTION words_of;
