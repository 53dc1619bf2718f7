#!/usr/bin/env bash
# The page of duplicates_report in a browser (headless Chromium, which `make setup BROWSER=1` brings, or NEARDUP_BROWSER names):
# nothing of a document runs, answers to pairs become a file that suggest reads, nothing is wider than the screen, pictures fill their cards, differences are marked and passages are
# shaded by their switch; wide and at 390 pixels, light and dark. Screenshots are compared with pg_test/report/seen: parts of them as
# lightness on a coarse grid, which how a machine draws letters hardly changes. `report.sh --accept` takes what it sees for right.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
folder=$project/pg_test/report
browser=${NEARDUP_BROWSER:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
if [[ -z $browser ]]; then
    echo 'skipped: no browser; make setup BROWSER=1, or NEARDUP_BROWSER=/path/to/chromium'
    exit 77
fi
server_start
place=$server/pages
as_server mkdir "$place"

# browse ARGUMENT…: the browser, as the server's user, since it refuses root; nothing of it outlives the test.
browse() {
    as_server env HOME="$place" timeout 300 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
        --disable-extensions --disable-background-networking --hide-scrollbars --user-data-dir="$place/profile" "$@" 2>>"$place/errors"
}
# said FILE [ARGUMENT…]: what the script of a page leaves in its <pre id="said">.
said() {
    browse --virtual-time-budget=20000 --window-size=1400,3200 "${@:2}" --dump-dom "file://$1" |
        perl -0ne 'if (m{<pre id="said">(.*?)</pre>}s) { $_ = $1; s/&gt;/>/g; s/&lt;/</g; s/&quot;/"/g; s/&amp;/&/g; print "$_\n" }'
}
echo '<pre id="said">ready</pre>' >"$place/ready.html"
if [[ $(said "$place/ready.html") != ready ]]; then
    echo "skipped: $browser does not start: $(tail -n 1 "$place/errors")"
    exit 77
fi

q -c 'CREATE EXTENSION neardup' -f "$folder/world.sql"
q -c "SELECT duplicates_report('docs', 0.5, NULL::text, text_column => 'body', title_column => 'title', max_clusters => 60, link => 'https://example.org/{id}')" >"$place/page.html"
q -c "SELECT duplicates_report('thousand', 0.6, id_column => 'id', max_clusters => 1000)" >"$place/thousand.html"

# The page as it is breaks none of its own rules.
: >"$place/errors"
browse --enable-logging=stderr --virtual-time-budget=5000 --dump-dom "file://$place/page.html" >"$place/dom"
expect 'the page loads and runs nothing that its policy forbids' '' "$(grep -aE 'CONSOLE|Refused|Content Security' "$place/errors" || true)"
expect 'the page is parsed as it was written' "$(grep -o '<details' "$place/page.html" | wc -l)" "$(grep -o '<details' "$place/dom" | wc -l)"

expect 'its own script shows the buttons' '0 0' \
    "$(grep -c 'nd-answer" [^>]*hidden' "$place/dom" || true) $(grep -c 'nd-answers" hidden' "$place/dom" || true)"

# The answers of the page, given by clicks: what it saves loads into a table, of the pairs that were shown, and suggest reads it.
sed -e 's/<meta http-equiv="Content-Security-Policy"[^>]*>//' "$place/page.html" >"$place/answered.html"
cat >>"$place/answered.html" <<'JS'
<pre id="said"></pre><script>
    document.querySelectorAll('.nd-answer').forEach((pair, n) => { if (n % 3 < 2) { pair.querySelectorAll('input')[n % 3].click(); } });
    const made = [];
    URL.createObjectURL = file => { made.push(file); return '#'; };
    document.querySelector('.nd-answers button').click();
    made[0].text().then(text => {
        const shown = document.querySelector('.nd-answers pre').textContent;
        document.getElementById('said').textContent = (text === shown ? '' : 'other than shown ') + text;
    });
</script>
JS
said "$place/answered.html" | sed '$ { /^$/ d }' >"$place/answers.tsv"
asked=$(grep -o 'class="nd-answer"' "$place/page.html" | wc -l)
q -c 'CREATE TABLE answers (left_id text, right_id text, duplicate boolean)' -c "\\copy answers FROM '$place/answers.tsv' WITH (ENCODING 'UTF8')"
expect_sql 'answers given in the page are those to its pairs' "$(((asked + 2) / 3)) yes, $(((asked + 1) / 3)) no, all of pairs" "
    SELECT format('%s yes, %s no, %s of pairs', count(*) FILTER (WHERE duplicate), count(*) FILTER (WHERE NOT duplicate), CASE WHEN bool_and(p.left_id IS NOT NULL) THEN 'all' ELSE 'not all' END)
    FROM answers a LEFT JOIN near_duplicates('docs', 0.5, NULL::text, text_column => 'body') p ON (p.left_id, p.right_id) IN ((a.left_id, a.right_id), (a.right_id, a.left_id))"
expect_sql 'and suggest reads them' t "SET client_min_messages = error; SELECT threshold > 0 AND call LIKE 'SELECT%' FROM suggest('docs', text_column => 'body', labels => 'answers') LIMIT 1"

# measured PAGE WIDTH [ARGUMENT…]: measure.js on a copy whose policy lets it run, in a frame of that width.
measured() {
    sed -e 's/<meta http-equiv="Content-Security-Policy"[^>]*>//' "$place/$1.html" >"$place/copy.html"
    { echo '<script data-ours>'; cat "$folder/measure.js"; echo '</script>'; } >>"$place/copy.html"
    sed -e "s/WIDTH/$2/" -e 's/PAGE/copy.html/' "$folder/frame.html" >"$place/frame.html"
    said "$place/frame.html" "${@:3}"
}
# pictured PAGE WIDTH [ARGUMENT…]: the parts of a screenshot of a page that was measured, as see.html sees them.
pictured() {
    sed -e "s/WIDTH/$2/" -e "s/PAGE/$1.html/" "$folder/frame.html" >"$place/frame.html"
    browse --virtual-time-budget=5000 --window-size=1400,3200 "${@:3}" --screenshot="$place/shot.png" "file://$place/frame.html" >/dev/null
    PLACE=$place BOXES="[$(of box | paste -sd ,)]" perl -MMIME::Base64 -0pe '
        BEGIN { open(my $f, "<:raw", "$ENV{PLACE}/shot.png") or die; local $/; $shot = encode_base64(<$f>, "") }
        s/BOXES/$ENV{BOXES}/; s/SHOT/$shot/' "$folder/see.html" >"$place/see.html"
    said "$place/see.html"
}
# beside PART KNOWN SEEN: whether a part is more than a plain area, and how it differs from the known one: on average, and in cells
# that differ much. Other letters change few cells, and little; where a part is mostly text, a line may be broken elsewhere.
beside() {
    awk -v part="$1" '$1 == part { for (i = 2; i <= NF; i++) cell[FILENAME, ++n[FILENAME]] = $i }
        END {
            if (n[ARGV[1]] != 240 || n[ARGV[2]] != 240) { print "is not there"; exit }
            least = 255
            much = part ~ /facts|pair/ ? 48 : 32; few = part ~ /facts|pair/ ? 24 : 5
            for (i = 1; i <= 240; i++) {
                now = cell[ARGV[2], i]; d = now - cell[ARGV[1], i]; d = d < 0 ? -d : d
                sum += d; far += d > much; least = now < least ? now : least; most = now > most ? now : most
            }
            print (most - least > 20 ? "drawn" : "plain") ", " (sum > 240 * 8 || far > few ? "differs by " sum / 240 ", much in " far : "the same")
        }' "$2" "$3"
}
of() { sed -n "s/^$1: //p" "$place/measured"; }

dark=--blink-settings=preferredColorScheme=0
for look in 'wide light' 'wide dark' 'narrow light' 'narrow dark'; do
    read -r wide scheme <<<"$look"
    width=1280 flags=(--blink-settings=preferredColorScheme=1) sides=beside
    if [[ $wide == narrow ]]; then width=390 sides=below; fi
    if [[ $scheme == dark ]]; then flags=("$dark"); fi
    measured page "$width" "${flags[@]}" >"$place/measured"
    expect "$look: nothing is wider than the screen" 0 "$(of overflows)"
    expect "$look: nor when all is open" 0 "$(of 'overflows when open')"
    expect "$look: nothing of a document is markup, and one script is ours" '1 0 undefined' "$(of scripts) $(of foreign) $(of hacked)"
    expect "$look: links lead to places of the page, and elsewhere by https" '0 0 https:' "$(of 'double ids') $(of 'lost links') $(of protocols)"
    expect "$look: the table of thresholds is not cut" 0 "$(of 'cut columns')"
    expect "$look: sections" 'similarity thresholds pairs clusters identical reading omitted' "$(of sections)"
    expect "$look: pictures fill their cards, with labels of one size that are apart" \
        "$(printf 'wide true labels 12px crowded 0 outside 0 below true\n%.0s' 1 2)" "$(of chart)"
    expect "$look: what differs is marked" t "$([[ -n $(of differences) ]] && echo t)"
    expect "$look: with a colour behind it" true "$(of marked)"
    expect "$look: passages are shaded by a switch" 'none to a shade' "$(of switch)"
    expect "$look: texts stand $sides each other" "$sides" "$(of sides)"
    expect "$look: texts have their own direction" 'ltr rtl' "$(of directions)"
    if [[ $scheme == dark ]]; then colours='dark light'; else colours='light dark'; fi
    expect "$look: colours" "$colours" "$(of page) $(of letters)"
    seen=$folder/seen/$wide-$scheme
    pictured page "$width" "${flags[@]}" >"$place/seen"
    if [[ ${1:-} == --accept ]]; then
        cp "$place/seen" "$seen"
    fi
    for part in facts histogram curve pair; do
        expect "$look: $part: a picture, and the one that is known" 'drawn, the same' "$(beside "$part" "$seen" "$place/seen")"
    done
done
# What is compared tells two pages apart: without its bars the histogram is another one.
sed 's/class="nd-bar"/fill="none"/g' "$place/page.html" >"$place/bare.html"
pictured bare 390 "$dark" >"$place/seen"
expect 'bars that are not drawn are missed' '1 the same' \
    "$(beside histogram "$folder/seen/narrow-dark" "$place/seen" | grep -c 'differs by') $(beside curve "$folder/seen/narrow-dark" "$place/seen" | sed 's/drawn, //')"

# Of a thousand clusters of long texts at most 2 MB, and it says what is not there.
bytes=$(wc -c <"$place/thousand.html")
expect 'a thousand clusters: at most 2 MB, most of which is used' t "$([[ $bytes -le 2000000 && $bytes -ge 1000000 ]] && echo t || echo "$bytes")"
measured thousand 390 --blink-settings=preferredColorScheme=1 >"$place/measured"
expect 'a thousand clusters: nothing is wider than the screen' '0 0' "$(of overflows) $(of 'overflows when open')"
expect 'a thousand clusters: those without room for texts have a line' 'similarity thresholds pairs clusters further reading omitted' "$(of sections)"
cards=$(grep -o 'id="cluster-' "$place/thousand.html" | wc -l)
expect 'a thousand clusters: all are there, and what is left out is said' t \
    "$(grep -q "$(printf "%'d" $((1000 - cards)) 2>/dev/null || echo $((1000 - cards))) clusters have a line without texts" "$place/thousand.html" && echo t || echo "$cards cards")"
finish
