-- Words and shingles of a text.
-- Unaligned: the widths of odd characters are psql's affair.
\pset format unaligned
\pset null NULL

SELECT words('The quick, brown FOX -- jumped 3 times; naïve Ärger!');
SELECT words(''), words(' .,;—!?'), words(NULL);
-- Underscores, points and apostrophes part words; numbers are words.
SELECT words('snake_case 1,000.50 0x1F it''s e-mail a@b.c');
-- One character becomes one character, also where the full lower case would be longer.
SELECT words('ÀÉÎ İstanbul STRASSE ẞ ΣΊΣΥΦΟΣ ЁЖ');
-- Case is folded in all scripts: a final sigma, a long s, a micro sign, variants of letters. Dotless i is another letter.
SELECT words('ΛΟΓΟΣ') = words('λογος') AS sigma, words('ſun ẛ 5µm') = words('SUN Ṡ 5ΜM') AS others, words('ϐϑϕϖϰϱϵ') = words('ΒΘΦΠΚΡΕ') AS symbols, words('ı') = words('I') AS dotless;
SELECT jaccard('Ο ΗΛΙΟΣ ΤΟΥ ΚΟΣΜΟΥ ΚΑΙ Ο ΛΟΓΟΣ', 'ο ηλιος του κοσμου και ο λογος'), 'ΛΟΓΟΣ' <@ near('λογος', 1, tokenizer => 'chars') AS chars;
-- Scripts without spaces: a word for each character, beside runs of other scripts.
SELECT words('近似网页abc检测2024年');
SELECT words('ひらがなカタカナ 漢字');
SELECT words('สวัสดี'), words('ສະບາຍດີ'), words('សួស្តី'), words('မြန်မာ');
SELECT words('한국어 문서 हिन्दी עברית عربي');
-- A combining mark belongs to the word before it, and separates if there is none.
SELECT words(E'e\u0301tude'), cardinality(words(E'e\u0301tude \u0301x')), words(E'\u845b\U000e0100\u57ce');
SELECT words(E'a\u200bb\u00a0c\u3000d\te\nf');
-- Characters that nobody sees do not end a word: soft hyphen, word joiner, byte order mark, joiners, marks of direction.
SELECT c, words(format('un%sseen, %1$s x%1$s', chr(c))) = '{unseen,x}' AS left_out
FROM unnest(ARRAY[x'ad', x'200b', x'200c', x'200d', x'2060', x'feff', x'200e', x'202c', x'61c', x'e0041', x'600']::int[]) c;
SELECT words(html_text('<p>un&shy;seen')) = words(E'un\u00adseen') AS html, E'un\u00adseen' <@ near('unseen', 1, tokenizer => 'chars') AS chars;
-- A text without words is one token, so that equal texts are equal.
SELECT jaccard('😂😂😂', E'😂 😂😂\n'), jaccard('😂😂😂', '😂😂'), jaccard('!!!', '???'), jaccard('--- ==', '---=='), jaccard('! a', '!'), jaccard(' ', ' ');
SELECT words('!!!'), cardinality(shingles('!!! ?', 3)), '!!!' <@ near('! !!', 1) AS near, '!' <@ near('! !!', 1) AS other, minhash_similarity(minhash('😂'), minhash('😂')) AS sketches;
-- Order and repeats are kept.
SELECT words('as soon as possible, as SOON');
SELECT cardinality(words(repeat('word ', 100000)));
SELECT length((words(repeat('x', 1000000)))[1]);
SELECT w, pg_typeof(w), array_dims(w), array_ndims(words('')) FROM words('two words') w;
SELECT words('plain'::varchar), words('padded'::char(10)), words('name'::name);

-- n words give n - k + 1 shingles, with wrap n; fewer than k words give one.
SELECT k, cardinality(shingles('one two three four five', k)) AS plain,
    cardinality(shingles('one two three four five', k, wrap => true)) AS wrapped
FROM generate_series(1, 7) k;
SELECT shingles(''), shingles('?!', 1), shingles(NULL), shingles('a', NULL), shingles('a', 1, NULL);
-- They are in order, and equal exactly where the words are.
SELECT s[1] = s[4] AS "1 = 4", s[2] = s[5] AS "2 = 5", s[1] = s[2] AS "1 = 2"
FROM shingles('a b c a b c', 2) s;
SELECT shingles('The QUICK fox.', 2) = shingles('the quick, fox', 2);
SELECT shingles('a b c', 2) = shingles('c b a', 2), shingles('ab c', 2) = shingles('a bc', 2);
SELECT shingles('one two') = shingles('one two', 9), shingles('one two') = shingles('one two', 2);
SELECT (shingles('a b c', 2, true))[1:2] = shingles('a b c', 2), (shingles('a b c', 2, true))[3] = (shingles('c a', 2))[1];
-- The hashes are the same on every machine and in every release.
SELECT shingles('the quick brown fox', 2);
SELECT shingles('the quick', 1), shingles('近似', 5);
-- White space of chars: a run is one space, and at the ends of a text there is none.
SELECT q, E'\tA\u00a0\nb ' <@ near('a b', 1, tokenizer => 'chars', shingle => q) AS one_space, E'\tA\u00a0\nb ' <@ near('ab', 1, tokenizer => 'chars', shingle => q) AS no_space FROM unnest(ARRAY[1, 2, 3, 4]) q;
SELECT shingles('a', 0);
SELECT shingles('a', 1001);
SELECT cardinality(shingles(repeat('a b ', 2000), 1000));
