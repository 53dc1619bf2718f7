-- Sentences and paragraphs with their places.
\pset format unaligned

SELECT * FROM sentences('Dr. J. Smith paid $3.50 at 5 p.m. for it. "Too much!" he said. See http://a.org/b.c?d=E; then go. Wait... There is more');
SELECT * FROM sentences('他说：“我来了。”她没有说话。增长3.5%，达1.2亿元！《你是谁？》一书很好；真的……');
-- Breaks only wrap in a text that is hard-wrapped, but for those before an indented line or a list item.
SELECT no, span, replace(sentence, E'\n', '/') FROM sentences(E'Euratom is issuing a 50 mln Ecu, six-year bond with a coupon\nof 7-1/2 pct and priced at 101-1/2, lead manager Banque\nGenerale du Luxembourg SA said.\n    The bond features a sinking fund from 1989 which\nwill retire 10 mln Ecus each year\n- to be paid in April\n- to be listed\n  in Luxembourg');
SELECT no, span, sentence FROM sentences(E'Title\r\nA line without a stop\r\nanother');
-- The places cut the sentences out.
SELECT bool_and(substring(t FROM lower(span) FOR upper(span) - lower(span)) = sentence)
FROM (VALUES (E'  One.\tTwo — 漢字。\u00a0三！ e\u0301tude?\n\n• four ')) v(t), sentences(t);
SELECT * FROM sentences('');
SELECT * FROM sentences(E' .\n?! -- ');
SELECT * FROM sentences(NULL);
SELECT * FROM paragraphs(E'One\ntwo\n\n \nthree \n');
SELECT * FROM paragraphs(E'One\n two\nthree');
SELECT * FROM paragraphs(E'One\r\n\r\nthree\r\n');
SELECT count(*), max(upper(span)) FROM paragraphs(repeat(E'x\n\n', 100000));
SELECT count(*), max(upper(span)) FROM sentences(repeat('He said so. ', 100000));
-- Long runs of marks take no longer than other text.
SELECT count(*) FROM sentences(repeat('?.', 1000000) || 'x');
SELECT count(*) FROM sentences(repeat('. ', 1000000) || 'x');
SELECT (sentences('One. Two. Three.')).sentence LIMIT 2;
