"""Records of publications and persons, descriptions of companies, pairs of sentences."""
import csv
import io

from builders.source import text_of


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


class JavaObjects:
    """Reads what Java has written of objects: each is the list of its fields and of what it holds."""

    def __init__(self, content):
        self.content, self.at, self.known = content, 4, []

    def take(self, size):
        self.at += size
        return self.content[self.at - size : self.at]

    def number(self, size):
        return int.from_bytes(self.take(size), "big")

    def name(self):
        return self.take(self.number(2)).decode()

    def new(self, of):
        self.known.append(of)
        return of

    def value(self):
        kind = self.take(1)
        if kind == b"q":
            return self.known[self.number(4) - 0x7E0000]
        if kind == b"t":
            return self.new(self.name())
        if kind == b"r":
            return self.kind_of_object()
        if kind == b"s":
            fields, has_more = self.value()
            found = self.new([])
            found.extend(self.number(4) if field == "I" else self.value() for field in fields)
            if has_more:
                found.extend(self.rest())
            return found
        return None

    def kind_of_object(self):
        self.name()
        self.take(8)
        fields = []
        found = self.new((fields, self.content[self.at] & 1))
        self.take(1)
        for _ in range(self.number(2)):
            fields.append(self.take(1).decode())
            self.name()
            if fields[-1] == "L":
                self.value()
        list(self.rest())
        self.value()
        return found

    def rest(self):
        """Objects up to the end of one, between bytes that say how many there are."""
        while (kind := self.take(1)) != b"x":
            if kind == b"w":
                self.take(self.number(1))
            else:
                self.at -= 1
                yield self.value()


def java(source, name):
    return JavaObjects(source.file(f"data/dirtyErDatasets/{name}")).value()


def profiles(name, prefix):
    def records(source):
        for number, (attributes, _) in enumerate(java(source, f"{name}Profiles")[1:]):
            meta = dict(sorted(attributes))
            yield {"id": f"{prefix}{number}", "text": " ".join(meta.values()), "meta": meta}
    return records


def listed(name, prefix):
    def duplicates(source):
        for left, right in java(source, f"{name}IdDuplicates"):
            yield f"{prefix}{left}", f"{prefix}{right}", "1"
    return duplicates


def companies(source):
    """The classes of even numbers."""
    for name, content in source.files("Sample", ".txt"):
        _, of_class, file = name.split("/")
        if int(of_class[1:]) % 2 == 0:
            yield {"id": f"g_{of_class}_{file[:-4]}", "text": text_of(content).strip(), "meta": {"cls": of_class}}


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
