"""minhash by rensa and datasketch: sketches.py FILE.tsv prints, for each, its name and seconds.

FILE.tsv has id, tab, text. Token sets, runs of five words, are made before the clock starts and are the same for
both; each then makes a sketch of 128 values of every set, on one core.
"""
import re
import sys
import time


def token_sets(path):
    sets = []
    for line in open(path, encoding="utf-8"):
        words = re.findall(r"\w+", line.split("\t", 1)[1].lower())
        if words:
            sets.append(list({" ".join(words[n : n + 5]) for n in range(max(1, len(words) - 4))}))
    return sets


def rensa(sets):
    from rensa import RMinHash

    for tokens in sets:
        sketch = RMinHash(num_perm=128, seed=1)
        sketch.update(tokens)
        sketch.digest()


def rensa_c(sets):
    from rensa import CMinHash

    for tokens in sets:
        sketch = CMinHash(num_perm=128, seed=1)
        sketch.update(tokens)
        sketch.digest()


def datasketch(sets):
    from datasketch import MinHash

    for tokens in sets:
        sketch = MinHash(num_perm=128, seed=1)
        sketch.update_batch([token.encode() for token in tokens])
        sketch.hashvalues


if __name__ == "__main__":
    sets = token_sets(sys.argv[1])
    for peer in (rensa, rensa_c, datasketch):
        began = time.perf_counter()
        try:
            peer(sets)
        except ImportError:
            continue
        print(peer.__name__, f"{time.perf_counter() - began:.3f}")
