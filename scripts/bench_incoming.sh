# To be sourced by bench.sh: texts judged as they come in, by triggers and constraints (docs/recipes/incoming.md).
# shellcheck shell=bash disable=SC2154 # variables of bench.sh

# Texts that come in, more than one way takes; every tenth is a copy of one in the table with three of its 60 words changed.
arriving=80000

# incoming_tables ROWS: the table `stock` of texts without near duplicates, and `arrivals` in the order in which they come.
incoming_tables() {
    local copied=$(($1 * 10 / 9))
    q -c 'SET client_min_messages = warning' -c 'DROP TABLE IF EXISTS made, stock, arrivals' -c 'CREATE UNLOGGED TABLE made (id int, body text)'
    index_texts $((copied + arriving)) | q -c '\copy made from stdin'
    q -c "CREATE TABLE stock AS SELECT id, body FROM made WHERE id <= $copied AND id % 10 <> 0" \
        -c "CREATE UNLOGGED TABLE arrivals AS SELECT row_number() OVER (ORDER BY hashint4extended(id, 1))::int AS n, id, body FROM (
            (SELECT * FROM made WHERE id <= $copied AND id % 10 = 0 ORDER BY hashint4extended(id, 2) LIMIT $arriving / 10)
            UNION ALL SELECT * FROM made WHERE id > $copied AND id % 10 <> 0) a" \
        -c 'ALTER TABLE arrivals ADD PRIMARY KEY (n)' -c 'DROP TABLE made' -c 'VACUUM ANALYZE stock' -c 'VACUUM ANALYZE arrivals'
}

# incoming_trigger CONDITION: refuses a text for which a row `k` of the table fulfils it.
incoming_trigger() {
    q -c "CREATE OR REPLACE FUNCTION refuse_incoming() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS \$\$
        BEGIN
            IF EXISTS (SELECT FROM kept k WHERE $1) THEN RETURN NULL; END IF;
            RETURN NEW;
        END \$\$" -c 'CREATE TRIGGER refuse_incoming BEFORE INSERT ON kept FOR EACH ROW EXECUTE FUNCTION refuse_incoming()'
}

# incoming_cpu: hundredths of a second of processor time, as the system counts it, that backends took which have ended.
incoming_cpu() {
    local postmaster
    postmaster=$(head -n 1 "$bench_server/data/postmaster.pid")
    # The time of a process counts when the postmaster has taken note of its end.
    while ps -o args= --ppid "$postmaster" | grep -qE '\[local\]|defunct|^\['; do sleep 0.1; done
    awk -v ticks="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print int(100 * ($14 + $15) / ticks) }' "/proc/$postmaster/stat"
}

# incoming_run SECONDS [ARGUMENTS]: eight clients insert; prints texts judged a second, p50 and p99 in ms from when each was due,
# ms of processor time for each, and the share that was refused.
incoming_run() {
    local before judged
    rm -f "$bench_server"/incoming*
    before=$(q -c 'SELECT last_value, (SELECT count(*) FROM kept) FROM judged')
    local cpu
    cpu=$(incoming_cpu)
    pgbench -n -c 8 -j 2 -T "$1" -M prepared "${@:2}" -f "$bench_server/insert.sql" -l --log-prefix="$bench_server/incoming" >"$bench_server/pgbench" 2>&1 ||
        { echo 'failed|||'; return; }
    cpu=$(($(incoming_cpu) - cpu))
    judged=$(q -c 'SELECT last_value, (SELECT count(*) FROM kept) FROM judged')
    cat "$bench_server"/incoming* | awk '{ print $3 / 1000 }' | sort -n | awk -v before="$before" -v judged="$judged" -v cpu="$cpu" \
        -v tps="$(awk '/^tps/ { print $3 }' "$bench_server/pgbench")" -v arriving="$arriving" '{ t[NR] = $1 }
        END {
            split(before, b, "|"); split(judged, j, "|")
            # No text was left to insert: what was taken beyond says nothing.
            if (j[1] > arriving) { print "-|-|-|-|-"; exit }
            refused = (j[1] - b[1]) - (j[2] - b[2])
            printf "%.0f|%.1f|%.1f|%.2f|%.3f", tps, t[int((NR + 1) / 2)], t[int(NR * 0.99 + 0.5)], 10 * cpu / NR, (refused > 0 ? refused : 0) / NR
        }'
}

# incoming_way ROWS NAME SETUP [TRIGGER'S CONDITION] [END OF INSERT]: a row of the table.
incoming_way() {
    local began=$SECONDS steady most seconds
    progress "incoming texts, $1 rows: $2"
    q -c 'DROP TABLE IF EXISTS kept' -c 'DROP SEQUENCE IF EXISTS judged' -c 'CREATE TABLE kept AS SELECT * FROM stock' -c 'CREATE SEQUENCE judged' 2>/dev/null
    if ! q -c 'SET statement_timeout = 0' -c "$3" -c 'VACUUM ANALYZE kept' -c 'CHECKPOINT'; then
        echo "$1|$2|failed"
        return
    fi
    seconds=$((SECONDS - began))
    if [[ -n ${4:-} ]]; then incoming_trigger "$4"; fi
    echo "INSERT INTO kept SELECT id, body FROM arrivals WHERE n = (SELECT nextval('judged')) ${5:-};" >"$bench_server/insert.sql"
    chmod 644 "$bench_server/insert.sql"
    steady=$(incoming_run 20 --rate=200)
    most=$(incoming_run 8)
    echo "$1|$2|$seconds|$steady|$(cut -d'|' -f1,4 <<<"$most")"
}

incoming() {
    bench_server_start || return 0
    local rows big=${NEARDUP_BENCH_ROWS:-1000000} near
    near='minhash(k.body, 1) <@ near(minhash(NEW.body, 1), 0.7) AND jaccard(k.body, NEW.body) >= 0.8'
    progress "incoming texts beside 200,000 and $big (15 min)"
    for rows in 200000 "$big"; do
        incoming_tables "$rows"
        incoming_way "$rows" 'no check' 'CREATE INDEX ON kept (id)'
        incoming_way "$rows" 'trigger, index (body)' 'CREATE INDEX ON kept USING signature (body) WITH (pending_limit = 1024)' 'k.body <@ near(NEW.body, 0.8)'
        incoming_way "$rows" 'EXCLUDE (near(body, 0.8))' \
            'ALTER TABLE kept ADD EXCLUDE USING signature (near(body, 0.8) WITH &&) WITH (pending_limit = 512)' '' 'ON CONFLICT DO NOTHING'
        incoming_way "$rows" 'trigger, index (minhash(body, 1))' \
            'CREATE INDEX ON kept USING signature (minhash(body, 1) minhash_jaccard_ops (k = 1)) WITH (threshold = 0.7, pending_limit = 1024)' "$near"
        incoming_way "$rows" 'EXCLUDE, two of six' \
            'ALTER TABLE kept ADD EXCLUDE USING signature (megashingles(minhash(body, 1, 84)) WITH &&) WITH (pending_limit = 512)' '' 'ON CONFLICT DO NOTHING'
        incoming_way "$rows" 'EXCLUDE, one of twelve' \
            'ALTER TABLE kept ADD EXCLUDE USING signature (supershingles(minhash(body, 1, 84), 12) WITH &&) WITH (pending_limit = 512)' '' 'ON CONFLICT DO NOTHING'
        # What takes a second or more for each text is not waited for on the large table.
        if ((rows > 200000)); then continue; fi
        incoming_way "$rows" 'trigger, GIN (shingles(body, 3)), resemblance' 'CREATE INDEX ON kept USING gin (shingles(body, 3))' \
            'shingles(k.body, 3) && shingles(NEW.body, 3) AND resemblance(k.body, NEW.body, 3) >= 0.6'
        incoming_way "$rows" 'trigger, GIN (shingles(body, 1)), jaccard' 'CREATE INDEX ON kept USING gin (shingles(body, 1))' \
            'shingles(k.body, 1) && shingles(NEW.body, 1) AND jaccard(k.body, NEW.body) >= 0.8'
        if q -c 'CREATE EXTENSION IF NOT EXISTS pg_trgm' 2>/dev/null; then
            q -c 'ALTER DATABASE postgres SET pg_trgm.similarity_threshold = 0.8'
            incoming_way "$rows" 'trigger, pg_trgm GIN, trigrams' 'CREATE INDEX ON kept USING gin (body gin_trgm_ops)' 'k.body % NEW.body'
        else
            skipped pg_trgm 'it is not installed in this server'
        fi
    done | table 'rows|judged by|set up, s|at 200/s: reached|p50 ms|p99 ms|CPU ms each|refused|8 writers: most/s|CPU ms each'
}
