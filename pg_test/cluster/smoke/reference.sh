#!/usr/bin/env bash
# The pages in docs/reference against the catalog: what belongs to the extension has a comment and stands there as the
# catalog has it, and nothing else does.
#
# Blocks of the pages that name one of the kinds below (```function and so on) list objects of that kind. An object
# begins at the start of a line and goes on in indented ones, or in one that closes its parenthesis; then what a function
# may be used for, where users call it, and after "-- " its comment:
#
#     words(text text) → text[]
#         IMMUTABLE, STRICT, PARALLEL SAFE
#         -- the words of a text in order: …
#
# A table that begins with | column | type | has the columns of what the heading above it names. A kind that fails shows
# lines of the page (<) and of the catalog (>): what to write is the latter.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start
q -c 'CREATE EXTENSION neardup'
kinds='function procedure support internal type operator class family cast method schema trigger relation setting column'
# Whose columns have a table of their own.
described="near_duplicates_stats neardup_version signature_index_stats neardup_jobs neardup_history neardup_progress neardup_activity"

# One object a line: kind, object, what it may be used for, comment.
in_catalog() {
    q -F $'\t' -v described="$described" <<'SQL'
LOAD '$libdir/neardup';
CREATE TEMP VIEW members AS
    SELECT classid, objid, obj_description(objid, classid::regclass::name) AS comment
    FROM pg_depend
    WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass
        AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'neardup')
        -- Types of arrays and of rows come with the others, and are members since 17.
        AND NOT EXISTS (SELECT FROM pg_type WHERE classid = 'pg_type'::regclass AND oid = objid AND (typrelid <> 0 OR typcategory = 'A'));

-- What stands behind types, operators and the like is called by the server.
SELECT CASE
        WHEN comment LIKE 'internal: %' THEN 'internal'
        WHEN prokind = 'p' THEN 'procedure'
        WHEN support THEN 'support'
        ELSE 'function' END,
    CASE WHEN comment LIKE 'internal: %' THEN proname
        ELSE format('%I(%s)', proname, pg_get_function_arguments(p.oid)) || coalesce(' → ' || pg_get_function_result(p.oid), '') END,
    CASE WHEN prokind = 'f' AND NOT support AND comment NOT LIKE 'internal: %' THEN
        concat_ws(', ', CASE provolatile WHEN 'i' THEN 'IMMUTABLE' WHEN 's' THEN 'STABLE' ELSE 'VOLATILE' END,
            CASE WHEN proisstrict THEN 'STRICT' END,
            CASE proparallel WHEN 's' THEN 'PARALLEL SAFE' WHEN 'r' THEN 'PARALLEL RESTRICTED' ELSE 'PARALLEL UNSAFE' END) END,
    comment
FROM members JOIN pg_proc p ON classid = 'pg_proc'::regclass AND p.oid = objid,
    LATERAL (SELECT EXISTS (SELECT FROM pg_type WHERE p.oid IN (typinput, typoutput, typreceive, typsend, typmodin, typmodout, typanalyze))
        OR EXISTS (SELECT FROM pg_operator WHERE p.oid IN (oprcode, oprrest, oprjoin))
        OR EXISTS (SELECT FROM pg_amproc WHERE amproc = p.oid)
        OR EXISTS (SELECT FROM pg_am WHERE amhandler = p.oid)
        OR EXISTS (SELECT FROM pg_cast WHERE castfunc = p.oid)
        OR EXISTS (SELECT FROM pg_proc WHERE prosupport = p.oid)) s(support);

SELECT 'type', format_type(objid, NULL), NULL, comment FROM members WHERE classid = 'pg_type'::regclass;

SELECT 'operator', format('%s %s %s → %s', oprleft::regtype, oprname, oprright::regtype, oprresult::regtype), NULL, comment
FROM members JOIN pg_operator o ON classid = 'pg_operator'::regclass AND o.oid = objid;

SELECT 'class', format('%s USING %s FOR %s', opcname, amname, opcintype::regtype) || CASE WHEN opcdefault THEN ' DEFAULT' ELSE '' END, NULL, comment
FROM members JOIN pg_opclass o ON classid = 'pg_opclass'::regclass AND o.oid = objid JOIN pg_am a ON a.oid = opcmethod;

SELECT 'family', format('%s USING %s', opfname, amname), NULL, comment
FROM members JOIN pg_opfamily o ON classid = 'pg_opfamily'::regclass AND o.oid = objid JOIN pg_am a ON a.oid = opfmethod;

SELECT 'cast', format('%s AS %s', castsource::regtype, casttarget::regtype)
    || CASE castcontext WHEN 'a' THEN ' AS ASSIGNMENT' WHEN 'i' THEN ' AS IMPLICIT' ELSE '' END, NULL, comment
FROM members JOIN pg_cast c ON classid = 'pg_cast'::regclass AND c.oid = objid;

SELECT 'method', amname, NULL, comment FROM members JOIN pg_am a ON classid = 'pg_am'::regclass AND a.oid = objid;

SELECT 'schema', nspname, NULL, comment FROM members JOIN pg_namespace n ON classid = 'pg_namespace'::regclass AND n.oid = objid;

SELECT 'trigger', evtname, NULL, comment FROM members JOIN pg_event_trigger t ON classid = 'pg_event_trigger'::regclass AND t.oid = objid;

CREATE TEMP VIEW columns AS
    SELECT relname AS of, attname AS name, format_type(atttypid, atttypmod) AS type, attnum::int AS number
    FROM members JOIN pg_class c ON classid = 'pg_class'::regclass AND c.oid = objid
        JOIN pg_attribute ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped
    UNION ALL
    SELECT proname, proargnames[n], format_type(proallargtypes[n], NULL), (n - pronargs)::int
    FROM members JOIN pg_proc p ON classid = 'pg_proc'::regclass AND p.oid = objid, generate_subscripts(proallargtypes, 1) n
    WHERE proargmodes[n] IN ('o', 't');

SELECT 'relation', format('%s(%s)', relname, (SELECT string_agg(name || ' ' || type, ', ' ORDER BY number) FROM columns WHERE of = relname)), NULL, comment
FROM members JOIN pg_class c ON classid = 'pg_class'::regclass AND c.oid = objid;

SELECT 'column', format('%s: %s. %s %s', of, number, name, type), NULL, NULL
FROM columns WHERE of = ANY (string_to_array(:'described', ' '));

SELECT 'setting', concat_ws(' ', name || ' = ' || boot_val || coalesce(' ' || unit, ''),
        '(' || concat_ws(', ', vartype, min_val || ' to ' || max_val, context) || ')'), NULL, concat_ws(' ', short_desc, extra_desc)
FROM pg_settings WHERE name LIKE 'neardup.%';
SQL
}

on_pages() {
    cat "$project"/docs/reference/*.md | kinds=$kinds perl -CSD -Mutf8 -ne '
        BEGIN { %known = map { $_ => 1 } split / /, $ENV{kinds} }
        sub finish {
            $object =~ s/\( /(/g;
            $object =~ s/ \)/)/g;
            print join("\t", $kind, $object, $use, $comment), "\n" if length $object;
            ($object, $use, $comment) = ("", "", "");
        }
        s/\s+$//;
        if (/^```(\w*)$/) {
            finish if $kind;
            $kind = !$kind && $known{$1} ? $1 : "";
            next;
        }
        if (!$kind) {
            # Columns are those of the heading above them.
            if (/^#+ `?(\w+)/) { $of = $1; $columns = $number = 0; }
            $columns = 1 if /^\| column \| type \|/;
            $columns = 0 if !/^\|/;
            print "column\t$of: ", ++$number, ". $1 $2\t\t\n" if $columns && /^\| `(\w+)` \| (\S.*?) \|/;
            next;
        }
        finish if /^[^\s)]/ || !length;
        s/^\s+//;
        my $said = s/(?:^| +)-- (.*)$// ? $1 : "";
        $comment .= ($comment eq "" ? "" : " ") . $said if length $said;
        if (/^(IMMUTABLE|STABLE|VOLATILE)\b/) { $use = $_; next; }
        $object .= ($object eq "" ? "" : " ") . $_ if length;
    '
}

in_catalog | sed '/^$/d' | LC_ALL=C sort >"$server/catalog"
on_pages | LC_ALL=C sort >"$server/pages"
for kind in $kinds; do
    only() { awk -F '\t' -v kind="$kind" '$1 == kind' "$1"; }
    difference=$(diff <(only "$server/pages") <(only "$server/catalog") | grep '^[<>]' || true)
    expect "docs/reference and the catalog agree on each $kind" '' "$difference"
done

members="FROM pg_depend WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass
    AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'neardup')
    AND NOT EXISTS (SELECT FROM pg_type WHERE classid = 'pg_type'::regclass AND oid = objid AND (typrelid <> 0 OR typcategory = 'A'))"
expect_sql 'everything has a comment' '' "SELECT pg_describe_object(classid, objid, objsubid) $members
    AND obj_description(objid, classid::regclass::name) IS NULL"
expect_sql 'nothing is of a kind that this test does not know' '' "SELECT pg_describe_object(classid, objid, objsubid) $members
    AND classid NOT IN ('pg_proc'::regclass, 'pg_type'::regclass, 'pg_operator'::regclass, 'pg_opclass'::regclass,
        'pg_opfamily'::regclass, 'pg_cast'::regclass, 'pg_am'::regclass, 'pg_class'::regclass, 'pg_namespace'::regclass, 'pg_event_trigger'::regclass)"

# Errors by the names that the sources give them, and the SQLSTATEs that the page of errors explains. Those that are only
# compared with, and what a notice or a warning has, are no errors of ours.
raised=$(grep -rhoE --include='*.rs' 'ERRCODE_[A-Z_0-9]+' "$project/src" | sort -u |
    grep -vE '^ERRCODE_(SUCCESSFUL_COMPLETION|WARNING|DATA_EXCEPTION|INTEGRITY_CONSTRAINT_VIOLATION|LOCK_NOT_AVAILABLE|SYNTAX_ERROR_OR_ACCESS_RULE_VIOLATION)$')
missing='' sharedir=$("$PG_CONFIG" --sharedir)
for name in $raised; do
    state=$(awk -v name="$name" '$3 == name { print $1 }' "${sharedir}/errcodes.txt" | head -n 1)
    grep -qE "^## ${state:-none}\b" "$project/docs/reference/errors.md" || missing+="${state:-?????} $name"$'\n'
done
expect 'errors.md has every SQLSTATE that the sources raise' '' "$missing"
finish
