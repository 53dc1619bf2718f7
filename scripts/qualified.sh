#!/usr/bin/env bash
# Refuses names in SQL of ours that other roles' objects could answer to. qualified.sh [FILE…]: those instead of all.
#
# The install script runs as a superuser with the search path "target schema, pg_temp", pg_catalog before both; bodies in
# strings run with their caller's. What a name means is decided in two ways:
# - Types, relations, families, functions given with the types of their arguments: the first in the path that has the
#   name. In declarations this is pg_catalog or what the script itself made, as CREATE without OR REPLACE fails where
#   something is there. In bodies in strings, whose path is anybody's, they need their schema.
# - Calls of functions, and operators: of all schemas in the path the best match of the arguments' types. In expressions
#   (bodies, defaults, checks, views, queries) they need their schema: pg_catalog.f(…), a OPERATOR(pg_catalog.=) b. The
#   extension is relocatable, so calls of its own functions cannot have one in BEGIN ATOMIC; no match is better than an
#   exact one, so that every argument is cast to its type there, and wherever the schema may hold others' functions.
# - Syntax that stands for an operator without a schema is refused: IN, LIKE, BETWEEN, NULLIF, IS DISTINCT FROM,
#   CASE x WHEN y, JOIN … USING, NATURAL JOIN. COALESCE, GREATEST, LEAST, ORDER BY, DISTINCT go by the type alone.
# An upgrade script (sql/upgrades) may replace, drop and alter: the server refuses what is not the extension's to replace, and
# what it drops and alters is there as long as the extension is.
# Statements of jobs and of near_duplicates_into (src/pg/jobs/statements/, src/pg/into/statements/,
# src/pg/procedure/{citus,definition}.rs) need none of this: only these can make them, and they run only where pg_catalog is all of the path, which is checked each time.
set -euo pipefail
cd "$(dirname "$0")/.."
if (($#)); then files=("$@"); else
    mapfile -t files < <(find sql -name '*.sql' | sort; find src/pg -name '*.rs' | sort)
fi
exec perl -w - "${files[@]}" <<'PERL'
use strict;

my %type_words = map { $_ => 1 } qw(int integer smallint bigint real float double decimal dec numeric boolean bit char
    character varchar nchar national time timestamp interval);
my %may_open = (%type_words, map { $_ => 1 } qw(and or not any all some exists values coalesce greatest least array row
    case when then else select from where on join union except intersect distinct over filter with as lateral returning limit
    offset having by set key unique check conflict if while return materialized extract returns table is end loop
    elsif perform execute into default primary));
my %refused = (in => 'pg_catalog.= ANY of an array', like => 'OPERATOR(pg_catalog.~~)', ilike => 'OPERATOR(pg_catalog.~~*)',
    similar => 'OPERATOR(pg_catalog.~)', between => 'OPERATOR(pg_catalog.>=) and OPERATOR(pg_catalog.<=)',
    nullif => 'CASE WHEN', natural => 'JOIN … ON');
my $verb = qr/SELECT|INSERT|UPDATE|DELETE|WITH|TRUNCATE|CREATE|DROP|ALTER|ANALYZE|LOCK|TABLE|CALL|MERGE|COPY/;
my ($bad, $file, %own) = (0);

sub refuse { my ($line, $what) = @_; print "$file:$line: $what\n"; $bad++ }

# Tokens [kind, text, line]: w word, q "quoted" word, s string, d $$string$$, n number, o operator, p punctuation.
sub tokens {
    my ($text, $line) = @_;
    my @tokens;
    pos($text) = 0;
    while (pos($text) < length $text) {
        my $from = pos $text;
        my $kind;
        if ($text =~ /\G(?:\s+|--[^\n]*|\/\*.*?\*\/)/gcs) { }
        elsif ($text =~ /\G[eE]'(?:[^'\\]|\\.|'')*'/gcs || $text =~ /\G'(?:[^']|'')*'/gcs) { $kind = 's' }
        elsif ($text =~ /\G\$(\w*)\$.*?\$\1\$/gcs) { $kind = 'd' }
        elsif ($text =~ /\G"(?:[^"]|"")*"/gc) { $kind = 'q' }
        elsif ($text =~ /\G\$?[A-Za-z_\x80-\xff][\w\$\x80-\xff]*/gc) { $kind = 'w' }
        elsif ($text =~ /\G\$?\d+(?:\.(?!\.)\d*)?(?:[eE][-+]?\d+)?/gc) { $kind = 'n' }
        elsif ($text =~ /\G(?:::|:=|=>|\.\.|<<\w+>>)/gc) { $kind = 'p' }
        elsif ($text =~ /\G[-+*\/<>=~!@#%^&|`?]+/gc) { $kind = 'o' }
        else { $text =~ /\G./gcs; $kind = 'p' }
        my $token = substr $text, $from, pos($text) - $from;
        push @tokens, [$kind, $token, $line] if $kind;
        $line += $token =~ tr/\n//;
    }
    return @tokens;
}

# Words are compared in lower case; others, strings too, as they stand.
sub word { my ($token) = @_; return !$token ? '' : $token->[0] eq 'w' ? lc $token->[1] : $token->[1] }
sub is_name { my ($token) = @_; return $token && $token->[0] =~ /[wq]/ }

# The place behind the parenthesis that closes the one at a place.
sub behind {
    my ($tokens, $at) = @_;
    my $depth = 0;
    for (; $at < @$tokens; $at++) {
        my $text = $tokens->[$at][1];
        $depth++ if $text eq '(' || $text eq '[';
        $depth-- if $text eq ')' || $text eq ']';
        return $at + 1 if $depth == 0;
    }
    return $at;
}

# Whether every argument of the call whose parenthesis opens at a place ends in a cast.
sub all_cast {
    my ($tokens, $open) = @_;
    my $end = behind($tokens, $open) - 1;
    my ($depth, $cast, $any) = (0, 0, 0);
    # Nobody else can declare a function with an argument of this type, and so a better match. Then a
    # parameter may stand without a cast: it has the type of the variable that it is given.
    my $ours = word($tokens->[$end - 1]) eq 'neardup_internal';
    my $parameter = 0;
    for my $at ($open + 1 .. $end) {
        my $text = $tokens->[$at][1];
        if ($depth == 0 && ($text eq ',' || $at == $end)) {
            return 0 if $any && !$cast && !($ours && $parameter);
            ($cast, $any, $parameter) = (0, 0, 0);
            next;
        }
        $parameter = !$any && $text =~ /^\$/ || $parameter && $text =~ /^\d+$/;
        $depth++ if $text =~ /^[(\[]$/;
        $depth-- if $text =~ /^[)\]]$/;
        $any = 1;
        if ($depth == 0) {
            if ($text eq '::') { $cast = 1 }
            elsif ($cast && $tokens->[$at][0] !~ /[wq]/ && $text !~ /^[.\]]$/) { $cast = 0 }
        }
    }
    return 1;
}

# A query in a string: what format() and format! put in is taken for names with a schema.
sub check_text {
    my ($text, $line) = @_;
    $text =~ s/%(?:\d+\$)?[Is]/x.x/g;
    $text =~ s/%(?:\d+\$)?L/''/g;
    check([tokens($text, $line)], 1);
}

# Checks expressions. $late: their path is that of whoever runs them.
sub check {
    my ($tokens, $late) = @_;
    my (%known, @set, $depth);
    for my $at (0 .. $#$tokens) {
        $known{word($tokens->[$at])} = 1
            if is_name($tokens->[$at]) && $at && word($tokens->[$at - 1]) =~ /^(?:with|recursive|,)$/;
    }
    $depth = 0;
    for (my $at = 0; $at < @$tokens; $at++) {
        my ($kind, $text, $line) = @{$tokens->[$at]};
        my $word = word($tokens->[$at]);
        my ($before, $after) = (word($at ? $tokens->[$at - 1] : undef), word($tokens->[$at + 1]));
        my $qualified = $before eq '.';
        # CREATE EVENT TRIGGER … WHEN TAG IN (…) is no expression.
        next if $word eq 'in' && $before eq 'tag';
        if ($text eq '(') { $depth++ }
        if ($text eq ')') { pop @set while @set && $set[-1] >= $depth; $depth-- }
        if ($word eq 'operator' && $after eq '(') {
            my $end = behind($tokens, $at + 1);
            refuse($line, 'OPERATOR without a schema') unless grep { $_->[1] eq '.' } @$tokens[$at + 2 .. $end - 2];
            $at = $end - 1;
        } elsif ($kind eq 's') {
            my $inner = substr $text, $text =~ /^e/i ? 2 : 1, -1;
            $inner =~ s/''/'/g;
            check_text($inner, $line) if $inner =~ /^\s*(?:$verb)\s+\S/;
        } elsif ($kind eq 'd') {
            my $inner = $text;
            $inner =~ s/^\$\w*\$|\$\w*\$$//g;
            check_text($inner, $line) if $inner =~ /^\s*(?:$verb)\s+\S/;
        } elsif ($kind eq 'o') {
            my $prefix = $before =~ /^(?:[(,\[]|:=|=>|then|else|when|select|return|limit|and|or|not|default|any)$/;
            my $next = $tokens->[$at + 1];
            next if $text eq '*' && ($before =~ /^(?:[.(,]|select|distinct|returning)$/);
            next if $text =~ /^[-+]$/ && $prefix && $next && $next->[0] eq 'n';
            next if $text eq '%' && $after =~ /^(?:type|rowtype)$/;
            # An assignment.
            next if $text eq '=' && @set && $set[-1] == $depth && word($tokens->[$at - 2]) =~ /^(?:set|,|local)$/;
            refuse($line, "operator $text without a schema: OPERATOR(pg_catalog.$text)");
        } elsif ($text eq '::') {
            my $two = word($tokens->[$at + 2]);
            refuse($line, "type $after without a schema: ::pg_catalog.$after")
                unless $type_words{$after} || $two eq '.';
        } elsif ($kind eq 'w' && !$qualified && $after ne '.') {
            if ($word eq 'set') { push @set, $depth }
            elsif ($word =~ /^(?:where|returning)$/) { pop @set if @set && $set[-1] == $depth }
            if ($word eq 'in' && word($tokens->[$at - 2]) =~ /^(?:for|foreach|,)$/ && $after ne '(') { }
            elsif ($refused{$word}) { refuse($line, "$text stands for an operator without a schema: $refused{$word}") }
            elsif ($word eq 'distinct' && $before =~ /^(?:is|not)$/) {
                refuse($line, 'IS DISTINCT FROM stands for = without a schema: coalesce(a OPERATOR(pg_catalog.=) b, a IS NULL AND b IS NULL)');
            } elsif ($word eq 'case' && $after ne 'when' && $before ne 'end') {
                refuse($line, 'CASE x WHEN y stands for = without a schema: CASE WHEN x OPERATOR(pg_catalog.=) y');
            } elsif ($word eq 'using' && $after eq '(') {
                my ($of) = grep { /^(?:join|execute)$/ } map { word($_) } reverse @$tokens[0 .. $at];
                refuse($line, 'JOIN … USING stands for = without a schema: ON') if ($of || '') eq 'join';
            } elsif ($word eq 'collate') { refuse($line, "collation $after without a schema") if word($tokens->[$at + 2]) ne '.' }
            elsif ($word eq 'cast' && $after eq '(') { refuse($line, 'CAST: write ::pg_catalog.type') }
            elsif ($late && $after ne '(' && $word =~ /^(?:from|join|update|into)$/) {
                my $name = $tokens->[$at + 1];
                my $first = word($name);
                next if !is_name($name) || $known{$first} || $first =~ /^(?:lateral|only|select|set|of|strict|x)$/
                    || word($tokens->[$at + 2]) =~ /^[.(]$/ || ($word eq 'update' && $before =~ /^(?:for|do)$/)
                    || ($word eq 'into' && $before !~ /^insert$/);
                refuse($line, "relation $first without a schema");
            } elsif ($after eq '(' && !$may_open{$word}) { call($tokens, $at, 0) }
        } elsif (is_name($tokens->[$at]) && $after eq '(') { call($tokens, $at, $qualified) }
    }
    declarations($tokens) if $late;
}

sub call {
    my ($tokens, $at, $qualified) = @_;
    my ($name, $line) = (word($tokens->[$at]), $tokens->[$at][2]);
    my $before = word($at ? $tokens->[$at - 1] : undef);
    # Names of columns: behind an alias, a table to insert into, or in WITH.
    return if $before =~ /^(?:as|into|\))$/;
    my $behind = behind($tokens, $at + 1);
    return if word($tokens->[$behind]) eq 'as' && $before =~ /^(?:with|recursive|,)$/ && word($tokens->[$behind + 1]) =~ /^(?:\(|materialized|not)$/;
    # The name of a table, in front of the columns' names.
    return if $qualified && word($tokens->[$at - 3]) eq 'into';
    if ($own{$name} && !($qualified && word($tokens->[$at - 2]) eq 'pg_catalog')) {
        refuse($line, "call of our own $name(): cast every argument to its type, others may have better matches")
            unless all_cast($tokens, $at + 1);
    } elsif (!$qualified) { refuse($line, "function $name() without a schema: pg_catalog.$name()") }
}

# Types of variables of PL/pgSQL.
sub declarations {
    my ($tokens) = @_;
    my $inside = 0;
    for my $at (0 .. $#$tokens) {
        my $word = word($tokens->[$at]);
        if ($word eq 'declare') { $inside = 1; next }
        $inside = 0 if $word eq 'begin';
        next unless $inside && word($tokens->[$at - 1]) =~ /^(?:declare|;)$/ && is_name($tokens->[$at]);
        my $type = $at + 1 + (word($tokens->[$at + 1]) eq 'constant');
        my ($name, $next) = (word($tokens->[$type]), word($tokens->[$type + 1]));
        refuse($tokens->[$type][2], "type $name without a schema: pg_catalog.$name")
            unless $type_words{$name} || $name =~ /^(?:record|refcursor|cursor)$/ || $next =~ /^[.%]$/;
    }
}

# A declaration: only what it says of defaults, checks and bodies are expressions.
sub check_declaration {
    my ($tokens) = @_;
    for (my $at = 0; $at < @$tokens; $at++) {
        my $word = word($tokens->[$at]);
        if ($word eq 'default' || $word eq 'check' || $word eq 'when' || $word eq 'generated') {
            my $end = $at + 1;
            while ($end < @$tokens && $tokens->[$end][1] !~ /^[,)]$/) {
                $end = $tokens->[$end][1] =~ /^[(\[]$/ ? behind($tokens, $end) : $end + 1;
            }
            my @expression = @$tokens[$at .. $end - 1];
            check(\@expression, 0);
            $at = $end - 1;
        } elsif ($word eq 'atomic' || $word eq 'return') {
            check([@$tokens[$at + 1 .. $#$tokens]], 0);
            return;
        } elsif ($word eq 'as' && $at + 1 < @$tokens && $tokens->[$at + 1][0] eq 'd') {
            my $body = $tokens->[$at + 1][1];
            $body =~ s/^\$\w*\$|\$\w*\$$//g;
            check([tokens($body, $tokens->[$at + 1][2])], 1);
        }
    }
}

# A block of the install script: its strings are declarations, for names that format() puts in; the rest is a body.
sub check_block {
    my ($body) = @_;
    my @rest;
    for my $token (tokens($body->[1] =~ s/^\$\w*\$|\$\w*\$$//gr, $body->[2])) {
        my $inner = $token->[1];
        if ($token->[0] eq 'd' && $inner =~ s/^\$\w*\$(\s*CREATE)/$1/) {
            $inner =~ s/\$\w*\$$//;
            $inner =~ s/%(?:\d+\$)?[Is]/x/g;
            check_sql($inner, $token->[2]);
            $token = ['s', "''", $token->[2]];
        }
        push @rest, $token;
    }
    check(\@rest, 1);
}

sub check_sql {
    my ($text, $from) = @_;
    my ($atomic, $cases, @statement) = (0, 0);
    for my $token (tokens($text, $from || 1), ['p', ';', 0]) {
        my $word = word($token);
        if ($word eq 'atomic') { ($atomic, $cases) = (1, 0) }
        elsif ($atomic && $word eq 'case') { $cases++ }
        elsif ($atomic && $word eq 'end') { if ($cases) { $cases-- } else { $atomic = 0 } }
        if ($word ne ';' || $atomic) { push @statement, $token; next }
        my $upgrades = $file =~ m{^sql/upgrades/};
        splice @statement, 1, 2 if $upgrades && word($statement[1]) eq 'or' && word($statement[2]) eq 'replace';
        my ($first, $second) = (word($statement[0]), word($statement[1]));
        my $line = @statement ? $statement[0][2] : 0;
        if (!@statement) { }
        elsif ($first eq 'do') { check_block($statement[1]) }
        elsif ($first eq 'create' && $second eq 'or') { refuse($line, 'OR REPLACE takes over what others made') }
        elsif (grep { word($_) eq 'exists' } @statement[0 .. ($#statement < 5 ? $#statement : 5)]) { refuse($line, 'IF EXISTS takes over what others made') }
        elsif ($first eq 'comment' || $first eq 'grant' || $first eq 'revoke') { }
        elsif ($upgrades && $first eq 'drop') { }
        elsif ($upgrades && $first eq 'alter') { check_declaration(\@statement) }
        elsif ($first eq 'create' && $second =~ /^(?:type|operator|access|cast|schema)$/) { }
        elsif ($first eq 'create' && $second =~ /^(?:function|procedure|aggregate|domain|table|sequence|trigger)$/) { check_declaration(\@statement) }
        elsif ($first eq 'create' && $second eq 'view') {
            my ($as) = grep { word($statement[$_]) eq 'as' } 0 .. $#statement;
            check([@statement[$as + 1 .. $#statement]], 0);
        } else { check(\@statement, 0) }
        @statement = ();
    }
}

# Strings of Rust that are queries. Examples for people end in a semicolon, or ask for all columns of a call.
sub check_rust {
    my ($text) = @_;
    while ($text =~ /(r(#*)"(.*?)"\2|"((?:[^"\\]|\\.)*)")/gs) {
        my $line = 1 + (substr($text, 0, $-[0]) =~ tr/\n//);
        my $string = defined $3 ? $3 : $4;
        my $comment = substr($text, rindex($text, "\n", $-[0]) + 1, $-[0] - rindex($text, "\n", $-[0]) - 1);
        next if $comment =~ m{^\s*//} || $string !~ /^(?:$verb)\s+\S/ || $string =~ /;|^SELECT \* FROM \w+\(/;
        $string =~ s/\\\n\s*/ /g;
        $string =~ s/\\(.)/$1/g;
        $string =~ s/\{\{/[/g;
        $string =~ s/\{[^{}]*\}/x.x/g;
        check_text($string, $line);
    }
}

my %text;
for my $name (@ARGV) {
    open my $in, '<', $name or die "$name: $!\n";
    local $/;
    $text{$name} = <$in>;
}
for my $name (glob('sql/*.sql'), grep { !m{^sql/upgrades/} } glob('sql/*/*.sql')) {
    open my $in, '<', $name or die "$name: $!\n";
    while (<$in>) { $own{lc $1} = 1 if /^\s*CREATE (?:FUNCTION|PROCEDURE) (\w+)/ }
}
# What must be refused, and what must not, or this does not see what it should.
for my $sample (
    "1 SELECT now()", "1 SELECT 1 + 1", "1 SELECT 'a'::text", "1 SELECT x IN (1)", "1 SELECT x IS DISTINCT FROM y",
    "1 SELECT x LIKE y", "1 SELECT CASE x WHEN 1 THEN 2 END", "1 SELECT nullif(x, y)", "1 SELECT a FROM s.b JOIN s.c USING (d)",
    "1 SELECT x OPERATOR(=) y", "1 SELECT x COLLATE \"C\"", "1 SELECT CAST(x AS text)", "2 SELECT lower(upper(x))",
    "1 CREATE FUNCTION f(a text DEFAULT now()) RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT pg_catalog.now(); END",
    "1 CREATE FUNCTION f() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT now(); END",
    "3 CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS \$\$ DECLARE a text; BEGIN SELECT b FROM c WHERE d = \$1; END \$\$",
    "1 CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS \$\$ BEGIN EXECUTE 'SELECT now()'; END \$\$",
    "1 DO \$\$ BEGIN PERFORM now(); END \$\$",
    "2 DO \$\$ BEGIN EXECUTE format(\$d\$ CREATE TABLE %I(a int DEFAULT f()); \$d\$, 'a'); END \$\$",
    "0 DO \$\$ BEGIN EXECUTE pg_catalog.format(\$d\$ CREATE OPERATOR = (LEFTARG = %1\$I, FUNCTION = f); \$d\$, 'a'); END \$\$",
    "1 CREATE TABLE t(a int CHECK (a > 0))", "1 CREATE VIEW v AS SELECT now()", "1 CREATE OR REPLACE VIEW v AS SELECT 1",
    "0 SELECT pg_catalog.now(), -1, coalesce(a, b), count.*, a OPERATOR(pg_catalog.=) ANY (b) FROM s.c AS d(e, f)",
    "0 CREATE FUNCTION f(a text DEFAULT '{}', b int DEFAULT -1) RETURNS TABLE(c int) AS 'x', 'y' LANGUAGE c",
    "0 CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS \$\$ DECLARE a int; BEGIN UPDATE s.t SET a = 1, b = 2 WHERE true; END \$\$",
    "0 WITH a(b) AS (SELECT 1) INSERT INTO s.t(c) SELECT x.b FROM a AS x"
) {
    my ($expected, $sql) = split / /, $sample, 2;
    my $before = $bad;
    $file = 'sample';
    open my $quiet, '>', '/dev/null' or die;
    my $loud = select $quiet;
    check_sql($sql);
    select $loud;
    die "qualified.sh: refuses ", $bad - $before, " names, not $expected, of: $sql\n" if $bad - $before != $expected;
    $bad = $before;
}
for my $name (@ARGV) {
    $file = $name;
    next if $name =~ m{^src/pg/(?:(?:jobs|into)/statements/|procedure/(?:citus|definition)\.rs$)};
    if ($name =~ /\.rs$/) { check_rust($text{$name}) } else { check_sql($text{$name}) }
}
print "$bad names without a schema in SQL of ours; scripts/qualified.sh says why\n" if $bad;
exit($bad ? 1 : 0);
PERL
