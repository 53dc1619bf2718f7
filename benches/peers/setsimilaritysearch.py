"""SetSimilaritySearch on ready sets: setsimilaritysearch.py FILE.sets THRESHOLD prints seconds and the number of pairs."""
import sys
import time

from SetSimilaritySearch import all_pairs

sets = [[int(token) for token in line.split()] for line in open(sys.argv[1])]
began = time.perf_counter()
pairs = sum(1 for _ in all_pairs(sets, similarity_func_name="jaccard", similarity_threshold=float(sys.argv[2])))
print(f"{time.perf_counter() - began:.3f} {pairs}")
