# Somebody has a training corpus, and the tests by which the model will be judged.
# The aim: a corpus without the documents that contain a test, and which these were.

# Given
mkdir kept
python - <<'END'
import hashlib, json
def words(n, many):
    return " ".join(hashlib.md5(f"{n} {word}".encode()).hexdigest()[:7] for word in range(many))
tests = [words(f"test {n}", 25) for n in range(20)]
for shard in range(2):
    with open(f"kept/{shard}.jsonl", "w") as out:
        for n in range(100):
            # Every tenth document quotes a test, with a word changed.
            quoted = tests[n // 10 + 10 * shard].replace(" ", " so ", 1) if n % 10 == 0 else ""
            out.write(json.dumps({"url": f"{shard}/{n}", "text": f"{words(f'{shard} {n}', 100)} {quoted}"}) + "\n")
with open("tests.jsonl", "w") as out:
    out.writelines(json.dumps({"question": test, "body": test}) + "\n" for test in tests)
END

# 1. README.md, docs/recipes/files.md
neardup dedup kept/ clean/ --against tests.jsonl --threshold 0.8 --removed contaminated.jsonl

# Reached: 180 of 200 documents are clean, 20 contained each its test
python - <<'END'
import glob, json
def read(pattern):
    return [json.loads(line) for name in sorted(glob.glob(pattern)) for line in open(name)]
gone = read("contaminated.jsonl")
right = [row["against"] for row in gone] == list(range(1, 21))
print(f"{len(read('clean/*'))} of {len(read('kept/*'))} documents are clean, {len(gone)} contained", "each its test" if right else "others")
END
