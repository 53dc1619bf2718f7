# To be sourced by bench_before.sh: the rows of its table. Each function before_NAME is what rows=NAME stands for.
# shellcheck shell=bash disable=SC2034,SC2154 # variables of bench_before.sh

# counted CALL: the statement that sets :pairs.
counted() { echo "SELECT count(*) AS pairs FROM $1 \\gset"; }

# texts_read TABLE: seconds to unpack and to copy each text once.
texts_read() { quickest '' "SELECT sum(octet_length(body || '')) FROM $1;" | cut -d'|' -f1; }

# join_row TABLE ARGUMENTS [FUNCTION]: all pairs of the texts of a table.
join_row() {
    row "${3:-near_duplicates}($1, $2), threads $threads" '' "$(counted "${3:-near_duplicates}('$1', $2)")" '' \
        "the server copies each text once, processes: $threads" texts_read "$1"
}

before_words() {
    local threads t
    for threads in 1 2 4; do
        for t in 0.9 0.8 0.6; do join_row "$large" "$t"; done
    done
}

before_shingle() { join_row "$large" '0.8, shingle => 5'; }

before_minhash() { join_row "$large" "0.8, method => 'minhash'"; }

# The vectors "random" of benches/hamming.rs: every tenth is the one before with up to 5 bits turned.
before_simhash() {
    local bits='(hashint8extended(n, 1) & 9223372036854775807)'
    progress 'vectors (1 min)'
    both -c "CREATE UNLOGGED TABLE vectors AS SELECT n AS id, (hashint8extended(n - (n % 10 = 9)::int, 0) # CASE WHEN n % 10 = 9 THEN
            coalesce((SELECT bit_xor(1::bigint << ($bits >> (8 + 8 * b) & 63)::int) FROM generate_series(0, ($bits % 6)::int - 1) b), 0)
            ELSE 0 END)::bit(64)::simhash_sketch AS h FROM generate_series(0::bigint, $(of 10000000) - 1) n" -c 'VACUUM ANALYZE vectors'
    row "$(of 10000000) simhashes, distance 3, threads $threads" '' \
        "$(counted "near_duplicates('vectors', options => '{\"distance\": 3}', id_column => 'id', text_column => 'h', method => 'simhash')")" '' \
        "the server counts the vectors, processes: $threads" vectors_read
    both -c 'DROP TABLE vectors'
}

vectors_read() { quickest '' 'SELECT count(h) FROM vectors;' | cut -d'|' -f1; }

# first_half: a table of the first half of the documents, made once.
first_half() {
    half=first_$(of 100000)
    both -c "CREATE TABLE IF NOT EXISTS $half (LIKE $large INCLUDING INDEXES)" \
        -c "INSERT INTO $half SELECT * FROM $large WHERE id <= $(of 100000) ON CONFLICT DO NOTHING" -c "VACUUM ANALYZE $half"
}

before_tlcs() {
    local half
    first_half
    join_row "$half" "method => 'tlcs'"
}

before_passages() {
    local half
    first_half
    join_row "$half" 0.9 partial_duplicates
}

# written BYTES: seconds to write as many bytes of WAL, and of pages, as rows of 4 kB.
written() {
    local rows=$(($1 > 0 ? $1 / 4000 : 0))
    quickest "DROP TABLE IF EXISTS written; CREATE TABLE written (bytes bytea); ALTER TABLE written ALTER bytes SET STORAGE PLAIN;" \
        "INSERT INTO written SELECT decode(repeat('5a', 4000), 'hex') FROM generate_series(1, $rows);" | cut -d'|' -f1
}

# and_written BYTES <<<SECONDS: the sum of these and of writing.
and_written() { awk -v written="$(written "$1")" '{ printf "%.3f\n", $1 + written }'; }

sketches_written() { quickest '' 'SELECT count(m) FROM sketches;' | cut -d'|' -f1 | and_written "$wal"; }

# without_index SETUP TIMED: the same without the index, and what WAL is beyond it as rows of 4 kB.
without_index() {
    local seconds bytes
    IFS='|' read -r seconds _ bytes < <(quickest "$1" "$2")
    and_written "$((wal - bytes))" <<<"$seconds"
}

# looked_up KEYS: so many look-ups in a B-tree of as many rows.
looked_up() {
    q -c "CREATE TABLE keys AS SELECT hashint8extended(n, 0) AS key FROM generate_series(1::bigint, $documents) n" -c 'CREATE INDEX ON keys (key)' -c 'VACUUM ANALYZE keys'
    quickest 'SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off;' \
        "SELECT count(*) FROM generate_series(1::bigint, $1) n JOIN keys ON key = hashint8extended(n % $documents + 1, 0);" | cut -d'|' -f1
}

before_index() {
    local filled fill kept some searches index='CREATE INDEX filled_m ON filled USING signature (m);'
    some=$(of 100000)
    searches=$(of 4000)
    progress "$documents sketches (1 min)"
    index_texts "$documents" >"$dir/texts"
    both -c 'CREATE TABLE texts (id int, body text)' -c "\\copy texts from '$dir/texts'" \
        -c 'CREATE TABLE sketches AS SELECT id, minhash(body) AS m FROM texts' -c 'ALTER TABLE sketches ADD PRIMARY KEY (id)' -c 'VACUUM ANALYZE sketches' -c CHECKPOINT
    kept="SELECT rows AS pairs FROM signature_index_stats('filled_m') \\gset"
    row "index of $documents minhash sketches" 'DROP INDEX IF EXISTS by_m;' 'CREATE INDEX by_m ON sketches USING signature (m);' \
        "SELECT rows AS pairs FROM signature_index_stats('by_m') \\gset" 'to read the table, and to write as many bytes as rows of 4 kB' sketches_written
    filled='DROP TABLE IF EXISTS filled; CREATE TABLE filled (LIKE sketches);'
    fill="INSERT INTO filled SELECT * FROM sketches WHERE id <= $some;"
    row "insert of $some rows with it" "$filled $index" "$fill" "$kept" 'the same rows without an index, and the rest of the WAL as rows of 4 kB' \
        without_index "$filled" "$fill"
    row "$searches searches at 0.8" 'SET enable_seqscan = off;' \
        "$(counted "sketches a JOIN sketches b ON b.m <@ near(a.m, 0.8) WHERE a.id % ($documents / $searches) = 0")" '' \
        '26 look-ups each in a B-tree of as many rows' looked_up $((26 * searches))
    fill+=' DELETE FROM filled WHERE id % 3 = 0;'
    row "VACUUM of $some rows, a third dead" "$filled $index $fill" 'VACUUM filled;' "$kept" \
        'the same without the index, and the rest of the WAL as rows of 4 kB' without_index "$filled $fill" 'VACUUM filled;'
}

# plainly: the new texts and those they are pairs with read, and their pairs written, in plain SQL.
plainly() {
    quickest "CREATE TEMP TABLE touched AS SELECT * FROM job_pairs WHERE left_id % 100 = 7 OR right_id % 100 = 7;
        DROP TABLE IF EXISTS plain; CREATE TABLE plain (LIKE job_pairs INCLUDING INDEXES); SET enable_hashjoin = off; SET enable_mergejoin = off;" \
        "SELECT sum(octet_length(body || '')) FROM job WHERE id % 100 = 7;
        SELECT sum(octet_length(body || '')) FROM (SELECT left_id AS id FROM touched UNION SELECT right_id FROM touched) t JOIN job USING (id);
        INSERT INTO plain SELECT * FROM touched;" | cut -d'|' -f1
}

before_refresh() {
    progress 'a job (1 min)'
    both -c 'CREATE TABLE job (id bigint PRIMARY KEY, body text)' -c "INSERT INTO job SELECT * FROM $large WHERE id % 100 <> 7" -c 'VACUUM ANALYZE job' \
        -c "SELECT neardup_watch('job', 0.8)" -c "CALL neardup_refresh('job')"
    row "refresh, $(of 2000) new rows beside $(of 198000), threads $threads" "DELETE FROM job WHERE id % 100 = 7; CALL neardup_refresh('job');
        INSERT INTO job SELECT * FROM $large WHERE id % 100 = 7;" "CALL neardup_refresh('job');" "$(counted job_pairs)" \
        'texts of new rows and of their pairs read by number, and the pairs written' plainly
}
