#!/usr/bin/env bash
# The blocks of the manual that the catalog knows: what belongs to the extension has a comment, and what users call is
# on one page as the catalog has it. reference.sh --write writes the blocks; without it, a page that would change fails.
#
# Blocks of the kinds below (```function and so on) list objects, which begin at the start of a line; a new one is added
# by its name. The rest is generated: arguments (in brackets those that are NULL if they are not given), what the object
# may be used for, after which argument an id_type may stand, and after "-- " its comment. What only the server or other
# functions call is on no page: \df+ neardup_internal.* shows it, and other comments on it begin with "internal:".
#
# Entries of lists such as "- `rows` bigint: …" are the columns of what the heading above them names, if it is one of those below.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start
q -c 'CREATE EXTENSION neardup'
# Whose columns are listed one by one.
export described="near_duplicates_stats neardup_version signature_index_stats neardup_jobs neardup_history neardup_progress neardup_activity"

# One object a line: kind, object, what it may be used for, comment.
in_catalog() {
    q -F $'\t' -v described="$described" <<'SQL'
LOAD '$libdir/neardup';
CREATE FUNCTION pg_temp.short(type text) RETURNS text LANGUAGE sql RETURN
    replace(replace(replace(type, 'double precision', 'float8'), 'timestamp with time zone', 'timestamptz'), 'boolean', 'bool');
CREATE TEMP VIEW members AS
    SELECT classid, objid, obj_description(objid, classid::regclass::name) AS comment
    FROM pg_depend
    WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass
        AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'neardup')
        AND obj_description(objid, classid::regclass::name) NOT LIKE 'internal: %';

-- The form for ids of any type has one argument more than that for integers, which stands for both.
CREATE TEMP VIEW functions AS
    SELECT p.*, comment, array_position(proargnames, 'id_type') AS id_type, proargtypes[0] AS first
    FROM members JOIN pg_proc p ON classid = 'pg_proc'::regclass AND p.oid = objid
    WHERE pronamespace <> 'neardup_internal'::regnamespace;
-- Forms that differ in the type of their first argument alone are one, with the comment of the form for a text.
WITH forms AS (
    SELECT CASE prokind WHEN 'p' THEN 'procedure' ELSE 'function' END AS kind, proname, comment, pg_temp.short(format_type(first, NULL)) AS first,
        format('%s(%s)', proname, (
            SELECT string_agg(CASE value WHEN 'NULL' THEN format('[%s]', argument) ELSE concat_ws(' = ', argument, value) END, ', ' ORDER BY n)
            FROM generate_series(1, pronargs) n,
                concat_ws(' ', CASE proargmodes[n] WHEN 'b' THEN 'INOUT' END, quote_ident(proargnames[n]), CASE n WHEN 1 THEN '@' ELSE
                    pg_temp.short(format_type(coalesce(proallargtypes[n], proargtypes[n - 1]), NULL)) END) argument,
                regexp_replace(pg_get_function_arg_default(f.oid, n), '::[a-z ]+(\[\])?', '', 'g') value))
        || CASE WHEN prokind = 'p' THEN ''
            WHEN proname = ANY (string_to_array(:'described', ' ')) THEN ' → the columns below'
            ELSE ' → ' || pg_temp.short(pg_get_function_result(f.oid)) END AS object,
        CASE WHEN prokind = 'f' THEN
            concat_ws(', ', CASE provolatile WHEN 'i' THEN 'IMMUTABLE' WHEN 's' THEN 'STABLE' ELSE 'VOLATILE' END,
                CASE WHEN proisstrict THEN 'STRICT' END,
                CASE proparallel WHEN 's' THEN 'PARALLEL SAFE' WHEN 'r' THEN 'PARALLEL RESTRICTED' ELSE 'PARALLEL UNSAFE' END)
            || coalesce((SELECT '; with id_type after ' || proargnames[g.id_type - 1]
                FROM functions g WHERE g.proname = f.proname AND g.first = f.first AND g.id_type > 0), '') END AS use
    FROM functions f
    WHERE id_type IS NULL OR NOT EXISTS (SELECT FROM functions g WHERE g.proname = f.proname AND g.first = f.first AND g.id_type IS NULL))
SELECT kind, replace(object, '@', coalesce(string_agg(first, ' | ' ORDER BY first), '')), use, (array_agg(comment ORDER BY first <> 'text', first))[1]
FROM forms GROUP BY kind, proname, object, use ORDER BY proname, object;

SELECT 'type', format_type(objid, NULL), NULL, comment FROM members JOIN pg_type t ON classid = 'pg_type'::regclass AND t.oid = objid
WHERE typrelid = 0 AND typcategory <> 'A';

-- Those of equality and order are the same for all types, and compare bytes.
SELECT 'operator', format('%s %s %s → %s', oprleft::regtype, oprname, oprright::regtype, pg_temp.short(oprresult::regtype::text)), NULL, comment
FROM members JOIN pg_operator o ON classid = 'pg_operator'::regclass AND o.oid = objid
WHERE oprname <> ALL ('{<,<=,=,<>,>=,>}') ORDER BY 2;

SELECT 'class', format('%s FOR %s', opcname, opcintype::regtype) || CASE WHEN opcdefault THEN ' DEFAULT' ELSE '' END, NULL, comment
FROM members JOIN pg_opclass o ON classid = 'pg_opclass'::regclass AND o.oid = objid
    JOIN pg_am a ON a.oid = opcmethod AND amname = 'signature' ORDER BY 2;

SELECT 'cast', format('%s AS %s', castsource::regtype, casttarget::regtype)
    || CASE castcontext WHEN 'a' THEN ' AS ASSIGNMENT' WHEN 'i' THEN ' AS IMPLICIT' ELSE '' END, NULL, comment
FROM members JOIN pg_cast c ON classid = 'pg_cast'::regclass AND c.oid = objid;

SELECT 'method', amname, NULL, comment FROM members JOIN pg_am a ON classid = 'pg_am'::regclass AND a.oid = objid;
SELECT 'schema', nspname, NULL, comment FROM members JOIN pg_namespace n ON classid = 'pg_namespace'::regclass AND n.oid = objid;
SELECT 'trigger', evtname, NULL, comment FROM members JOIN pg_event_trigger t ON classid = 'pg_event_trigger'::regclass AND t.oid = objid;
SELECT 'relation', relname, NULL, comment FROM members JOIN pg_class c ON classid = 'pg_class'::regclass AND c.oid = objid;

SELECT 'setting', concat_ws(' ', name || ' = ' || boot_val || coalesce(' ' || unit, ''),
        '(' || concat_ws(', ', vartype, min_val || ' to ' || max_val, context) || ')'), NULL, concat_ws(' ', short_desc, extra_desc)
FROM pg_settings WHERE name LIKE 'neardup.%' ORDER BY name;

WITH columns AS (
    SELECT relname AS of, attname AS name, format_type(atttypid, atttypmod) AS type, attnum::int AS number
    FROM members JOIN pg_class c ON classid = 'pg_class'::regclass AND c.oid = objid
        JOIN pg_attribute ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped
    UNION ALL
    SELECT proname, proargnames[n], format_type(proallargtypes[n], NULL), (n - pronargs)::int
    FROM functions, generate_subscripts(proallargtypes, 1) n WHERE proargmodes[n] IN ('o', 't'))
SELECT 'column', format('%s: %s. %s %s', of, number, name, pg_temp.short(type)), NULL, NULL
FROM columns WHERE of = ANY (string_to_array(:'described', ' '));
SQL
}

# What the pages should be, in the folder $1, and what is wrong with them as they are.
written() {
    made=$1 perl -CSDA -Mutf8 -e '
        use File::Basename; use File::Path; use Text::Wrap qw(wrap $columns $huge);
        ($columns, $huge, $Text::Wrap::unexpand) = (119, "overflow", 0);
        my $name = sub { my ($kind, $object) = @_; $kind =~ /operator|cast/ ? $object =~ s/ →.*//r : $object =~ /^([\w.]+)/ && $1 };
        my (%known, %kinds, %columns);
        my %described = map { $_ => 1 } split / /, $ENV{described};
        open my $catalog, "<", shift or die;
        while (<$catalog>) {
            chomp;
            my ($kind, $object, $use, $comment) = split /\t/, $_, -1;
            next unless length $kind;
            if ($kind eq "column") { $columns{$object} = 1; next }
            $kinds{$kind} = 1;
            my $text = do { local $Text::Wrap::break = qr/(?<=[,→]) /; wrap("", " " x 8, $object) . "\n" };
            $text .= wrap(" " x 4, " " x 4, $use) . "\n" if length $use;
            my $said = wrap(" " x 4, "    -- ", "-- $comment");
            $known{$kind}{$name->($kind, $object)} .= "$text$said\n";
        }
        my %seen;
        for my $page (@ARGV) {
            open my $in, "<", $page or die;
            my ($kind, $new, $of, $number, @names) = ("", "", "", 0);
            while (<$in>) {
                if (/^```(\w*)$/) {
                    $new .= $known{$kind}{$_} // "$_ is not in the catalog\n" for @names;
                    @names = ();
                    $kind = !$kind && $kinds{$1} ? $1 : "";
                } elsif ($kind) {
                    next unless /^[^\s)]/ && !/^$/;
                    s/ +-- .*//; s/\s+$//;
                    my $it = $name->($kind, $_);
                    next if grep { $_ eq $it } @names;
                    push @names, $it;
                    print "$it is on the pages twice\n" if $seen{$kind}{$it}++;
                    next;
                }
                if (/^#+ `?(\w+)/) { $of = $1; $number = 0 }
                if ($described{$of} && /^- `(\w+)` (\S.*?): /) {
                    my $it = "$of: " . ++$number . ". $1 $2";
                    print "$it is no column\n" unless delete $columns{$it};
                }
                $new .= $_;
            }
            mkpath("$ENV{made}/" . dirname($page));
            open my $out, ">", "$ENV{made}/$page" or die;
            print $out $new;
        }
        for my $kind (sort keys %known) { print "$kind $_ is on no page\n" for grep { !$seen{$kind}{$_} } sort keys %{$known{$kind}} }
        print "$_ is in no list\n" for sort keys %columns;
    ' "$server/catalog" "${pages[@]}"
}

in_catalog >"$server/catalog"
cd "$project"
mapfile -t pages < <(grep -rlE '^```(function|procedure|type|operator|class|cast|method|schema|trigger|relation|setting)$|^- `\w+` (bigint|text)' docs | sort)
made=$(mktemp -d)
expect 'everything of the catalog that users call is on one page' '' "$(written "$made")"
if [[ ${1:-} == --write ]]; then cp -r "$made/docs" .; fi
for page in "${pages[@]}"; do
    expect "$page is as reference.sh --write writes it" '' "$(diff "$page" "$made/$page" || true)"
done
rm -rf "$made"

members="FROM pg_depend WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass
    AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'neardup')
    -- Types of arrays and of rows come with the others, and are members since 17.
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
    grep -qE "^### ${state:-none}\b" "$project/docs/operations/troubleshooting.md" || missing+="${state:-?????} $name"$'\n'
done
expect 'the page of errors has every SQLSTATE that the sources raise' '' "$missing"

# What stands between the dots of each message there is a message of the library, of our SQL or of the server.
said_of=("$("$PG_CONFIG" --pkglibdir)"/{neardup,dblink,postgres_fdw}.so "$sharedir"/extension/neardup--*.sql "$("$PG_CONFIG" --bindir)/postgres")
expect 'each message on the page of errors is one' '' "$(perl -0777 -e '
    my $page = shift;
    my $said = join "\0", map { open my $in, "<", $_ or die "$_: $!"; <$in> =~ s/\x27\x27/\x27/gr } @ARGV;
    open my $in, "<", $page or die;
    my ($errors) = <$in> =~ /^## Errors by SQLSTATE$(.*)/ms;
    for my $form (map { split /; / } map { /`([^`]+)`/g } $errors =~ /^- ((?:`[^`]+`(?: or )?)+)/mg) {
        for (split /\xe2\x80\xa6/, $form) {
            s/^[\s"\x27:;,]+|[\s"\x27:;,]+$//g;
            print "$_\n" if length > 3 && index($said, $_) < 0;
        }
    }' "$project/docs/operations/troubleshooting.md" "${said_of[@]}")"

# The options of each method: as the server lists them in a hint, and as the page does, where a line that ends with a colon
# has the methods and the list under it their options.
q <<'SQL'
CREATE TABLE no_docs (id int PRIMARY KEY, body text);
CREATE FUNCTION hint(method text, options jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE hint text;
BEGIN
    PERFORM near_duplicates('no_docs', method => hint.method, options => hint.options);
    RETURN '';
EXCEPTION WHEN invalid_parameter_value THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN hint;
END $$;
SQL
q -F ' ' >"$server/options" <<'SQL'
SELECT method, option
FROM regexp_split_to_table(substring(hint('?', NULL) FROM 'Methods: ([^.]*)\.'), ', ') method,
    regexp_split_to_table(substring(hint(method, '{"?": 1}') FROM 'Options of this method: ([^.]*)\.'), ', ') option
ORDER BY method, option;
SQL
expect 'the options of each method are on the page' '' "$(diff "$server/options" <(perl -ne '
    BEGIN { @sets = qw(jaccard cosine dice overlap containment hamming) }
    $on = 1 if /^### Methods and their options/;
    next unless $on;
    last if /^### Combinations/;
    if (/^\| (`.*?) \|/) { push @all, $1 =~ /`(\w+)`/g }
    if (/^(All methods|Sets|`).*:$/) { @methods = $1 eq "All methods" ? @all : (/^Sets/ ? @sets : (), /`(\w+)`/g) }
    if (/^- ((?:`\w+`(?:, )?)+)/) { my $names = $1; for my $option ($names =~ /`(\w+)`/g) { print "$_ $option\n" for @methods } }
' "$project/docs/reference/functions.md" | LC_ALL=C sort))"
finish
