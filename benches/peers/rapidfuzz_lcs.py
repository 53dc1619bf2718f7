"""rapidfuzz on the pairs that benches/lcs.rs wrote: rapidfuzz_lcs.py FOLDER prints milliseconds a pair."""
import sys
import time

from rapidfuzz.distance import LCSseq

print("| differ by | LCS, ms | with a threshold | one over it |\n|---|---|---|---|")
for per_cent in [0, 1, 2, 5, 10, 20, 100]:
    pairs = [line.rstrip("\n").split("\t") for line in open(f"{sys.argv[1]}/{per_cent}.tsv")]
    lengths = [LCSseq.similarity(a, b) for a, b in pairs]

    def best(call):
        times = []
        for _ in range(9):
            began = time.perf_counter()
            for (a, b), length in zip(pairs, lengths):
                call(a, b, length)
            times.append(time.perf_counter() - began)
        return min(times) * 1000 / len(pairs)

    exact = best(lambda a, b, length: LCSseq.similarity(a, b))
    at = best(lambda a, b, length: LCSseq.similarity(a, b, score_cutoff=length))
    over = best(lambda a, b, length: LCSseq.similarity(a, b, score_cutoff=length + 1))
    print(f"| {per_cent} % | {exact:.3f} | {at:.3f} | {over:.3f} |")
