# damage.pl SEED N FILE: changes some bytes of a file of 8 kB pages, and says which; the first few N do something that
# was not noticed once.
use strict;
use warnings;
my ($seed, $n, $path) = @ARGV;
my $PAGE = 8192;
srand($seed * 1000 + $n);
open(my $file, '+<:raw', $path) or die "$path: $!";
my $bytes = do { local $/; <$file> };
my $pages = int(length($bytes) / $PAGE);
sub whole { int(rand(shift)) }
# A page of a kind that is picked first, so that rare kinds are not rare here. The kind is in the page's tail.
my %by_kind;
push @{ $by_kind{ ord(substr($bytes, $_ * $PAGE + $PAGE - 4, 1)) } }, $_ for 0 .. $pages - 1;
my @kinds = sort { $a <=> $b } keys %by_kind;
sub page { my $of = $by_kind{ $kinds[whole(scalar @kinds)] }; $of->[whole(scalar @$of)] }
my @words = (0, 1, 2, 7, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 0xffff, 0x10000, 8144, 291);
sub put { my ($at, $what) = @_; substr($bytes, $at, length $what) = $what; }
# In the metapage: another operator class, options that cannot be, a last page behind the end, counters at their ends; of
# sets, other bits of a class, no order, one that is another page.
my @known = ([32, chr(3)], [32, chr(2)], [32, chr(1)], [32, chr(5)], [40, pack('V', 65)], [36, pack('V', 0)],
    [108, pack('V', 0x01000003)], [88, "\xff" x 8], [72, "\xff" x 8], [96, "\xff" x 8], [80, "\xff" x 8],
    [44, pack('V', 20)], [116, pack('V', 0xffffffff)], [116, pack('V', 3)], [32, chr(9)]);
if ($n < @known) {
    my ($at, $what) = @{ $known[$n] };
    put($at, $what);
    print "bytes at $at of page 0; ";
}
for ($n < @known ? () : 0 .. whole(4)) {
    my $page = page();
    my $start = $page * $PAGE;
    last if $start + $PAGE > length $bytes;
    my $used = unpack('v', substr($bytes, $start + 12, 2));
    $used = $PAGE if $used < 25 || $used > $PAGE;
    my $way = whole(11);
    if ($way <= 1) {
        my $at = 24 + whole($used - 24);
        put($start + $at, chr(ord(substr($bytes, $start + $at, 1)) ^ 1 << whole(8)));
        print "a bit of byte $at of page $page; ";
    } elsif ($way == 2) {
        my $at = whole($PAGE);
        put($start + $at, chr(whole(256)));
        print "byte $at of page $page; ";
    } elsif ($way <= 5) {
        # The beginnings of pages, and what begins where something else ends.
        my $at = 24 + 4 * whole($way == 3 ? int(($used - 24) / 4) : 40);
        my $word = whole(4) ? $words[whole(scalar @words)] : whole(2**32);
        put($start + $at, pack('V', $word));
        print "word $word at $at of page $page; ";
    } elsif ($way == 6) {
        my $at = whole(2) ? whole(24) : $PAGE - 24 + whole(24);
        put($start + $at, chr(whole(256)));
        print "byte $at of page $page; ";
    } elsif ($way == 7) {
        put($start, "\0" x $PAGE);
        print "page $page is zero; ";
    } elsif ($way == 8) {
        my $other = page();
        put($start, substr($bytes, $other * $PAGE, $PAGE)) if ($other + 1) * $PAGE <= length $bytes;
        print "page $page is page $other; ";
    } elsif ($way == 9) {
        my $to = whole(3) ? $PAGE * whole($pages) : whole(length $bytes);
        $bytes = substr($bytes, 0, $to);
        print "it ends at $to; ";
    } else {
        my $more = whole(3);
        $bytes .= $more == 0 ? "\0" x $PAGE : $more == 1 ? join('', map { chr(whole(256)) } 1 .. $PAGE) : substr($bytes, $start, $PAGE);
        print "one page more; ";
    }
}
truncate($file, 0);
seek($file, 0, 0);
print $file $bytes;
close($file) or die "$path: $!";
print "\n";
