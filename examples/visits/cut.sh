# Somebody prepares texts for training, in shards compressed by zstd: notices and quotations are in many of them.
# The aim: the same shards without what they say again, and a list of what was cut.

# Given
mkdir crawl
python - <<'END'
import hashlib, json, zstandard
def words(name, many):
    return " ".join(hashlib.md5(f"{name} {word}".encode()).hexdigest()[:7] for word in range(many))
for shard in range(4):
    rows = []
    for n in range(50):
        text = words(f"{shard} {n}", 100)
        # Every fifth document has the notice, in letters of its own, and another one is a copy of the first.
        text += f" {words('notice', 60).upper() if n % 2 else words('notice', 60)}." if n % 5 == 0 else ""
        rows.append({"url": f"{shard}/{n}", "text": words("0 1", 100) if n == 49 else text, "lang": "en"})
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    open(f"crawl/{shard}.jsonl.zst", "wb").write(zstandard.compress(lines.encode()))
END

# 1. README.md, docs/recipes/files.md
neardup cut crawl/ without/ --min-length 50 --min-left 20 --removed short.jsonl --runs runs.jsonl.zst

# Reached: 196 of 200 documents, 4 removed, the notice is in 1 of 40, 43 runs of 2 texts
python - <<'END'
import glob, json, zstandard
def read(pattern):
    for name in sorted(glob.glob(pattern)):
        with zstandard.open(name, "rt") as lines:
            yield from map(json.loads, lines)
before, after = list(read("crawl/*.zst")), list(read("without/*.zst"))
runs = list(read("runs.jsonl.zst"))
long = [sum(len(row["text"].split()) > 150 for row in rows) for rows in (before, after)]
print(f"{len(after)} of {len(before)} documents, {len(open('short.jsonl').readlines())} removed, the notice is in {long[1]} of {long[0]},", len(runs), "runs of", len({run["text"].lower() for run in runs}), "texts")
END
