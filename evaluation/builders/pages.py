"""Web pages, as they are and as what they show."""
import re
from html.parser import HTMLParser

from builders.source import text_of


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
