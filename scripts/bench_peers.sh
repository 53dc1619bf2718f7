# To be sourced by bench.sh: other programs on the same inputs in the same run. None is needed; each comes from its
# registry into a folder of its own, and one that cannot be had is named.
# shellcheck shell=bash disable=SC2154 # variables of bench.sh

# in_python PACKAGE…: whether Python has these packages of PyPI, after fetching them if it has not.
in_python() {
    local python=$kept/venv/bin/python package
    for package; do
        if [[ ! -x $python ]] || ! "$python" -c "import $package" 2>/dev/null; then
            { python3 -m venv "$kept/venv" && timeout 120 "$kept/venv/bin/pip" install -q "$package"; } >&2 || return 1
        fi
    done
}

# sketch_peers FILE.tsv: lines "program seconds".
sketch_peers() {
    if ! in_python rensa datasketch; then
        skipped 'rensa and datasketch' 'not to be had from PyPI' >&2
        return
    fi
    timeout 200 "$kept/venv/bin/python" benches/peers/sketches.py "$1"
}

# peer_of_sets PACKAGE SCRIPT NAME THRESHOLD: all pairs of ready sets by a package of PyPI, exactly, beside our join; one thread.
peer_of_sets() {
    local python=$kept/venv/bin/python package=$1 script=$2 seconds pairs ours expected
    shift 2
    if [[ ! -f $corpora/$1.sets ]]; then
        skipped "$package" "no $1.sets"
        return
    fi
    if ! in_python "$package"; then
        skipped "$package" 'not to be had from PyPI'
        return
    fi
    read -r seconds pairs < <(timeout 120 "$python" "benches/peers/$script" "$corpora/$1.sets" "$2") || {
        skipped "$package" 'it failed or took more than 120 s'
        return
    }
    read -r ours expected < <(cargo bench -p neardup-benches --bench join -- "$corpora" "$1:$2" threads=1 |
        awk -F'|' -v name="$1" '$0 ~ "^[|] " name " " { print $8, $4 }')
    peer_row "$package" "$1 $2, ready sets" "$seconds" "$pairs" "$pairs" "$expected" "$ours" 1
}

# peer_row PEER TASK SECONDS PAIRS RIGHT TRUE OURS THREADS: RIGHT of its PAIRS are among the TRUE ones.
peer_row() {
    awk -v OFS='|' -v seconds="$3" -v pairs="$4" -v right="$5" -v expected="$6" -v ours="$7" -v row="$1|$2" -v threads="$8" '
        function share(a, b) { return b > 0 ? sprintf("%.3f", a / b) : "-" }
        BEGIN { print row, threads, seconds, pairs, share(right, expected), share(right, pairs), ours, sprintf("%.1f", seconds / ours) }' \
        >>"$dir/peers"
}

# gaoya NAME: texts to pairs by minhash and LSH, on 4 threads.
gaoya() {
    local program=$kept/gaoya/release/gaoya-peer seconds row
    if [[ ! -x $program ]]; then
        # A copy, so that no Cargo.lock is left in the project.
        cp -r benches/peers/gaoya "$dir/gaoya"
        if ! timeout 240 cargo build --release --manifest-path "$dir/gaoya/Cargo.toml" --target-dir "$kept/gaoya" >&2; then
            skipped gaoya 'not to be had from crates.io'
            return
        fi
    fi
    seconds=$(RAYON_NUM_THREADS=4 timeout 120 "$program" "$corpora/$1.tsv" 0.8 "$dir/gaoya.pairs") || {
        skipped gaoya 'it failed or took more than 120 s'
        return
    }
    beside gaoya "$1" exact 'shingle => 5' "$seconds" 4
    beside gaoya "$1" minhash "method => 'minhash'" "$seconds" 4
}

# beside PEER NAME WHICH ARGUMENTS SECONDS THREADS: our call beside the peer's pairs; what is true is what the exact join
# has.
beside() {
    local row
    row=$(q -v tab="$2" <<SQL
SET neardup.threads = $6;
CREATE TEMP TABLE theirs(a bigint, b bigint);
\copy theirs from '$dir/$1.pairs'
CREATE TEMP TABLE exact AS SELECT left_id AS a, right_id AS b FROM near_duplicates(:'tab', 0.8, shingle => 5);
SELECT clock_timestamp() AS began \gset
CREATE TEMP TABLE ours AS SELECT left_id AS a, right_id AS b FROM near_duplicates(:'tab', 0.8, $4);
SELECT round(extract(epoch FROM clock_timestamp() - :'began'), 3) AS seconds \gset
SELECT (SELECT count(*) FROM theirs), (SELECT count(*) FROM theirs JOIN exact USING (a, b)), (SELECT count(*) FROM exact), :seconds;
SELECT round((SELECT count(*) FROM ours JOIN exact USING (a, b))::numeric / (SELECT count(*) FROM exact), 3);
SQL
    ) || {
        skipped "$1" 'its pairs could not be compared'
        return
    }
    local figures=${row%%$'\n'*} found=${row#*$'\n'}
    # shellcheck disable=SC2086 # four words
    peer_row "$1" "$2 0.8, texts, 5-word shingles; ours $3, $found of the pairs" "$5" ${figures//|/ } "$6"
}

# lsh_in_python NAME: minhash and LSH of rensa and datasketch on one core, for the first documents.
lsh_in_python() {
    local documents=20000 peer seconds
    if ! in_python rensa datasketch; then
        skipped 'rensa and datasketch' 'not to be had from PyPI'
        return
    fi
    q -c "CREATE TABLE $1_start AS SELECT * FROM $1 ORDER BY id LIMIT $documents" -c "ALTER TABLE $1_start ADD PRIMARY KEY (id)"
    for peer in rensa datasketch; do
        seconds=$(timeout 200 "$kept/venv/bin/python" benches/peers/lsh.py "$corpora/$1.tsv" 0.8 "$peer" "$documents" "$dir/$peer.pairs") || {
            skipped "$peer" 'it failed or took more than 200 s'
            continue
        }
        beside "$peer" "$1_start" minhash "method => 'minhash'" "$seconds" 1
    done
}

# in_server PEER TABLE CONDITION ARGUMENTS: another extension joins one batch of documents after the other with all
# later ones, for 60 s at most. CONDITION compares a.body with b.body; ARGUMENTS make near_duplicates do the most
# similar thing. What the peer has not come to does not count as missed.
in_server() {
    local row
    row=$(q -v tab="$2" <<SQL
SET neardup.threads = 4;
SET statement_timeout = '90s';
SET enable_seqscan = off;
CREATE TEMP TABLE theirs(a bigint, b bigint);
CREATE TEMP TABLE probed(id bigint);
SELECT clock_timestamp() AS began \gset
DO \$do\$
DECLARE
    began timestamptz := clock_timestamp();
    batch bigint[];
BEGIN
    FOR batch IN SELECT array_agg(id) FROM $2 GROUP BY id / 20 ORDER BY id / 20 LOOP
        EXIT WHEN clock_timestamp() - began > interval '60 s';
        INSERT INTO theirs SELECT a.id, b.id FROM $2 a JOIN $2 b ON a.id < b.id AND $3 WHERE a.id = ANY (batch);
        INSERT INTO probed SELECT unnest(batch);
    END LOOP;
END \$do\$;
SELECT round(extract(epoch FROM clock_timestamp() - :'began'), 1) AS seconds \gset
SELECT clock_timestamp() AS began \gset
CREATE TEMP TABLE ours AS SELECT left_id AS a, right_id AS b FROM near_duplicates(:'tab', 0.8, id_column => 'id', $4);
SELECT round(extract(epoch FROM clock_timestamp() - :'began'), 3) AS ours \gset
DELETE FROM ours WHERE a NOT IN (SELECT id FROM probed);
SELECT :seconds, (SELECT count(*) FROM theirs), (SELECT count(*) FROM theirs JOIN ours USING (a, b)), (SELECT count(*) FROM ours), :ours;
SELECT (SELECT count(*) FROM probed) || ' of ' || count(*) FROM $2;
SQL
    ) || {
        skipped "$1" 'it failed; its message is above'
        return
    }
    local figures=${row%%$'\n'*} probed=${row#*$'\n'}
    # shellcheck disable=SC2086 # five words
    peer_row "$1" "$2, $probed documents" ${figures//|/ } 1
}

pg_trgm() {
    if ! q -c 'CREATE EXTENSION pg_trgm' >&2; then
        skipped pg_trgm 'this PostgreSQL does not have it'
        return
    fi
    q -c 'ALTER DATABASE postgres SET pg_trgm.similarity_threshold = 0.8'
    # For texts of this length the planner does not use a GIN index.
    q -c "CREATE INDEX ON $small USING gist (body gist_trgm_ops(siglen = 256))"
    in_server pg_trgm "$small" 'b.body % a.body' "tokenizer => 'chars', multiset => false"
}

pg_similarity() {
    local package=postgresql-15-similarity
    # Unpacked into the copy of PostgreSQL, which has Debian's folders; nothing is installed.
    if ! (cd "$dir" && timeout 60 apt-get download -q "$package" && dpkg-deb -x "$package"_*.deb "$dir/pg") >&2; then
        skipped pg_similarity "no Debian package $package"
        return
    fi
    # A schema of its own: it has a jaccard(text, text), too.
    if ! q -c 'CREATE SCHEMA similarity' -c 'CREATE EXTENSION pg_similarity SCHEMA similarity' >&2; then
        skipped pg_similarity 'it does not go with this PostgreSQL'
        return
    fi
    # It refuses longer texts.
    q -c "CREATE TABLE ${small}_short AS SELECT * FROM $small WHERE octet_length(body) < 1024"
    in_server pg_similarity "${small}_short" "similarity.jaccard(a.body, b.body) >= 0.8" 'multiset => false'
}

# peer_table: what the peers that were called have left.
peer_table() {
    table 'peer|task|threads|seconds|pairs|share of the true pairs|share that is true|ours, seconds|ratio' <"$dir/peers"
}

# peer_programs NAME: the peers that are programs of their own; of one the sets of that name.
peer_programs() {
    : >"$dir/peers"
    progress 'SetSimilaritySearch, sparse_dot_topn (1 min)'
    peer_of_sets SetSimilaritySearch setsimilaritysearch.py "$1" 0.8
    peer_of_sets sparse_dot_topn sparse_product.py "$1" 0.8
    if bench_server_start; then
        progress 'gaoya (1 min)'
        gaoya "$large"
        progress 'rensa and datasketch (1 min)'
        lsh_in_python "$large"
    fi
}

peers() {
    peer_programs "$small"
    if bench_server_start; then
        progress 'pg_trgm (1 min)'
        pg_trgm
        progress 'pg_similarity (1 min)'
        pg_similarity
    fi
    peer_table
}
