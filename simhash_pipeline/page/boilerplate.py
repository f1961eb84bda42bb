"""An element tree in, the page's main text out."""

from __future__ import annotations
import re
from itertools import accumulate

INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q rp rt ruby s samp small span strike strong sub sup time tt u var wbr img input math mi mo mn mrow".split()
)
SKIP = frozenset(
    "head script style noscript template svg iframe object select option textarea datalist audio video canvas map embed title".split()
)
PLAIN = frozenset(
    "p h1 h2 h3 h4 h5 h6 pre li dt dd td th tr tbody thead blockquote hr figcaption address summary caption".split()
)
LONG = 100
MEDIUM = 25
SHARE = 0.65
MAX_LINK = 0.5
STRAY = 1.0
LINKPEN = 1.0
PUNCT = re.compile(r"[.!?。！？…][\"'”’」』）)]*(?:\s|$)|[,，、；。！？：]")
HINT = re.compile(
    r"(?P<comment>comment|disqus|respond|replies|pinglun|liuyan)|(?P<consent>cookie|consent|gdpr|privacy)|(?P<menu>(?<![a-z])(?:nav|menu|menus|sidebar|breadcrumbs?|footer|foot|aside|related|share|sharing|social|widget|promo|recommend\w*|popular|newsletter|subscribe|subscription|advert\w*|ads?|sponsor\w*|banner|toolbar|pagination|pager|tags?|copyright|modal|popup|overlay|login|signup|toc|byline|author|meta)(?![a-z]))|(?P<head>(?<![a-z])(?:header|head|masthead)(?![a-z]))",
    re.I,
)
LIMIT = {"comment": 0.5, "consent": 0.8, "menu": 0.35, "head": 0.1, "form": 0.1}
TAGHINT = {
    "nav": "menu",
    "aside": "menu",
    "footer": "menu",
    "header": "head",
    "dialog": "consent",
    "form": "form",
}


class Page:
    __slots__ = ("texts", "sizes", "shares", "tags", "start", "end", "parent", "ctag", "hint")

    def __init__(s):
        s.texts = []
        s.sizes = []
        s.shares = []
        s.tags = []
        s.start = []
        s.end = []
        s.parent = []
        s.ctag = []
        s.hint = []


def read(body):
    P = Page()
    texts = P.texts
    parts = []
    linked = 0
    links = 0
    skip = 0
    cur = -1
    btag = "div"
    hints = {}

    def cut():
        nonlocal linked, parts
        t = "".join(parts)
        parts = []
        t = " ".join(t.split())
        if t:
            texts.append(t)
            P.sizes.append(len(t) if t.isascii() else len(t.encode("utf-8", "replace")))
            P.shares.append(min(1.0, linked / len(t)))
            P.tags.append(btag)
        linked = 0

    stack = [(body.getparent(), 0)]

    def leave():
        nonlocal links, skip, cur, linked, btag
        e, k = stack.pop()
        if k == 1:
            links -= 1
        elif k == 2:
            skip -= 1
        elif k > 2:
            if parts:
                cut()
            btag = "div"
            if k == 4:
                P.end[cur] = len(texts)
                cur = P.parent[cur]
        t = e.tail
        if t and not skip:
            parts.append(t)
            if links:
                linked += len(t.strip())

    for e in body.iter():
        p = e.getparent()
        while stack[-1][0] is not p:
            leave()
        tag = e.tag
        if skip:
            stack.append((e, 0))
            continue
        if tag in INLINE:
            k = 0
            if tag == "a":
                links += 1
                k = 1
        elif tag == "br":
            parts.append(" ")
            k = 0
        elif tag == "button":
            links += 1
            k = 1
        elif tag in SKIP or not isinstance(tag, str):
            skip += 1
            k = 2
            stack.append((e, k))
            continue
        else:
            if parts:
                cut()
            btag = tag
            if tag in PLAIN:
                k = 3
            else:
                k = 4
                st = e.get("style")
                if e.get("hidden") is not None or (
                    st and "none" in st and re.search(r"display\s*:\s*none", st)
                ):
                    skip += 1
                    stack.append((e, 2))
                    continue
                c = e.get("class")
                i = e.get("id")
                h = TAGHINT.get(tag)
                if h is None and (c or i):
                    key = (c or "") + " " + (i or "")
                    if key in hints:
                        h = hints[key]
                    else:
                        m = HINT.search(key)
                        h = hints[key] = m.lastgroup if m else None
                P.start.append(len(texts))
                P.end.append(0)
                P.parent.append(cur)
                P.ctag.append(tag)
                P.hint.append(h)
                cur = len(P.start) - 1
        stack.append((e, k))
        t = e.text
        if t:
            parts.append(t)
            if links:
                linked += len(t.strip())
    while len(stack) > 1:
        leave()
    if parts:
        cut()
    return P


def main_text(root):
    body = root.find("body")
    if body is None:
        body = root
    P = read(body)
    n = len(P.texts)
    if not n:
        return ""
    good = [0.0] * n
    net = [0.0] * n
    drop = [False] * n
    for i, (t, s, l, g) in enumerate(zip(P.texts, P.sizes, P.shares, P.tags)):
        if l > MAX_LINK:
            net[i] = -LINKPEN * s * l
        elif s >= LONG or (s >= MEDIUM and PUNCT.search(t)):
            good[i] = net[i] = s * (1 - l)
        else:
            net[i] = -STRAY * s if g[0] != "h" else 0.0
    G = [0.0, *accumulate(good)]
    total = G[-1]
    if total < 300:
        return fallback(P)
    limit = 0
    for a, b, h in zip(P.start, P.end, P.hint):
        if h and b > limit and G[b] - G[a] <= LIMIT[h] * total:
            for i in range(max(a, limit), b):
                drop[i] = True
                good[i] = net[i] = 0.0
            limit = b
    G = [0.0, *accumulate(good)]
    N = [0.0, *accumulate(net)]
    best = max(range(len(P.start)), key=lambda c: (N[P.end[c]] - N[P.start[c]], c))
    kids = {}
    for c, p in enumerate(P.parent):
        kids.setdefault(p, []).append(c)
    while True:
        tot = G[P.end[best]] - G[P.start[best]]
        for k in kids.get(best, ()):
            if G[P.end[k]] - G[P.start[k]] >= SHARE * tot:
                best = k
                break
        else:
            break
    a, b = P.start[best], P.end[best]
    keep = []
    for i in range(a, b):
        if drop[i]:
            continue
        if good[i]:
            keep.append(i)
        elif P.shares[i] <= MAX_LINK and P.tags[i][0] == "h" and P.tags[i] != "h1":
            keep.append(i)
    return "\n".join(P.texts[i] for i in keep) or fallback(P)


def fallback(P):
    drop = [False] * len(P.texts)
    for a, b, h in zip(P.start, P.end, P.ctag):
        if h in ("nav", "footer", "aside"):
            for i in range(a, b):
                drop[i] = True
    return "\n".join(t for t, d in zip(P.texts, drop) if not d) or "\n".join(P.texts)


def title(root):
    """The page's title."""
    for element in root.iter("title"):
        if words := " ".join("".join(element.itertext()).split()):
            return words
    for element in root.iter("meta"):
        if element.get("property") == "og:title" and (
            words := " ".join((element.get("content") or "").split())
        ):
            return words
    for element in root.iter("h1"):
        if words := " ".join("".join(element.itertext()).split()):
            return words
    return ""
