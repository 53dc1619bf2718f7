#!/usr/bin/env bash
# Follows the relative links of all Markdown pages: each file and folder must be there, each #anchor must be a heading of
# its page, and docs/SUMMARY.md must name every page of the manual, once. Links to other sites are not followed.
# The first page and the manual stay as short as they are: a number that is exceeded is met by a page or words that go.
# Where a newcomer meets similarities (the first pages, the methods, the index), a page with one in a call must name the table
# that says which similarity is meant where: they are not all the same.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t pages < <(find . \( -name .git -o -name target -o -name results \) -prune -o -name '*.md' -print | sort)
exec perl -w - "${pages[@]}" <<'PERL'
use strict;
use utf8;
use open qw(:std :encoding(UTF-8));
use File::Basename;

my ($links, @broken, %anchors);

# The lines of a page that are text, with their numbers: code is none of it.
sub text_of {
    my ($file) = @_;
    open my $in, "<", $file or die "$file: $!\n";
    my ($fence, @lines);
    while (<$in>) {
        if (/^ *(`{3,}|~{3,})/) {
            if (!defined $fence) { $fence = $1; next }
            if (index($1, $fence) == 0 && /^ *[`~]+ *$/) { undef $fence; next }
        }
        push @lines, [$., $_] unless defined $fence;
    }
    die "$file: a block of code has no end\n" if defined $fence;
    return @lines;
}

# What forges and mdBook make of headings: lower case, without punctuation, hyphens for blanks, numbers where one repeats.
sub anchors_of {
    my ($file) = @_;
    return $anchors{$file} //= do {
        my (%found, %seen);
        for (text_of($file)) {
            my ($heading) = $_->[1] =~ /^#{1,6} +(.*?) *#* *$/ or next;
            $heading =~ s/!?\[([^\]]*)\]\([^)]*\)/$1/g;
            $heading = lc $heading;
            $heading =~ s/[^\w\- ]//g;
            $heading =~ s/ /-/g;
            my $times = $seen{$heading}++;
            $found{$times ? "$heading-$times" : $heading} = 1;
        }
        \%found;
    };
}

# A path without "." and "x/..".
sub plain {
    my @parts;
    for (split m{/}, shift) {
        if ($_ eq ".." && @parts && $parts[-1] ne "..") { pop @parts } elsif ($_ ne "." && $_ ne "") { push @parts, $_ }
    }
    return join "/", @parts;
}

# Calls whose answers depend on what a similarity is, with the similarity; a ball may have it in a parameter.
my $similar = qr/\bnear\((?!\.\.\.)|\b(?:near_duplicate\w*|neardup_watch|resemblance|minhash_similarity)\([^;]*\b0\.\d/;
my $table = "docs/choosing-a-method.md";
my $heading = "which-similarity-is-meant-where";

my (%manual, %named);
for my $file (map { plain($_) } @ARGV) {
    $manual{$file} = 1 if $file =~ m{^docs/} && $file ne "docs/SUMMARY.md";
    my $names_table = $file !~ m{^(?:README|docs/(?:getting-started|signature-index|sketches|clusters|jobs|methods/.*))\.md$};
    for (text_of($file)) {
        my ($line, $text) = @$_;
        $text =~ s/(`+)(?:(?!\1).)*\1/code/g;
        while ($text =~ /\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g) {
            my $link = $1;
            next if $link =~ /^[a-z]+:/;
            $links++;
            my ($path, $anchor) = $link =~ /^([^#]*)#?(.*)$/;
            my $target = $path eq "" ? $file : plain(dirname($file) . "/$path");
            $named{$target}++ if $file eq "docs/SUMMARY.md";
            $names_table = 1 if $target eq $table && $anchor eq $heading;
            if (!-e $target) { push @broken, "$file:$line: $link: no such file" }
            elsif ($link eq "#") { push @broken, "$file:$line: $link: leads to its own page" }
            elsif ($anchor ne "" && ($target !~ /\.md$/ || !anchors_of($target)->{$anchor})) {
                push @broken, "$file:$line: $link: no such heading";
            }
        }
    }
    next if $names_table;
    open my $in, "<", $file or die "$file: $!\n";
    while (<$in>) {
        next unless /$similar/;
        push @broken, "$file:$.: a similarity, and no link to $table#$heading";
        last;
    }
}
my $words = 0;
for my $file (keys %manual) {
    open my $in, "<", $file or die "$file: $!\n";
    while (<$in>) { $words += () = /\S+/g }
}
open my $first, "<", "README.md" or die "README.md: $!\n";
my $lines = () = <$first>;
for (["lines in README.md", $lines, 120], ["pages below docs", scalar keys %manual, 53], ["words below docs", $words, 100_000]) {
    my ($what, $count, $most) = @$_;
    push @broken, "$count $what, at most $most" if $count > $most;
}
for (sort keys %manual) {
    my $times = $named{$_} // 0;
    push @broken, "docs/SUMMARY.md names $_ $times times" if $times != 1;
}
print map { "$_\n" } @broken;
printf "%d links, %d broken\n", $links, scalar @broken;
exit(@broken ? 1 : 0);
PERL
