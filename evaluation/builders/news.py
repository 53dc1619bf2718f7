"""News, abstracts and titles; answers of students."""
import csv
import io
import re
import xml.etree.ElementTree as xml
from html import unescape
from pathlib import Path

from builders.source import text_of


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
