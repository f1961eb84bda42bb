"""The navigation of a site, from the lists of links of its index, which a code host shows too."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

TREE = "\n```{{toctree}}\n:hidden:\n:caption: {}\n\n{}\n```\n"
# Pages that are files of the repository's root.
ROOT_FILES = {"contributing": "CONTRIBUTING.md", "explanation/security": "SECURITY.md"}
# To a page of the other language, which is another site: its folder, its page, what follows "#".
ELSEWHERE = re.compile(r"\[([^\]]*)\]\(((?:\.\./|zh/)[\w/-]*)\.md(#[^)]*)?\)")


def setup(app: Sphinx) -> None:
    app.connect("source-read", _read)


def _read(app: Sphinx, name: str, source: list[str]) -> None:
    is_chinese = app.srcdir.name == "zh"
    if not is_chinese and name in ROOT_FILES:
        text = (app.srcdir.parent / ROOT_FILES[name]).read_text(encoding="utf-8")
        source[0] = text.replace("](docs/", "](" + "../" * name.count("/"))
    if is_chinese or name == "index":
        source[0] = ELSEWHERE.sub(r'<a href="\2.html\3">\1</a>', source[0])
    if name == "index":
        for caption, links in re.findall(r"^## (.*)\n\n((?:- .*\n)+)", source[0], re.MULTILINE):
            pages = "\n".join(re.findall(r"^- \[.*?\]\((.*?)\.md\)", links, re.MULTILINE))
            source[0] += TREE.format(caption, pages)
