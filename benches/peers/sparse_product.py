"""sparse_dot_topn on ready sets, exactly: sparse_product.py FILE.sets THRESHOLD prints seconds and the number of pairs.

The product of a sparse matrix with itself, in C++. A Jaccard similarity of t implies a cosine of at least 2t / (1 + t), so
the product leaves out lesser ones, and the similarity follows from the cosine and the sizes.
"""
import sys
import time

import numpy as np
from scipy.sparse import csr_matrix, triu
from sparse_dot_topn import sp_matmul_topn

sets = [np.fromiter(map(int, line.split()), dtype=np.int64) for line in open(sys.argv[1])]
threshold = float(sys.argv[2])
sizes = np.array([len(own) for own in sets])
tokens = np.unique(np.concatenate(sets), return_inverse=True)[1]
began = time.perf_counter()
starts = np.concatenate(([0], np.cumsum(sizes)))
shape = (len(sets), int(tokens.max()) + 1)
matrix = csr_matrix((np.repeat(1 / np.sqrt(np.maximum(sizes, 1)), sizes), tokens, starts), shape=shape)
least = 2 * threshold / (1 + threshold) - 1e-9
# No row has more partners than there are rows; the room for so many is not taken at once.
product = sp_matmul_topn(matrix, matrix.T.tocsr(), top_n=len(sets), threshold=least, n_threads=1, density=1e-3)
pairs = triu(product, 1).tocoo()
a, b = sizes[pairs.row], sizes[pairs.col]
shared = np.rint(pairs.data * np.sqrt(a * b))
found = int(np.sum(shared / (a + b - shared) >= threshold))
print(f"{time.perf_counter() - began:.3f} {found}")
