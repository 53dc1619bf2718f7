"""Laws and licences."""
import hashlib
import re


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


def licences(source):
    """The first 6,000 by the SHA-256 of their names: of each the expression and the text."""
    data = "src/licensedcode/data/"
    found = {}
    for folder, ending in (("licenses", ".LICENSE"), ("rules", ".RULE")):
        for name, content in source.files(f"{data}{folder}", ending):
            found[name.rsplit("/", 1)[-1]] = content.decode()
    taken = set(sorted(found, key=lambda name: hashlib.sha256(name.encode()).digest())[:6000])
    for name in filter(taken.__contains__, found):
        head, text = re.fullmatch(r"(?:---\n(.*?)\n---\s*?(?:\n|\Z))?(.*)", found[name], re.S).groups("")
        expression = re.search("^license_expression: (.*)", head, re.M) or re.search("^key: (.*)", head, re.M)
        yield f"s_{name}", expression[1].strip() if expression else "?", text.strip("\n").rstrip()


def texts_of_licences(source):
    for of_id, _, text in licences(source):
        yield {"id": of_id, "text": text}


def expressions(source):
    for of_id, expression, _ in licences(source):
        yield of_id, expression
