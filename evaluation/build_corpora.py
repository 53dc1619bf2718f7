#!/usr/bin/env python3
"""Builds corpora of the evaluation from clones of the repositories that evaluation/pages/data.md names:

    evaluation/build_corpora.py CLONES DATA [CORPUS…]

CLONES holds owner/name, each a clone that has the commit of that page; DATA gets a folder for each corpus, as
evaluation/pages/data.md describes it. Each file is compared with evaluation/corpora.sha256, and what differs is said.
"""
import csv
import gzip
import hashlib
import io
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as xml
from html import unescape
from pathlib import Path


class Source:
    """A commit of a repository: its files, without a work tree."""

    def __init__(self, clones, name, commit):
        self.folder, self.commit = clones / name, commit
        if not self.folder.is_dir():
            raise SystemExit(f"{self.folder}: no clone of {name}")

    def git(self, *arguments, given=None):
        command = ["git", "-C", self.folder, "-c", "core.quotepath=off", *arguments]
        return subprocess.run(command, input=given, capture_output=True, check=True).stdout

    def files(self, under, ending=""):
        """The paths below a folder, in order, with what is in each."""
        names = self.git("ls-tree", "-r", "--name-only", self.commit, under).decode().splitlines()
        names = [name for name in names if name.endswith(ending)]
        asked = "".join(f"{self.commit}:{name}\n" for name in names).encode()
        out = io.BytesIO(self.git("cat-file", "--batch", given=asked))
        for name in names:
            size = int(out.readline().split()[2])
            yield name, out.read(size)
            out.read(1)

    def file(self, name):
        return self.git("show", f"{self.commit}:{name}")


def text_of(content):
    """UTF-8, or what is older."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def titles(source):
    lines = source.file("THUCNews/data/dev.txt").decode().splitlines()
    for number, line in enumerate(lines):
        title, of_class = line.split("\t")
        yield {"id": f"t{number}", "text": title, "meta": {"cls": of_class}}


def abstracts(source):
    for name, content in source.files("data/ohsumed_single_23/training"):
        folder, file = name.split("/")[-2:]
        yield {"id": f"o{folder}_{file}", "text": text_of(content).strip()}


def chinese_news(source):
    found = {}
    for name, content in source.files("data/news", ".xml"):
        found[int(Path(name).stem)] = xml.fromstring(content)
    for number in sorted(found)[:1200]:
        title, body, url, date = (found[number].findtext(of) or "" for of in ("title", "body", "url", "datetime"))
        yield {"id": f"x{number}", "text": f"{title}\n{body}".strip(), "meta": {"url": url, "date": date}}


def reuters(source):
    """The stories of the first eight files."""
    for number in range(8):
        content = source.file(f"reut2-{number:03}.sgm").decode("latin-1")
        for story in re.findall(r"<REUTERS.*?</REUTERS>", content, re.S):
            def of(tag):
                found = re.search(f"<{tag}>(.*?)</{tag}>", story, re.S)
                return unescape(found[1]) if found else ""
            kind = re.search(r'<TEXT(?: TYPE="(\w+)")?', story)[1] or "NORM"
            whole = re.search(r"<TEXT[^>]*>(.*?)</TEXT>", story, re.S)[1]
            body = unescape(whole) if kind == "UNPROC" else of("BODY")
            body = re.sub(r"[\x00-\x08\x0b-\x1f]", "", body.replace("Blah blah blah.", ""))
            body = re.sub(r"\n\s*(Reuter|REUTER)\s*$", "", body)
            title = of("TITLE").strip("\n")
            text = f"{title}\n{body}".strip()
            if not text:
                continue
            newid = re.search(r'NEWID="(\d+)"', story)[1]
            topics = re.findall("<D>(.*?)</D>", of("TOPICS"))
            yield {"id": f"r{newid}", "text": text, "meta": {"type": kind, "date": of("DATE").strip(), "topics": topics}}


def answers(source):
    data = list(csv.DictReader(io.StringIO(source.file("data/file_information.csv").decode())))
    for row in data:
        text = text_of(source.file("data/" + row["File"])).replace("\r\n", "\n")
        yield {"id": row["File"][:-4], "text": text.strip(), "meta": dict(row)}


def copied(source):
    """Each answer with its original, and how much of it is copied."""
    for row in csv.DictReader(io.StringIO(source.file("data/file_information.csv").decode())):
        if row["Category"] != "orig":
            yield f"orig_task{row['Task']}", row["File"][:-4], row["Category"]


def bibliography(source):
    folder = "data/cleanCleanErDatasets/DBLP-ACM/"
    for prefix, file in (("d_", "DBLP2.csv"), ("m_", "ACM.csv")):
        for row in csv.DictReader(io.StringIO(text_of(source.file(folder + file)))):
            values = [row[key] for key in row if key != "id"]
            yield {"id": prefix + row["id"], "text": " ".join(value for value in values if value), "meta": dict(row)}


def mapping(source):
    """The publications that are in both."""
    rows = source.file("data/cleanCleanErDatasets/DBLP-ACM/DBLP-ACM_perfectMapping.csv").decode()
    for row in csv.DictReader(io.StringIO(rows)):
        yield "d_" + row["idDBLP"], "m_" + row["idACM"], "1"


JEDAI = ("scify/JedAIToolkit", "134869c94299bf40877097cce1075b127b18650e")
ANSWERS = ("gauravansal/Plagiarism-Detection", "522343489d1c61be6b3d594b9b1e79b412794a5f")
# A repository, its commit, what makes the documents, and what makes the labels.
CORPORA = {
    "en_reuters_a": ("loki86/ksr_zadanie1V2", "d16457fd9d6d2b623fffc163746092b89a6e2fef", reuters),
    "en_ohsumed_a": ("yao8839836/text_gcn", "962223652e9bb164ac2d83cd09fc7b8845ce860b", abstracts),
    "zh_news_a": ("01joy/news-search-engine", "e2c5c9b704bc154c5897cf33ac10f6dd5f8f8543", chinese_news),
    "zh_titles_a": ("649453932/Chinese-Text-Classification-Pytorch", "6cb26819af7b646275aff8a4693676f2849e67f6", titles),
    "bib_dblp_acm_a": (*JEDAI, bibliography, mapping),
    "en_plagiarism_a": (*ANSWERS, answers, copied),
}


def written(file, content, known):
    """Writes a file of a corpus; whether it is the one that the sums are of."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".jsonl":
        with gzip.open(f"{file}.gz", "wb") as out:
            out.write(content)
    else:
        file.write_bytes(content)
    return hashlib.sha256(content).hexdigest() == known[f"{file.parent.name}/{file.name}"]


def main():
    clones, data = Path(sys.argv[1]), Path(sys.argv[2])
    sums = Path(__file__).with_name("corpora.sha256").read_text().splitlines()
    known = {line.split()[1]: line.split()[0] for line in sums}
    different = 0
    for name in sys.argv[3:] or CORPORA:
        repository, commit, documents, *labels = CORPORA[name]
        source = Source(clones, repository, commit)
        lines = [json.dumps(document, ensure_ascii=False) for document in documents(source)]
        files = {"docs.jsonl": lines}
        for label in labels:
            files["label_pairs.tsv"] = ["id1\tid2\tlabel", *("\t".join(row) for row in label(source))]
        for file, lines in files.items():
            same = written(data / name / file, "".join(f"{line}\n" for line in lines).encode(), known)
            different += not same
            print(f"{name}/{file}: {'the same' if same else 'NOT the same'} as evaluation/corpora.sha256")
    sys.exit(different > 0)


main()
