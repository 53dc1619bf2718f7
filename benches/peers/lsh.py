"""Texts to pairs by minhash and LSH of rensa or datasketch: lsh.py FILE.tsv THRESHOLD PEER LIMIT OUT.

FILE.tsv has id, tab, text, of which LIMIT lines are read. Runs of five words, 128 values; bands as the peer chooses
them for the threshold (datasketch), or 16 (rensa, which is told). Writes the line numbers, from 1, of each pair to OUT;
prints the seconds from the texts to the pairs, on one core.
"""
import re
import sys
import time

path, threshold, peer, limit, out = sys.argv[1], float(sys.argv[2]), sys.argv[3], int(sys.argv[4]), sys.argv[5]
lines = [line.split("\t", 1)[1] for _, line in zip(range(limit), open(path, encoding="utf-8"))]
VALUES = 128
began = time.time()
pairs = set()
sets = []
for line in lines:
    words = re.findall(r"\w+", line.lower())
    sets.append(list({" ".join(words[n : n + 5]) for n in range(max(1, len(words) - 4))}) if words else [])
if peer == "datasketch":
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(threshold=threshold, num_perm=VALUES)
    for n, tokens in enumerate(sets):
        if tokens:
            sketch = MinHash(num_perm=VALUES, seed=1)
            sketch.update_batch([token.encode() for token in tokens])
            pairs.update((other, n) for other in index.query(sketch))
            index.insert(n, sketch)
else:
    from rensa import RMinHash, RMinHashLSH

    # Bands have equally many rows, a power of two: 16 of 8 find pairs from about 0.7 on, 8 of 16 from 0.88 on.
    index = RMinHashLSH(threshold=threshold, num_perm=VALUES, num_bands=16)
    for n, tokens in enumerate(sets):
        if tokens:
            sketch = RMinHash(num_perm=VALUES, seed=1)
            sketch.update(tokens)
            pairs.update((other, n) for other in index.query(sketch))
            index.insert(n, sketch)
print(f"{time.time() - began:.3f}")
with open(out, "w", encoding="utf-8") as file:
    file.writelines(f"{a + 1}\t{b + 1}\n" for a, b in sorted(pairs))
