#!/usr/bin/env bash
# The owner of a database, who is no superuser, puts better matches for whatever our SQL may call, and other objects of
# the names that it uses, into the schema that the extension goes to. Nothing of ours may take them for the server's: not
# the install script, which runs as a superuser, and not what runs later, with that schema in front of the search path.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start

q <<'SQL'
CREATE ROLE maker LOGIN;
CREATE DATABASE made OWNER maker;
CREATE DATABASE apart;
SQL
q -d apart -c 'CREATE EXTENSION neardup'

# The words and the operators of the install script, and of the queries in the library.
script=$("$PG_CONFIG" --sharedir)/extension
script=$(ls "$script"/neardup--*.sql | tail -n 1)
{ cat "$script"; find "$project/src/pg" -name '*.rs' -exec grep -hE 'SELECT|INSERT|DELETE|UPDATE|FROM|WHERE' {} +; } >"$server/texts"
grep -oE '[a-z_][a-z_0-9]+' "$server/texts" | sort -u >"$server/words"
chmod 644 "$server/words"

# What is planted, as statements.
q -d apart -c "CREATE TABLE words(word text PRIMARY KEY)" -c "\\copy words from '$server/words'"
q -d apart <<'SQL'
CREATE TABLE types AS SELECT ordinality AS n, t::regtype AS type FROM unnest('{text,int4,int8,float8,bool,jsonb,regclass,oid,timestamptz,text[],int8[],name,xid}'::text[]) WITH ORDINALITY AS u(t, ordinality);
CREATE TABLE plants(name text, arguments text, result text, any_type bool, UNIQUE (name, arguments));
-- The server's functions: of one and two arguments of any types, and of more with one type replaced or none.
INSERT INTO plants
SELECT DISTINCT ON (1, 2) proname, arguments, CASE WHEN typtype = 'p' OR proretset THEN 'text' ELSE prorettype::regtype::text END, false
FROM (SELECT p.*, t.typtype FROM pg_proc p JOIN pg_type t ON t.oid = prorettype
    WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f' AND prorettype NOT IN ('internal'::regtype, 'trigger'::regtype, 'cstring'::regtype)
        AND proname IN (SELECT word FROM words)) f,
    LATERAL (
        SELECT a.type::text AS arguments FROM types a WHERE pronargs = 1 OR provariadic <> 0
        UNION ALL SELECT a.type || ', ' || b.type FROM types a, types b WHERE pronargs = 2 OR provariadic <> 0
        UNION ALL SELECT string_agg(CASE WHEN k = place THEN a.type ELSE arg::regtype END::text, ', ' ORDER BY k)
            FROM types a, generate_series(1, pronargs) place, unnest(proargtypes) WITH ORDINALITY AS u(arg, k)
            WHERE pronargs BETWEEN 3 AND 5 AND provariadic = 0
                AND NOT EXISTS (SELECT FROM unnest(proargtypes) x JOIN pg_type ON oid = x WHERE typtype = 'p') GROUP BY place, a.n
        UNION ALL SELECT '' WHERE pronargs = 0) x
WHERE arguments IS NOT NULL;
-- Pairs of a text and an argument, for functions that take anything; and what is more like the arguments than ours.
INSERT INTO plants
SELECT v.proname, string_agg('text, ' || arg::regtype, ', ' ORDER BY k), 'jsonb', false
FROM pg_proc v, pg_proc f, unnest(f.proargtypes) WITH ORDINALITY AS u(arg, k), generate_series(1, f.pronargs) first, generate_series(1, f.pronargs) last
WHERE v.pronamespace = 'pg_catalog'::regnamespace AND v.provariadic = '"any"'::regtype AND v.proname IN (SELECT word FROM words)
    AND f.pronamespace = 'public'::regnamespace AND f.prolang IN (SELECT oid FROM pg_language WHERE lanname IN ('sql', 'plpgsql'))
    AND k BETWEEN first AND last AND arg <> 'anyelement'::regtype
GROUP BY v.proname, f.oid, first, last ON CONFLICT DO NOTHING;
-- Those that are told from ours by an argument that must be given.
INSERT INTO plants
SELECT proname, arguments, 'text', any_type
FROM (SELECT proname, bool_or(t.typtype = 'p') AS any_type, pronargs - pronargdefaults AS needed,
        string_agg(CASE WHEN k = place THEN a.type ELSE arg::regtype END || CASE WHEN k > pronargs - pronargdefaults THEN ' DEFAULT NULL' ELSE '' END, ', ' ORDER BY k) AS arguments,
        array_agg(CASE WHEN k = place THEN a.type ELSE arg::regtype END ORDER BY k) AS types
    FROM pg_proc f, types a, generate_series(1, pronargs - pronargdefaults) place, unnest(proargtypes) WITH ORDINALITY AS u(arg, k) JOIN pg_type t ON t.oid = arg
    WHERE pronamespace = 'public'::regnamespace
    GROUP BY f.oid, proname, place, a.n
    HAVING bool_and(k = place OR t.typtype <> 'p' AND t.typnamespace = 'pg_catalog'::regnamespace)) f
WHERE NOT EXISTS (SELECT FROM pg_proc same WHERE same.pronamespace = 'public'::regnamespace AND same.proname = f.proname
    AND same.pronargs - same.pronargdefaults <= needed AND (same.proargtypes::oid[])[0:needed - 1]::regtype[] = types[1:needed])
ON CONFLICT DO NOTHING;
SQL
# plants [WHERE]: statements that plant functions.
plants() {
    q -d apart -c "SELECT format('CREATE FUNCTION target.%I(%s) RETURNS %s LANGUAGE plpgsql AS \$\$BEGIN RAISE ''planted: %1\$I(%2\$s)''; END\$\$;', name, arguments, result)
        FROM plants WHERE ${1:-true}"
}
plants >"$server/plants.sql"
q -d apart >>"$server/plants.sql" <<'SQL'
SELECT format('CREATE FUNCTION target.%1$I(%2$s, %3$s) RETURNS %4$s LANGUAGE plpgsql AS $$BEGIN RAISE ''planted: %5$s(%2$s, %3$s)''; END$$;
    CREATE OPERATOR target.%5$s (LEFTARG = %2$s, RIGHTARG = %3$s, FUNCTION = target.%1$I);', 'planted_' || o.n, a.type, b.type, result, o.name)
FROM (SELECT oprname AS name, row_number() OVER (ORDER BY oprname) AS n, CASE WHEN bool_or(oprresult = 'bool'::regtype) THEN 'bool' ELSE 'text' END AS result
    FROM pg_operator WHERE oprkind = 'b' AND oprnamespace = 'pg_catalog'::regnamespace
        AND oprname IN ('=', '<>', '<', '<=', '>', '>=', '||', '->', '->>', '#>>', '+', '-', '*', '/', '%', '&&', '<@', '@>', '~', '~~', '?') GROUP BY 1) o,
    types a, types b;
SELECT format('CREATE TYPE target.%I AS (planted int);', typname) FROM pg_type JOIN words ON typname = word
WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype = 'b' AND typelem = 0;
SELECT format('CREATE TABLE target.%I (planted int);', relname) FROM pg_class JOIN words ON relname = word
WHERE relnamespace = 'pg_catalog'::regnamespace AND relkind IN ('r', 'v');
SQL
chmod 644 "$server/plants.sql"
q -d made -U maker -c 'CREATE SCHEMA target' -c 'SET check_function_bodies = off' -1 -f "$server/plants.sql"
planted=$(q -d made -c "SELECT count(*) FROM pg_proc WHERE pronamespace = 'target'::regnamespace")
echo "$planted functions are planted"
expect 'plants for many names' t "$([[ $planted -gt 5000 ]] && echo t || echo f)"
q -d made -U maker <<'SQL'
CREATE TABLE public.planted AS
    SELECT 'pg_catalog.pg_proc'::pg_catalog.regclass AS class, oid FROM pg_catalog.pg_proc WHERE pronamespace = 'target'::regnamespace
    UNION ALL SELECT 'pg_catalog.pg_operator'::pg_catalog.regclass, oid FROM pg_catalog.pg_operator WHERE oprnamespace = 'target'::regnamespace
    UNION ALL SELECT 'pg_catalog.pg_class'::pg_catalog.regclass, oid FROM pg_catalog.pg_class WHERE relnamespace = 'target'::regnamespace
    UNION ALL SELECT 'pg_catalog.pg_type'::pg_catalog.regclass, oid FROM pg_catalog.pg_type WHERE typnamespace = 'target'::regnamespace;
SQL

expect_sql 'the install script does not touch what is planted' '' 'CREATE EXTENSION neardup SCHEMA target' -d made -U maker
# By name or by the best match, nothing that was made with the extension stands on it.
expect_sql 'nothing of ours depends on it' '' "
    SELECT pg_describe_object(d.classid, d.objid, 0) || ' stands on ' || pg_describe_object(d.refclassid, d.refobjid, 0)
    FROM pg_depend d JOIN planted p ON p.class = d.refclassid AND p.oid = d.refobjid
    WHERE NOT EXISTS (SELECT FROM planted x WHERE x.class = d.classid AND x.oid = d.objid) AND d.deptype <> 'i' ORDER BY 1 LIMIT 5" -d made

q -d made -U maker <<'SQL'
CREATE TABLE public.docs(id int PRIMARY KEY, site text, body text);
INSERT INTO public.docs SELECT i, 'site ' || i % 3, string_agg('w' || (i / 2 * 100 + j) % 997, ' ') || CASE WHEN i % 2 = 1 THEN ' tail.' ELSE '.' END
FROM generate_series(1, 60) i, generate_series(1, 40) j GROUP BY i;
CREATE TABLE public.named(id pg_catalog.text PRIMARY KEY, body pg_catalog.text);
INSERT INTO public.named SELECT 'id ' || id, body FROM public.docs;
SQL
# Calls name the schema, and the types of all arguments: what the caller writes is the caller's.
docs="'public.docs'::pg_catalog.regclass" named="'public.named'::pg_catalog.regclass" id='NULL::pg_catalog.text'
half='0.5::pg_catalog.float8' column="text_column => 'body'::pg_catalog.text"
pairs="'SELECT left_id, right_id, similarity FROM target.near_duplicates(''public.docs''::pg_catalog.regclass, 0.5::pg_catalog.float8, text_column => ''body''::pg_catalog.text)'::pg_catalog.text"
text="'One two three four five. Six seven eight nine ten.'::pg_catalog.text"
calls=(
    "near_duplicates($docs, $half, $column)"
    "near_duplicates($docs, $half, $column, site_column => 'site'::pg_catalog.text, method => 'tlcs'::pg_catalog.text)"
    "near_duplicates($docs, $half, $column, tokenizer => 'tsearch:english'::pg_catalog.text)"
    "near_duplicates($docs, $half, $column, method => 'minhash'::pg_catalog.text)"
    "near_duplicates($named, $half, $id)"
    "near_duplicates_between($docs, $docs, $half, $column)"
    "near_duplicate_clusters($docs, $half, $column)"
    "near_duplicate_clusters($named, $half, $id)"
    "eliminate($docs, $half, $column)"
    "eliminate($docs, $half, $column, keep => 'max:site'::pg_catalog.text)"
    "eliminate($named, $half, $id)"
    "clusters_of_pairs($pairs)"
    "cluster_stats($pairs)"
    "cluster_links($pairs)"
    "partial_duplicates($docs, $half, $column)"
    "partial_duplicates_between($docs, $docs, $half, $column)"
    "duplicates_report($docs, $half, $column)"
    "duplicates_report($named, $half, $id)"
    "explain_pair($text, $text)"
    "explain_pair_text($text, $text)"
    "diff_html($text, $text)"
    "near_duplicates_stats()"
    "words($text)"
    "shingles($text)"
    "jaccard($text, $text)"
    "sentences($text)"
    "paragraphs($text)"
    "minhash($text)"
    "simhash($text)"
    "tlcs($text, $text)"
    "sentence_signatures($text)"
    "imatch($text)"
    "spotsigs($text)"
    "feature_code($text)"
    "html_text($text)"
    "neardup_plan(0.8::pg_catalog.float8)"
    "near($text, 0.8::pg_catalog.float8)"
)
# A function of ours that takes any type is less like a call than another one that takes its very type: what the
# caller's own call means is the caller's, so here there are none of these.
unplant=$(q -d apart -c "SELECT format('DROP FUNCTION target.%I(%s);', name, replace(arguments, ' DEFAULT NULL', '')) FROM plants WHERE any_type")
q -d made -U maker -1 -c "$unplant"
for path in target 'target, pg_catalog'; do
    for call in "${calls[@]}"; do
        if ! seen=$(q -d made -c "SET search_path = $path" -c "SELECT pg_catalog.count(*) FROM target.$call" 2>&1); then
            failed "search_path $path: $call" "$seen"
        else
            passed
        fi
    done
done
expect_sql 'indexes' $'60\n1\n\n1' "
    CREATE INDEX by_body ON public.docs USING signature (body);
    SET search_path = target, pg_catalog;
    SET enable_seqscan = off;
    SELECT rows FROM target.signature_index_stats('public.by_body'::pg_catalog.regclass);
    SELECT pg_catalog.count(*) FROM public.docs WHERE body OPERATOR(target.<@) target.near('w1 w2'::pg_catalog.text, 1::pg_catalog.float8) OR id OPERATOR(pg_catalog.=) 1;
    SELECT target.signature_index_check('public.by_body'::pg_catalog.regclass, true);
    SELECT target.signature_index_merge('public.by_body'::pg_catalog.regclass)" -d made

# Jobs.
plants any_type | q -d made -U maker -1 -f -
for role in maker postgres; do
    for detect in triggers compare; do
        for table in docs named; do
            q -d made -U maker -c "UPDATE public.docs SET body = body || ' more' WHERE id = 7"
            seen=$(q -d made -U $role -c "SET search_path = target, pg_catalog" \
                -c "SELECT target.neardup_watch('public.$table'::pg_catalog.regclass, $half, $column, detect => '$detect'::pg_catalog.text)" \
                -c "CALL target.neardup_refresh('public.$table'::pg_catalog.regclass)" \
                -c "UPDATE public.docs SET body = body OPERATOR(pg_catalog.||) ''::pg_catalog.text WHERE id OPERATOR(pg_catalog.=) 9" \
                -c "DELETE FROM public.docs WHERE id OPERATOR(pg_catalog.=) 11" \
                -c "CALL target.neardup_refresh('public.$table'::pg_catalog.regclass)" \
                -c "SELECT target.neardup_unwatch('public.$table'::pg_catalog.regclass)" 2>&1) || true
            expect "a job of $role on $table by $detect" $'\ndone\ndone' "${seen%$'\n'}"
        done
    done
done

# Tables of pairs.
for role in maker postgres; do
    for table in docs named; do
        seen=$(q -d made -U $role -c 'SET client_min_messages = warning' -c "SET search_path = target, pg_catalog" \
            -c "CALL target.near_duplicates_into('public.$table'::pg_catalog.regclass, $half, 'public.made'::pg_catalog.text, $column, clusters => 'public.grouped'::pg_catalog.text)" \
            -c 'SELECT pg_catalog.count(*) OPERATOR(pg_catalog.>) 0 FROM public.made' -c 'DROP TABLE public.made, public.grouped' 2>&1) || true
        expect "a table of pairs of $role of $table" t "$seen"
    done
done
finish
