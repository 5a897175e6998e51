"""Plain text from HTML, for values that have no other form."""

import html.parser

# Characters of HTML that are read; a document is longer than its text.
LIMIT = 200_000

_BLOCKS = {
    "address", "article", "aside", "blockquote", "dd", "details", "div", "dl", "dt",
    "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr",
    "main", "nav", "ol", "p", "pre", "section", "summary", "table", "tr", "ul",
}
_HIDDEN = {"script", "style", "head", "template", "svg", "noscript"}


class _Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.parts = []
        self.hidden = 0
        self.preformatted = 0
        self.cells = 0

    def handle_starttag(self, tag, attributes):
        if tag in _HIDDEN:
            self.hidden += 1
        elif tag == "br":
            self.parts.append("\n")
        elif tag == "li":
            self.parts.append("\n- ")
        elif tag in ("td", "th"):
            self.parts.append(" | " if self.cells else "")
            self.cells += 1
        elif tag == "img":
            name = dict(attributes).get("alt")
            self.parts.append("[image: " + name + "]" if name else "[image]")
        elif tag in _BLOCKS:
            self.parts.append("\n")
        if tag == "tr":
            self.cells = 0
        if tag == "pre":
            self.preformatted += 1

    def handle_endtag(self, tag):
        if tag in _HIDDEN:
            self.hidden = max(self.hidden - 1, 0)
        elif tag in _BLOCKS:
            self.parts.append("\n")
        if tag == "pre":
            self.preformatted = max(self.preformatted - 1, 0)

    def handle_data(self, data):
        if self.hidden:
            return
        if self.preformatted:
            self.parts.append(data)
            return
        words = " ".join(data.split())
        if words:
            before = " " if data[0].isspace() else ""
            after = " " if data[-1].isspace() else ""
            self.parts.append(before + words + after)
        elif data and "\n" not in data:
            self.parts.append(" ")


def text_of(source):
    """Returns what a reader of the page would see, block by block."""
    reader = _Reader()
    reader.feed(source[:LIMIT])
    reader.close()
    lines = "".join(reader.parts).split("\n")
    return "\n".join(line.rstrip() for line in lines if line.strip())
