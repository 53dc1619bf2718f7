#!/usr/bin/env bash
# What errors tell whom, in a server whose environment asks for backtraces: clients never see one, nor the words of a
# bug of ours; the server's log has both.
# shellcheck disable=SC2154 # bindir, of server.sh
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start

q <<'SQL'
CREATE EXTENSION neardup;
CREATE ROLE alice;
CREATE TABLE docs(id int PRIMARY KEY, body text);
INSERT INTO docs SELECT i, 'text ' || i FROM generate_series(1, 100) i;
CREATE VIEW failing AS SELECT id, body || 1 / (50 - id) AS body FROM docs;
CREATE VIEW slow AS SELECT id, body || pg_sleep(0.1)::text AS body FROM docs;
CREATE TABLE many(id int PRIMARY KEY, body text);
INSERT INTO many SELECT i, md5(i::text) || ' ' || md5((i + 1)::text) FROM generate_series(1, 50000) i;
-- The index of this one is no longer whole.
CREATE TABLE damaged(id int PRIMARY KEY, body text);
CREATE INDEX damaged_body ON damaged USING signature (body);
CHECKPOINT;
-- The library that is tested has a function for this.
CREATE FUNCTION bug() RETURNS int AS '$libdir/neardup', 'neardup_bug' LANGUAGE C STRICT;
SQL
path=$server/data/$(q -c "SELECT pg_relation_filepath('damaged_body')")
server_down "$server"
# What the checksums of pages notice, on by default since PostgreSQL 18, does not get as far as us.
as_server "$bindir/pg_checksums" -D "$server/data" --disable >/dev/null 2>&1 || true
printf 'no magic' | dd of="$path" bs=1 seek=24 conv=notrunc status=none
server_up

# untold NAME SQLSTATE SQL: the error comes without a word on Rust code.
untold() {
    local seen
    seen=$(q -v VERBOSITY=verbose -c "$3" 2>&1 || true)
    if [[ $seen != *"ERROR:  $2:"* || $seen =~ backtrace|neardup::|pgrx|core::|rustc|src/ ]]; then failed "$1" "$seen"; else passed; fi
}
untold 'an error of ours' 22023 "SELECT count(*) FROM near_duplicates('docs', 7)"
untold 'an error of the core' 22023 "SELECT minhash('one two', k => -1)"
untold 'an error of the query that is read' 22012 "SELECT count(*) FROM near_duplicates('failing', 0.8, id_column => 'id')"
untold 'an error of the server in a call' 42501 "SET ROLE alice; SELECT count(*) FROM near_duplicates('docs', 0.8)"
untold 'a timeout in a call' 57014 "SET statement_timeout = '300ms'; SELECT count(*) FROM near_duplicates('slow', 0.8, id_column => 'id')"
untold 'a full store' 53400 "SET temp_file_limit = 0; SET neardup.memory = '64kB'; SELECT count(*) FROM near_duplicates('many', 0.8)"
untold 'a full store beside running threads' 53400 "SET temp_file_limit = 0; SET work_mem = '64kB'; SELECT count(*) FROM nearest('many', 20)"
untold 'a damaged index, in a function' XX002 "SELECT signature_index_check('damaged_body')"
untold 'a damaged index, in an insert' XX002 "INSERT INTO damaged VALUES (1, 'one')"
untold 'a damaged index, in a scan' XX002 "SET enable_seqscan = off; SELECT * FROM damaged WHERE body <@ near('one', 0.8)"
untold 'bad options of an index' 22023 'CREATE INDEX ON docs USING signature (body) WITH (pending_limit = -1)'
untold 'a failed check in an index build' 22012 'CREATE INDEX ON docs USING signature ((body || 1 / (50 - id)))'

untold 'a bug' XX000 "SELECT bug()"
expect_error 'a bug says what to do' XX000 'neardup has met a bug of its own' "SELECT bug()"
expect 'and the session goes on' $'ERROR:  XX000\n1' "$(q -v VERBOSITY=sqlstate -v ON_ERROR_STOP=0 -c "SELECT bug()" -c 'SELECT 1' 2>&1)"
for words in 'DETAIL:  .*a bug for tests' 'panicked at src/pg/server/guard.rs' 'stack backtrace:'; do
    expect "the log has: $words" t "$(grep -qE "$words" "$server/log" && echo t || echo f)"
done
expected_in_log='panicked at src/pg/server/guard.rs|XX000 ERROR:  neardup has met a bug of its own'
finish
