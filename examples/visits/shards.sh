# Somebody has a crawl in shards, JSON Lines compressed by zstd, and no database.
# The aim: the same shards without near duplicates, also of rows in different shards.

# Given
mkdir shards
python - <<'END'
import hashlib, json, zstandard
def words(n):
    return " ".join(hashlib.md5(f"{n} {word}".encode()).hexdigest()[:7] for word in range(40))
for shard in range(4):
    # Each document is in two shards, the second time with one word more.
    rows = [{"url": f"{shard}/{n}", "text": words((n + 50 * shard) % 100) + " again" * (shard > 1)} for n in range(50)]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    open(f"shards/{shard}.jsonl.zst", "wb").write(zstandard.compress(lines.encode()))
END

# 1. README.md, docs/recipes/files.md
neardup dedup shards/ kept/ --threshold 0.8 --removed gone.jsonl.zst

# Reached: 4 shards, 100 of 200 rows kept, 100 removed for a row of another shard, all of them kept
python - <<'END'
import glob, io, json, zstandard
def read(pattern):
    for name in sorted(glob.glob(pattern)):
        with zstandard.open(name, "rt") as lines:
            yield from map(json.loads, lines)
kept, gone = [row["url"] for row in read("kept/*.jsonl.zst")], list(read("gone.jsonl.zst"))
other = sum(row["file"] != row["kept_file"] for row in gone)
urls = [row["url"] for row in read("shards/*.jsonl.zst")]
whole = all(urls[row["kept_id"] - 1] in kept for row in gone)
print(f"{len(glob.glob('kept/*'))} shards, {len(kept)} of {len(urls)} rows kept, {other} removed for a row of another shard,", "all of them kept" if whole else "not all of them kept")
END
