#!/usr/bin/env python3
"""Builds corpora of the evaluation from clones of the repositories that evaluation/pages/data.md names:

    evaluation/build_corpora.py CLONES DATA [CORPUS…]

CLONES holds owner/name, each a clone that has the commit of that page; DATA gets a folder for each corpus, as
evaluation/pages/data.md describes it. Each file is compared with evaluation/corpora.sha256, and what differs is said;
of bib_cora_a and rec_census_a in the order of their lines, as ours is that of no rule.
"""
import gzip
import hashlib
import json
import sys
from pathlib import Path

from builders import editions, news, pages, records, rules
from builders.source import Source

JEDAI = ("scify/JedAIToolkit", "134869c94299bf40877097cce1075b127b18650e")
ANSWERS = ("gauravansal/Plagiarism-Detection", "522343489d1c61be6b3d594b9b1e79b412794a5f")
# A repository, its commit, what makes the documents, and what makes the labels.
CORPORA = {
    "en_reuters_a": ("loki86/ksr_zadanie1V2", "d16457fd9d6d2b623fffc163746092b89a6e2fef", news.reuters),
    "en_ohsumed_a": ("yao8839836/text_gcn", "962223652e9bb164ac2d83cd09fc7b8845ce860b", news.abstracts),
    "zh_news_a": ("01joy/news-search-engine", "e2c5c9b704bc154c5897cf33ac10f6dd5f8f8543", news.chinese_news),
    "zh_titles_a": ("649453932/Chinese-Text-Classification-Pytorch", "6cb26819af7b646275aff8a4693676f2849e67f6", news.titles),
    "bib_dblp_acm_a": (*JEDAI, records.bibliography, records.mapping),
    "bib_cora_a": (*JEDAI, records.profiles("cora", "c"), records.listed("cora", "c")),
    "rec_census_a": (*JEDAI, records.profiles("census", "p"), records.listed("census", "p")),
    "en_plagiarism_a": (*ANSWERS, news.answers, news.copied),
    "en_bible_a": ("scrollmapper/bible_databases", "a228a19a", editions.verses, editions.of_one_verse),
    "html_kafka_a": ("apache/kafka-site", "49c30138", pages.manual, pages.of_one_path),
    "html_readability_a": ("mozilla/readability", "ab4027a8", pages.readable, pages.contained),
    "html_zh_a": ("GeneralNewsExtractor/GeneralNewsExtractor", "3d5a67c6", pages.chinese_pages),
    "lic_scancode_a": ("aboutcode-org/scancode-toolkit", "bc787214", rules.texts_of_licences, rules.expressions),
    "rec_zh_company_a": ("anycodes/companyCategory", "04c5cf4a", records.companies),
    "zh_law_a": ("LawRefBook/Laws", "2f4c5c23", rules.laws, rules.of_one_name),
    "zh_poetry_a": ("chinese-poetry/chinese-poetry", "99ebbef7", editions.poems, editions.same_poem),
    "zh_sts_a": ("IAdmireu/ChineseSTS", "37ec40a1", records.sentences, records.meaning),
}


def in_order(lines):
    """The same whatever the order of lines and of what is in each."""
    return sorted(json.dumps(json.loads(line), sort_keys=True) if line[0] == "{" else line for line in lines)


def written(file, lines, known):
    """Writes a file of a corpus; whether it is the one that the sums are of, in their order where they say so."""
    def of(lines):
        return "".join(f"{line}\n" for line in lines).encode()
    file.parent.mkdir(parents=True, exist_ok=True)
    content, name = of(lines), f"{file.parent.name}/{file.name}"
    if file.suffix == ".jsonl":
        with gzip.open(f"{file}.gz", "wb") as out:
            out.write(content)
    else:
        file.write_bytes(content)
    if f"{name}.sorted" in known:
        content, name = of(in_order(lines)), f"{name}.sorted"
    return hashlib.sha256(content).hexdigest() == known[name]


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
            same = written(data / name / file, lines, known)
            different += not same
            print(f"{name}/{file}: {'the same' if same else 'NOT the same'} as evaluation/corpora.sha256")
    sys.exit(different > 0)


main()
