-- Documents for reports: versions that differ a little, equal ones, hostile ones, in several directions of writing.
CREATE TABLE docs (id text PRIMARY KEY, title text, body text);
CREATE FUNCTION words(first int, last int) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(substr(md5(n::text), 1, 3 + n % 5) || CASE WHEN n % 9 = 8 THEN '.' ELSE '' END, ' ' ORDER BY n) FROM generate_series(first, last) n
$$;
-- Forty clusters of versions: of the first, one word is another one, of the second two, and so on.
INSERT INTO docs
SELECT format('doc-%s-%s', cluster, version), format('Title %s, version %s', cluster, version),
    (SELECT string_agg(CASE WHEN n <= version THEN format('changed%s', version) ELSE words(cluster * 1000 + n * 6, cluster * 1000 + n * 6 + 5) END, ' ' ORDER BY n) FROM generate_series(1, 14) n)
FROM generate_series(1, 40) cluster, generate_series(0, 1 + cluster % 4) version;
-- A large cluster, and one of equal texts.
INSERT INTO docs SELECT 'many-' || n, NULL, words(90000, 90050) || ' number' || n % 150 FROM generate_series(1, 300) n;
INSERT INTO docs SELECT 'equal-' || n, 'Equal', words(91000, 91040) FROM generate_series(1, 7) n;
-- What is in documents, ids and titles is never markup.
INSERT INTO docs
SELECT hostile || n, hostile, hostile || ' ' || words(92000, 92030) || hostile || n
FROM generate_series(1, 2) n, unnest(ARRAY[
    '<script>window.hacked = 1</script>', '"><img src=x onerror="window.hacked = 2">', $$' onclick='window.hacked = 3$$,
    '</style></title></textarea><svg onload="window.hacked = 4">', '<!--', '&lt;b&gt;', 'javascript:window.hacked=5//', '<base href=//x>']) hostile;
INSERT INTO docs
SELECT 'rtl-' || n, 'مكتبة المدينة', repeat('أعلنت مكتبة المدينة أنها ستغلق أبوابها في أيام العطل الرسمية. ', 3) || n FROM generate_series(1, 2) n;
INSERT INTO docs
SELECT 'wide-' || n || repeat('w', 300), repeat('t', 400), repeat('x', 3000) || ' ' || words(93000, 93060) || n FROM generate_series(1, 2) n;
-- A thousand clusters of long texts.
CREATE TABLE thousand AS
SELECT c * 10 + v AS id, (SELECT string_agg(words(c * 3000 + n * 5, c * 3000 + n * 5 + 5) || CASE WHEN n % 9 = v THEN ' odd' || v || n ELSE '' END, ' ' ORDER BY n) FROM generate_series(1, 60) n) AS body
FROM generate_series(1, 1000) c, generate_series(1, 3) v;
