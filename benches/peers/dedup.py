"""Deduplicates texts by another program, or by the command of neardup: dedup.py PROGRAM[/METHOD] FILE.tsv LIMIT FOLDER OUT.

FILE.tsv has id, tab, text, of which LIMIT lines are read. Each program does what its manual shows, at 0.8 by runs of five
words where it has such parameters, in one process on one core as far as it lets itself be told; what each does is said
below. Writes the numbers of the lines, from 1, that are left out, to OUT; prints "version|processor seconds|seconds|how".
The clock runs from the texts as the program wants them, in memory or in a file, to the lines.
"""
import json
import os
import re
import resource
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TOKENIZERS_PARALLELISM"):
    os.environ[name] = "false" if name.startswith("TOKEN") else "1"
VALUES = 128


def shingles(text):
    words = re.findall(r"\w+", text.lower())
    return list({" ".join(words[n : n + 5]) for n in range(max(1, len(words) - 4))}) if words else []


def sketched(texts, sketch, index):
    """A line is left out if the index has an earlier line for it that is not left out."""
    gone = []
    for n, text in enumerate(texts, 1):
        tokens = shingles(text)
        if tokens:
            made = sketch(tokens)
            if index.query(made):
                gone.append(n)
            else:
                index.insert(n, made)
    return gone


def rensa(texts, folder):
    from rensa import RMinHash, RMinHashLSH

    def sketch(tokens):
        made = RMinHash(num_perm=VALUES, seed=1)
        made.update(tokens)
        return made

    return sketched(texts, sketch, RMinHashLSH(threshold=0.8, num_perm=VALUES, num_bands=16)), "minhash, 128 values, 16 bands"


def datasketch(texts, folder):
    from datasketch import MinHash, MinHashLSH

    def sketch(tokens):
        made = MinHash(num_perm=VALUES, seed=1)
        made.update_batch([token.encode() for token in tokens])
        return made

    index = MinHashLSH(threshold=0.8, num_perm=VALUES)
    return sketched(texts, sketch, index), f"minhash, 128 values, {index.b} bands"


def neardup(texts, folder, method):
    """Its command, from a file of JSON lines to another one, by a server that it starts and ends: that of PG_CONFIG."""
    command = [sys.executable, "-m", "neardup", "dedup", f"{folder}/texts.jsonl", f"{folder}/kept.jsonl", "--threshold", "0.8"]
    command += ["--method", method, "--shingle", "5", "--keep", "first", "--quiet", "--threads", "1"]
    subprocess.run(command + ["--pg-config", os.environ["PG_CONFIG"]], check=True, stdout=sys.stderr)
    with open(f"{folder}/kept.jsonl", encoding="utf-8") as file:
        kept = {json.loads(line)["id"] for line in file}
    return [n for n in range(1, len(texts) + 1) if n not in kept], f"the command, `{method}`, texts: {len(texts)}"


def text_dedup(texts, folder):
    """The command of its manual, from a file of JSON lines to the folder of a data set."""
    import datasets

    datasets.disable_progress_bars()
    command = [sys.executable, "-m", "text_dedup.minhash", "--path", "json", "--data_files", f"{folder}/texts.jsonl", "--split", "train"]
    command += ["--cache_dir", f"{folder}/cache", "--output", f"{folder}/kept", "--column", "text", "--ngram", "5", "--threshold", "0.8"]
    command += ["--num_perm", str(VALUES), "--num_proc", "1", "--batch_size", "10000"]
    subprocess.run(command, check=True, stdout=sys.stderr, env=os.environ | {"HF_HUB_OFFLINE": "1", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"})
    kept = set(datasets.load_from_disk(f"{folder}/kept")["id"])
    return [n for n in range(1, len(texts) + 1) if n not in kept], "`minhash`, 128 values, its bands"


def datatrove(texts, folder):
    """Its four steps by local executors, one task each, with its defaults: runs of five words, 14 buckets of 8 hashes."""
    from datatrove.executor.local import LocalPipelineExecutor
    from datatrove.pipeline.dedup import MinhashDedupSignature
    from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter

    config = MinhashConfig()
    Path(folder, "in").mkdir()
    Path(folder, "texts.jsonl").rename(Path(folder, "in/texts.jsonl"))
    read = JsonlReader(f"{folder}/in")
    for steps, tasks in [
        ([read, MinhashDedupSignature(output_folder=f"{folder}/signatures", config=config)], 1),
        ([MinhashDedupBuckets(f"{folder}/signatures", f"{folder}/buckets", config=config)], config.num_buckets),
        ([MinhashDedupCluster(f"{folder}/buckets", f"{folder}/remove", config=config)], 1),
        ([read, MinhashDedupFilter(f"{folder}/remove"), JsonlWriter(f"{folder}/kept", compression=None)], 1),
    ]:
        LocalPipelineExecutor(pipeline=steps, tasks=tasks, workers=1, logging_dir=f"{folder}/logs/{type(steps[-1]).__name__}").run()
    kept = {int(json.loads(line)["id"]) for path in Path(folder, "kept").glob("*.jsonl") for line in open(path, encoding="utf-8")}
    return [n for n in range(1, len(texts) + 1) if n not in kept], "minhash, 14 buckets of 8"


def made_model(texts):
    """A static model like its own, with 256 numbers for each word; but the numbers are drawn, not learnt."""
    import numpy
    from model2vec import StaticModel
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.normalizers import Lowercase
    from tokenizers.pre_tokenizers import Whitespace

    counts = {}
    for text in texts:
        for word in set(re.findall(r"\w+|[^\w\s]+", text.lower())):
            counts[word] = counts.get(word, 0) + 1
    tokenizer = Tokenizer(WordLevel({"[UNK]": 0} | {word: n for n, word in enumerate(counts, 1)}, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = Lowercase(), Whitespace()
    rarity = numpy.log(len(texts) / numpy.array([len(texts), *counts.values()], dtype=numpy.float32))
    vectors = numpy.random.default_rng(1).standard_normal((len(counts) + 1, 256), dtype=numpy.float32)
    return StaticModel(vectors * rarity[:, None], tokenizer)


def semhash(texts, folder, model, how):
    from semhash import SemHash

    found = SemHash.from_records([{"id": str(n), "text": text} for n, text in enumerate(texts, 1)], columns=["text"], model=model)
    return [int(gone.record["id"]) for gone in found.self_deduplicate().filtered], how


def model_of_semhash(texts):
    os.environ |= {"HF_HUB_DOWNLOAD_TIMEOUT": "5", "HF_HUB_ETAG_TIMEOUT": "5"}
    from model2vec import StaticModel

    try:
        return StaticModel.from_pretrained("minishlab/potion-base-8M"), "embeddings of its model, 0.9"
    except Exception as error:
        print(f"semhash: its model cannot be had ({type(error).__name__}); a made one takes its place", file=sys.stderr)
        return made_model(texts), "embeddings of a made model, 0.9"


def spent():
    """Processor seconds of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in used)


def main():
    program, path, limit, folder, out = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        texts = [line.rstrip("\n").split("\t", 1)[1] for _, line in zip(range(int(limit)), file)]
    with open(f"{folder}/texts.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"id": n, "text": text}) + "\n" for n, text in enumerate(texts, 1))
    program, *further = program.split("/")
    name = program.replace("-", "_")
    if name == "semhash":
        further = model_of_semhash(texts)
    began, cpu = time.perf_counter(), spent()
    gone, how = globals()[name](texts, folder, *further)
    seconds, cpu = time.perf_counter() - began, spent() - cpu
    with open(out, "w", encoding="utf-8") as file:
        file.writelines(f"{n}\n" for n in sorted(set(gone)))
    print(f"{version(program)}|{cpu:.1f}|{seconds:.1f}|{how}")


if __name__ == "__main__":
    main()
