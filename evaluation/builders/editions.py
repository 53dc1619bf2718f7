"""Poems of two editions, verses of six translations."""
import io
import json
import re
import struct
import zipfile
import zlib
from collections import Counter
from pathlib import Path


TRANSLATIONS = ("KJV", "KJVPCE", "RWebster", "UKJV", "AKJV", "ASV")


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


def module(source, translation):
    """The verses of the Old Testament in a module of SWORD, by their numbers."""
    packed = zipfile.ZipFile(io.BytesIO(source.file(f"sources/en/{translation}/{translation}.zip")))
    stem = next(name for name in packed.namelist() if name.endswith("/ot.bzv"))[:-1]
    places, blocks, content = (packed.read(stem + ending) for ending in "vsz")
    books = [zlib.decompress(content[at : at + size]) for at, size, _ in struct.iter_unpack("<III", blocks)]
    for number, (book, at, size) in enumerate(struct.iter_unpack("<IIH", places)):
        text = books[book][at : at + size].decode("utf-8", "replace") if size else ""
        shown = re.sub("<[^>]*>", "", re.sub(r"<(note|title)\b.*?</\1>", "", text, flags=re.S))
        yield number, " ".join(shown.split())


def verses(source):
    """Those of a list, by which rule nobody knows any more; each in six translations."""
    numbers = [int(number) for number in Path(__file__).with_name("verses.txt").read_text().split()]
    texts = {translation: dict(module(source, translation)) for translation in TRANSLATIONS}
    for number in numbers:
        for translation in TRANSLATIONS:
            yield {"id": f"{translation}_ot{number}", "text": texts[translation][number]}


def of_one_verse(source):
    for document in verses(source):
        yield document["id"], document["id"].split("_")[1]
