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
from collections import Counter
from html import unescape
from html.parser import HTMLParser
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

    def files(self, under="", ending=""):
        """The paths below a folder, in order, with what is in each."""
        names = self.git("ls-tree", "-r", "--name-only", self.commit, *filter(None, [under])).decode().splitlines()
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


class PageText(HTMLParser):
    """What a page shows, a line for each block; no reader of pages, but one that any machine has."""

    BLOCKS = set(
        "p div br li ul ol tr td th table h1 h2 h3 h4 h5 h6 section article header footer title pre blockquote dd dt"
        " dl hr option form nav aside main figure figcaption tbody thead".split()
    )
    HIDDEN = {"script", "style", "noscript", "svg", "template"}

    def __init__(self):
        super().__init__()
        self.parts, self.hidden = [], 0

    def handle_starttag(self, tag, attributes):
        self.hidden += tag in self.HIDDEN
        if tag in self.BLOCKS:
            self.parts.append("\n")

    def handle_startendtag(self, tag, attributes):
        if tag in self.BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag):
        if tag in self.HIDDEN:
            self.hidden = max(0, self.hidden - 1)
        elif tag in self.BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data):
        if not self.hidden:
            self.parts.append(data)

    @classmethod
    def of(cls, html):
        page = cls()
        page.feed(html)
        page.close()
        lines = (re.sub(r"[ \t\xa0]+", " ", line).strip() for line in "".join(page.parts).split("\n"))
        return "\n".join(filter(None, lines))


def page(of_id, html):
    return {"id": of_id, "text": PageText.of(html), "html": html}


def manual(source):
    """The documentation of five releases, its templates as parts of the page."""
    template = re.compile("<script[^>]*x-handlebars-template[^>]*>(.*?)</script>", re.S)
    for release in ("10", "20", "24", "28", "33"):
        for name, content in source.files(release, ".html"):
            if "/javadoc/" not in name and "/documentation/" not in name:
                yield page(f"k_{name}", template.sub(r'<div class="tpl">\1</div>', text_of(content)))


def of_one_path(source):
    for document in manual(source):
        yield document["id"], document["id"].split("/", 1)[1]


def of_tests(source):
    """The names of the tests, each with a page and its readable part."""
    pages = {tuple(name.split("/")[2:]): content for name, content in source.files("test/test-pages", ".html")}
    for test in sorted({test for test, _ in pages}):
        yield test, [text_of(pages[test, file]) for file in ("source.html", "expected.html")]


def readable(source):
    for test, both in of_tests(source):
        for prefix, html in zip("sx", both):
            yield page(f"{prefix}_{test}", html)


def contained(source):
    for test, _ in of_tests(source):
        yield f"s_{test}", f"x_{test}", "contains"


def chinese_pages(source):
    """Those of some sites; the others are kept for other tests."""
    kept = "163 cmse csdn ednchina gamersky gsc ifeng readhub shanxi stcn xinhuanet zyyfy".split()
    for folder in ("tests", "visiable_test"):
        for name, content in source.files(folder, ".html"):
            site = name.split("/")[1]
            if site not in kept:
                yield page(f"z_{name[:-5]}", text_of(content)) | {"meta": {"site": site}}


def companies(source):
    """The classes of even numbers."""
    for name, content in source.files("Sample", ".txt"):
        _, of_class, file = name.split("/")
        if int(of_class[1:]) % 2 == 0:
            yield {"id": f"g_{of_class}_{file[:-4]}", "text": text_of(content).strip(), "meta": {"cls": of_class}}


def laws(source):
    """Of local rules those of Shandong, and no cases; as long as 100 to 8,000 characters."""
    for name, content in source.files(ending=".md"):
        text = content.decode().strip()
        kept = name.startswith("DLC/") and not name.startswith("DLC/山东") or name.startswith("案例/") or name == "README.md"
        if not kept and 100 <= len(text) <= 8000:
            yield {"id": f"w_{name[:-3]}", "text": text}


def of_one_name(source):
    for document in laws(source):
        yield document["id"], re.sub(r"\(\d{4}-\d\d-\d\d\)$", "", document["id"][2:].rsplit("/", 1)[-1])


def editions(source):
    """The poems of 300 volumes of one edition, and those that have one title and author in another one, once in each."""
    def poems(folder, name, prefix):
        for path, content in source.files(folder, ".json"):
            found = re.fullmatch(f"{folder}/{name}[.]json", path)
            for number, poem in enumerate(json.loads(content) if found else ()):
                yield f"{prefix}{found[1]}_{number}", poem
    def key(poem):
        return tuple("".join(filter(str.isalnum, poem[of])) for of in ("title", "author"))
    def once(all_poems):
        count = Counter(key(poem) for _, poem in all_poems)
        return {key(poem): (of_id, poem) for of_id, poem in all_poems if count[key(poem)] == 1}
    first = list(poems("御定全唐詩", r"json/([012]\d\d|300)", "y"))
    of_first, of_second = once(first), once(list(poems("全唐诗", r"poet[.]tang[.](\d+)", "q")))
    both = [(*of_first[poem], *of_second[poem]) for poem in of_first if poem in of_second]
    return first, both


def poems(source):
    first, both = editions(source)
    for edition, found in (("御定全唐詩", first), ("全唐诗", [of_two[2:] for of_two in both])):
        for of_id, poem in found:
            meta = {"title": poem["title"], "author": poem["author"], "edition": edition}
            yield {"id": of_id, "text": "\n".join(poem["paragraphs"]).strip(), "meta": meta}


def same_poem(source):
    for first, _, second, _ in editions(source)[1]:
        yield first, second, "1"


def pairs_of_sentences(source):
    """Of each thousand rows the first half."""
    numbers = {}
    for row, line in enumerate(source.file("simtrain_to05sts.txt").decode().splitlines()):
        _, left, _, right, score = line.split("\t")
        if row // 500 % 2 == 0:
            yield [(f"c{numbers.setdefault(text.strip(), len(numbers))}", text.strip()) for text in (left, right)], score


def sentences(source):
    for of_id, text in dict(of for both, _ in pairs_of_sentences(source) for of in both).items():
        yield {"id": of_id, "text": text}


def meaning(source):
    for ((left, _), (right, _)), score in pairs_of_sentences(source):
        if left != right:
            yield left, right, score


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
    "html_kafka_a": ("apache/kafka-site", "49c30138", manual, of_one_path),
    "html_readability_a": ("mozilla/readability", "ab4027a8", readable, contained),
    "html_zh_a": ("GeneralNewsExtractor/GeneralNewsExtractor", "3d5a67c6", chinese_pages),
    "rec_zh_company_a": ("anycodes/companyCategory", "04c5cf4a", companies),
    "zh_law_a": ("LawRefBook/Laws", "2f4c5c23", laws, of_one_name),
    "zh_poetry_a": ("chinese-poetry/chinese-poetry", "99ebbef7", poems, same_poem),
    "zh_sts_a": ("IAdmireu/ChineseSTS", "37ec40a1", sentences, meaning),
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
            rows = list(label(source))
            file, head = ("label_pairs", "id1\tid2\tlabel") if len(rows[0]) == 3 else ("label_clusters", "id\tcluster")
            files[f"{file}.tsv"] = [head, *("\t".join(row) for row in rows)]
        for file, lines in files.items():
            same = written(data / name / file, "".join(f"{line}\n" for line in lines).encode(), known)
            different += not same
            print(f"{name}/{file}: {'the same' if same else 'NOT the same'} as evaluation/corpora.sha256")
    sys.exit(different > 0)


main()
