-- Messages in databases of other encodings: they come in the client's, and what the server's lacks becomes a question mark.
SET client_min_messages = warning;
\set home :DBNAME
SET client_encoding = 'UTF8';
CREATE DATABASE regress_neardup_latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C';
CREATE DATABASE regress_neardup_japanese TEMPLATE template0 ENCODING 'EUC_JP' LOCALE 'C';
\c regress_neardup_latin
SET client_encoding = 'UTF8';
SET client_min_messages = warning;
CREATE EXTENSION neardup;
CREATE TABLE "café" (id int, "Überschrift" text, "été" text);
INSERT INTO "café" VALUES (1, 'Ein Café', 'a'), (1, 'ein CAFÉ', 'b');
-- Our own messages and hints, also where they have a character (three dots) that LATIN1 has not.
SELECT * FROM near_duplicates('café', 0.8);
SELECT * FROM near_duplicates('café', 0.8, id_column => 'é');
SELECT * FROM near_duplicates('café', 0.8, id_column => 'id', text_column => 'été');
SELECT * FROM near_duplicates('café', 0.8, id_column => 'id', text_column => 'été', method => 'ähnlich');
SELECT * FROM near_duplicates('café', 0.8, id_column => 'id', text_column => 'été', options => '{"größe": 1}');
-- Those of the server.
CREATE VIEW broken AS SELECT id, ("Überschrift" || ' ß')::int::text AS body FROM "café";
SELECT * FROM near_duplicates('broken', 0.8, id_column => 'id');
UPDATE "café" SET id = 2 WHERE "été" = 'b';
SELECT * FROM near_duplicates('café', 0.8, id_column => 'id', text_column => 'Überschrift');
SELECT words("Überschrift") FROM "café" ORDER BY id;
-- The server normalizes texts only in UTF8: the same error everywhere.
SELECT * FROM near_duplicates('café', 0.8, id_column => 'id', text_column => 'Überschrift', options => '{"normalize": "nfc"}');
SELECT near('Café', normalization => 'nfc');
SELECT near('ascii', method => 'edit', normalization => 'nfc');
SELECT shared_run('ascii', normalization => 'nfc');
SELECT '<jaccard:words:k1:multiset:0.8:nfc:"a">'::text_ball;
CREATE INDEX ON "café" USING signature ("été" text_set_ops (normalize = nfc));
CREATE INDEX ON "café" USING signature ("été" text_gram_ops (normalize = nfc));
CREATE INDEX ON "café" USING signature ("été" text_runs_ops (normalize = nfc));
\c regress_neardup_japanese
SET client_encoding = 'UTF8';
SET client_min_messages = warning;
CREATE EXTENSION neardup;
CREATE TABLE "文書" ("番号" int, "本文" text, "表題" text);
INSERT INTO "文書" VALUES (1, '日本語の文書', 'い'), (1, '日本語の文書。', 'ろ');
SELECT * FROM near_duplicates('文書', 0.8);
SELECT * FROM near_duplicates('文書', 0.8, id_column => '題');
SELECT * FROM near_duplicates('文書', 0.8, id_column => '番号', text_column => '表題');
CREATE VIEW broken AS SELECT "番号" AS id, ("本文" || '歳')::int::text AS body FROM "文書";
SELECT * FROM near_duplicates('broken', 0.8, id_column => 'id');
SELECT words("本文") FROM "文書" ORDER BY "表題" COLLATE "C";
\c :home
DROP DATABASE regress_neardup_latin;
DROP DATABASE regress_neardup_japanese;
