#!/usr/bin/env bash
# With too little memory a call ends in the error 53200, wherever it runs out; the session and the server go on.
set -euo pipefail
source "$(dirname "$0")/../../scripts/expect.sh"
server_start

q <<'SQL'
CREATE EXTENSION neardup;
CREATE TABLE tiny(id int PRIMARY KEY, body text);
INSERT INTO tiny VALUES (1, 'one two three four'), (2, 'one two three four five');
-- Few documents of many tokens, one of them of a single token, and many documents.
CREATE TABLE long_texts(id int PRIMARY KEY, body text);
INSERT INTO long_texts SELECT n, string_agg(md5((i * n)::text), ' ') FROM generate_series(1, 3) n, generate_series(1, 100000) i GROUP BY n;
INSERT INTO long_texts VALUES (4, repeat('a', 30000000));
CREATE TABLE many_texts(id int PRIMARY KEY, body text);
INSERT INTO many_texts SELECT i, md5(i::text) || ' ' || md5((i / 2)::text) || ' ' || i % 100 FROM generate_series(1, 200000) i;
SQL

calls=(
    "SELECT count(*) FROM near_duplicates('long_texts', 0.5)"
    "SELECT count(*) FROM near_duplicates('long_texts', 0.5, tokenizer => 'chars')"
    "SELECT count(*) FROM near_duplicates('long_texts', 0.5, shingle => 5)"
    "SELECT count(*) FROM near_duplicates('many_texts', 0.3)"
    "SELECT count(*) FROM near_duplicates_between('many_texts', 'many_texts', 0.3)"
    "SELECT sum(cardinality(words(body))) FROM long_texts"
    "SELECT sum(cardinality(shingles(body))) FROM long_texts"
    "SELECT sum(jaccard(body, body)) FROM long_texts"
    "SELECT count(*) FROM partial_duplicates('many_texts', 0.5, features => 'shingles', shingle => 2, min_sentences => 1)"
    "SELECT count(*) FROM near_duplicates('long_texts', 0.5, method => 'spotsigs')"
)
# MB of address space. The least in which a tiny join works differs between machines; the first limits are just above it.
tiny="SELECT 'joins', similarity FROM near_duplicates('tiny', 0.8)"
least=100
until (server_down "$server" && ulimit -v "${least}000" && server_up && q -c "$tiny") >/dev/null 2>&1; do least=$((least + 10)); done
echo "a tiny join takes $least MB"
ran_out=0
for more in 10 20 40 80 130 180 380 680; do
    limit=$((least + more))
    server_down "$server"
    (ulimit -v "${limit}000" && server_up)
    short=0
    for call in "${calls[@]}"; do
        seen=$(q -v VERBOSITY=sqlstate -v ON_ERROR_STOP=0 -c "$call" -c "$tiny" -c "SELECT 'goes on'" 2>&1 || true)
        case $seen in
            $'ERROR:  53200\njoins|0.8\ngoes on') passed; short=$((short + 1)) ;;
            [0-9]*$'\njoins|0.8\ngoes on') passed ;;
            # What the allocator keeps of the first call may be what a second one lacks, where there is hardly any room.
            $'ERROR:  53200\nERROR:  53200\ngoes on' | [0-9]*$'\nERROR:  53200\ngoes on')
                if [[ $more -lt 80 ]]; then passed; short=$((short + 1)); else failed "$limit MB: $call" "$seen"; fi
                ;;
            *) failed "$limit MB: $call" "$seen" ;;
        esac
    done
    ran_out=$((ran_out + short))
    echo "$limit MB: $short of ${#calls[@]} calls ran out of memory"
done
expect 'memory ran out at times' t "$([[ $ran_out -gt 10 ]] && echo t || echo f)"
finish
