"""Made pages: soups of tags, attributes and texts of each kind that the readers tell apart."""

from __future__ import annotations

import random

# fmt: off
TAGS = [
    "a", "a", "abbr", "address", "applet", "article", "aside", "b", "base", "blockquote", "body",
    "br", "button", "caption", "center", "col", "colgroup", "dd", "desc", "dir", "div", "div", "dl",
    "dt", "embed", "fieldset", "figure", "font", "footer", "foreignObject", "form", "frameset",
    "h1", "h2", "head", "hr", "html", "i", "iframe", "img", "input", "legend", "li", "link",
    "listing", "main", "mark", "menu", "meta", "nav", "noembed", "noscript", "ol", "option", "p",
    "plaintext", "pre", "script", "section", "select", "small", "source", "span", "style", "svg",
    "svg", "table", "tbody", "td", "template", "textarea", "tfoot", "th", "thead", "title", "tr",
    "tt", "u", "ul", "video", "x-y", "xmp", "a.b", "o:p", "中",
]
ATTRIBUTES = [
    "class=menu", "class='card-12 x'", "class=' \xa0nav9'", "class=é", "class=x\u3000y", "class",
    "class=1234567", "class=a&#x2003;b", "CLASS=x", "class=d\u0663", "id=a", "id=b", "id=comments",
    "name=a", "name=b", "href", "href='#'", "href=#a", "href=#b", "href=x", "href=a&copy=b",
    "hidden", "aria-hidden=true", "aria-hidden=false", "style='display: none'", "style=color:red",
    "style='di\u017fplay:NONE'", "role=navigation", "role=dialog", "role=x", "rel=canonical",
    "property=og:title", "content='a\r\nb&amp;c'", 'title="a > b"', "title='</body>'", "x=/ y",
]
BETWEEN = [
    "Some words, and a sentence. ", "中国人民。", " ", " ", "\n", "\r\n", "\xa0", "\u3000 x \u2028",
    "x", "é", "\ufffd", "\x01", "x" * 120, "&#28;", "&#x85;y", "&nosuch;", "&amp;", "&lt",
    "&notit;", "&#128;", "&#xD800;", "&#32;", "&nGt;", "&#xA0;", "&", "<", "<3", "</>", "< p>",
    "<!-- c -->",
    "<!-->", "<!--x--!>", "<![CDATA[d>e]]>", "<?pi?>", "<!doctype html>", "<!--", "-->", "</body>",
    "</html >", "<script><!-- <script> </script>", "--></script>", "<title>a</title>", "<p", "'",
]
# fmt: on
_FRONTS = ["", "", "<title>a</title>", "<html><head>", "<html><head><title>a</title></head><body>"]


def soup(rng: random.Random) -> bytes:
    """A page of up to 80 tags, of a few kinds, with what may stand in and between them."""
    parts, tags = [rng.choice(_FRONTS)], rng.sample(TAGS, rng.randint(2, len(TAGS)))
    for _ in range(rng.randrange(80)):
        tag = rng.choice(tags)
        attributes = "".join(f" {each}" for each in rng.sample(ATTRIBUTES, rng.randrange(4)))
        closes = rng.choice([">", ">", ">", ">", "/>", " />", ""])
        end = rng.choice([f"</{tag}>", f"</{rng.choice(tags)}>", "", ""])
        parts += [f"<{tag}{attributes}{closes}", *rng.choices(BETWEEN, k=rng.randrange(3)), end]
    return "".join(parts).encode()
