#!/usr/bin/env python3
"""Writes short strings to the standard output, one a line: short_strings.py SEED ROWS [CORPUS…].

The same arguments give the same strings. Of every ten strings five are phrases of the texts of the corpora (files
docs.jsonl.gz), or made of the words below if none is given; three are names of products and two are addresses, which are
made of few words, so that some grams are in very many strings. Of the strings, 44 % have fewer than 30 characters.
"""

import gzip
import json
import random
import re
import sys

NOUNS = """lamp table chair desk shelf sofa mirror carpet kettle toaster mixer blender grinder freezer heater drill hammer
wrench saw ladder hose mower trimmer rake shovel tent backpack bottle helmet saddle pump racket jacket trousers shirt
sweater gloves scarf boots sandals watch bracelet ring necklace camera tripod lens printer scanner monitor keyboard mouse
speaker headphones charger cable adapter router notebook pencil marker stapler folder calendar envelope""".split()
KINDS = """wooden steel folding electric cordless compact portable waterproof vintage modern classic heavy light large
small mini double single outdoor indoor garden kitchen office travel kids womens mens professional digital wireless
rechargeable adjustable insulated stainless ceramic leather cotton woollen""".split()
COLOURS = "black white grey red blue green brown silver gold beige navy purple orange yellow pink turquoise".split()
STREETS = "Street Road Avenue Lane Drive Court Close Way Place Square Terrace Boulevard".split()
SYLLABLES = """al an ar ash bar bel ber bor bran bur cal car chel cor dal dan den dor dun el en fal far fen gar glen gran
hal har hol ing ken kil kir lan len lin lor mal mar mel mon nor os pen per pol ram ren ros sal san sel sher stan sul tal
tan ter thor tor ul val ver wal wes win wor yar""".split()


def name(rng):
    return "".join(rng.choice(SYLLABLES) for _ in range(rng.choice((2, 2, 3)))).capitalize()


def words_of(paths):
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield from re.sub(r"\s+", " ", json.loads(line)["text"]).split()


def main():
    seed, rows, paths = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    rng = random.Random(seed)
    words = list(words_of(paths)) or [rng.choice(NOUNS + KINDS) for _ in range(1_000_000)]
    brands = [name(rng) for _ in range(3000)]
    towns = [name(rng) + rng.choice(("", "", "ton", "ford", "ham", " Hill", " Green")) for _ in range(8000)]
    streets = [name(rng) + rng.choice(("", "", "", "wood", "field", " Park")) for _ in range(40_000)]
    out = []
    for n in range(rows):
        kind = n % 10
        if kind < 5:
            length = rng.choice((14, 18, 22, 26, 32, 36, 42, 52, 72))
            at = rng.randrange(len(words))
            taken, size = [], 0
            while size < length:
                word = words[at % len(words)]
                taken.append(word)
                size += len(word) + 1
                at += 1
            string = " ".join(taken)
        elif kind < 8:
            parts = [rng.choice(brands), *rng.sample(KINDS, rng.choice((1, 1, 2, 2))), rng.choice(NOUNS)]
            if rng.random() < 0.5:
                parts.append(rng.choice(COLOURS))
            if rng.random() < 0.5:
                parts.append(f"{rng.choice('ABDEGKMRTX')}{rng.randrange(10, 1000)}")
            string = " ".join(parts)
        else:
            string = f"{rng.randrange(1, 300)} {rng.choice(streets)} {rng.choice(STREETS)}"
            if rng.random() < 0.67:
                string += f", {rng.choice(towns)}"
        out.append(string.replace("\\", "/"))
        if len(out) == 50_000:
            sys.stdout.write("\n".join(out) + "\n")
            out.clear()
    if out:
        sys.stdout.write("\n".join(out) + "\n")


main()
