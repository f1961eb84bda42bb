"""The drawings of the README and the docs, made of what the project answers: `make picture`.

python -m tests.pictures docs
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Literal, NamedTuple

from crawler.demo_site.pages import read_newsroom
from crawler.demo_site.variants import Variant
from simhash_pipeline import Fingerprinter, Judge, PageFingerprint, Verdict
from simhash_pipeline.review.comparison import Piece, text_diff
from tests.documents import ROOT

HOST = "https://harbour.example"
FONTS = (
    "-apple-system,'Segoe UI',Helvetica,Arial,'Noto Sans CJK SC','WenQuanYi Micro Hei',sans-serif"
)
MONO = "ui-monospace,Consolas,'DejaVu Sans Mono','WenQuanYi Micro Hei Mono',monospace"
COLOURS = {  # name: light, dark
    "ground": ("#ffffff", "#0d1117"),
    "card": ("#f6f8fa", "#161b22"),
    "line": ("#d0d7de", "#3d444d"),
    "ink": ("#1f2328", "#f0f6fc"),
    "grey": ("#59636e", "#9198a1"),
    "good": ("#1a7f37", "#3fb950"),
    "bad": ("#cf222e", "#f85149"),
}
Kind = Literal["same", "removed", "added"]


class Copy(NamedTuple):
    """One address of an article, and what is said of it in a language."""

    label: str
    variant: Variant | None  # None: the article itself


class Language(NamedTuple):
    """What the drawings say in one language."""

    folder: str
    source: str
    reprint: str  # whose bits are drawn beside the article's
    title: str  # of the reprint
    words: dict[str, str]


ENGLISH = Language(
    "",
    "/en/port/ferry-corrie",
    "/en/wire/rope-museum",
    "Old ferry goes to the breakers at sixty-two",
    {
        "article": "The article",
        "tracking": "With a tracking link",
        "print": "Print view",
        "mobile": "Mobile page",
        "wire": "Another newspaper's copy",
        "kept": "kept",
        "dropped": "dropped",
        "bits": "{} bits differ",
        "alt copies": "Five addresses of one article: one page is kept, four are dropped",
        "legend": "What the other newspaper changed",
        "in left": "crawled: 5 pages",
        "in right": "in your feed: 1 item",
        "journey": "From page to verdict",
        "page": "Page|HTML of an item|or a response",
        "texts": "Main text, template|menus, adverts and|link lists left out",
        "numbers": "64 bits each|similar texts differ|in few bits",
        "near": "Within 3 bits|stored pages that|are candidates",
        "look": "Second look|words, titles, values,|page-specific text",
        "verdict": "Kept or dropped|and the reason|in the log",
        "a": "article",
        "b": "reprint",
        "equal": "equal: found here",
        "differs": "{} bits differ",
        "alt bits": "Fingerprints of an article and its reprint, 64 bits in four blocks",
    },
)
CHINESE = Language(
    "zh",
    "/zh/chengshi/typhoon-night",
    "/zh/wire/typhoon-night",
    "",
    {
        "article": "文章",
        "tracking": "带跟踪参数的 URL",
        "print": "打印版",
        "mobile": "手机版",
        "wire": "另一家报纸的转载",
        "kept": "保留",
        "dropped": "丢弃",
        "bits": "{} 比特",
        "alt copies": "同一篇文章的五个 URL：保留一个，丢弃四个",
        "legend": "转载时增加的文字（已丢弃）",
        "in left": "爬取：5 个页面",
        "in right": "输出：1 个 item",
        "journey": "从页面到结果",
        "page": "页面|item 或响应中的|HTML",
        "texts": "正文、模板|去掉菜单、广告|和链接列表",
        "numbers": "各 64 比特|文字越相似|相差越少",
        "near": "相差不超过 3|已存储的页面|成为候选",
        "look": "二次比较|词、标题、取值、|页面特有文字",
        "verdict": "保留或丢弃|原因写入日志",
        "a": "文章",
        "b": "转载",
        "equal": "相同：由此找到",
        "differs": "相差 {} 比特",
        "alt bits": "一篇文章与其转载的指纹：64 比特，分为四段",
    },
)


def main(folder: Path) -> None:
    for language in (ENGLISH, CHINESE):
        to = folder / language.folder
        pages = _pages(language)
        made = {"copies": copies(language, pages), "journey": journey(language)}
        made["bits"] = bits(language)
        for name, svg in made.items():
            (to / f"{name}.svg").write_text(svg, encoding="utf-8")
    (folder / "crawl.svg").write_text(terminal(_crawl_output()), encoding="utf-8")


# What the project says of the pages


def _pages(language: Language) -> list[tuple[str, str, PageFingerprint, Verdict]]:
    """Label, address, fingerprints and verdict of the five pages, judged in this order."""
    newsroom, source = read_newsroom(), language.source
    article = next(each for each in newsroom.articles if each.path == source)
    wire = source.replace(source.split("/")[2], "wire")
    variants = {
        "tracking": Variant(f"{source}?utm_id=7", source, "tracking"),
        "print": Variant(f"/print{source}", source, "print-view", frame="print"),
        "mobile": Variant(f"/m{source}", source, "changed-nav", frame="mobile"),
        "wire": Variant(wire, source, "syndicated", frame="wire", title=language.title),
    }
    served = [("article", source, newsroom.story_page(article))]
    served += [(name, each.path, newsroom.variant_page(each)) for name, each in variants.items()]
    reader, found = Fingerprinter(), []
    with Judge() as judge:
        for name, path, page in served:
            read = reader.fingerprint(page.body, HOST + path)
            verdict = judge.judge(HOST + path, page.body)
            if verdict.dropped is (name == "article"):
                raise SystemExit(f"{path}: {verdict}")
            found.append((language.words[name], path, read, verdict))
    return found


def _crawl_output() -> list[str]:
    with tempfile.TemporaryDirectory() as directory:
        shutil.copy(ROOT / "scrapy.cfg", directory)
        command = [sys.executable, "-m", "scrapy", "crawl", "site", "-s", "LOG_LEVEL=ERROR"]
        command += ["-s", "CONCURRENT_REQUESTS=1"]  # drops come in one order
        environment = {"SCRAPY_SETTINGS_MODULE": "crawler.settings", "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            command, cwd=directory, env=environment, capture_output=True, text=True, check=True
        )
        output = done.stdout.replace(f"{Path(directory).resolve()}/", "").replace("////", "///")
    return output.rstrip().splitlines()


# Drawings


def copies(language: Language, pages: Sequence[tuple[str, str, PageFingerprint, Verdict]]) -> str:
    words, row = language.words, 76
    drawn = [_text(20, 32, words["in left"], "grey"), _text(400, 32, words["in right"], "grey")]
    for place, (label, path, _, verdict) in enumerate(pages):
        y, kept = 48 + place * row, not verdict.dropped
        colour = "good" if kept else "bad"
        drawn.append(_box(16, y, 330, row - 10, "good" if kept else "line"))
        drawn.append(_text(32, y + 28, label, "ink", weight=600))
        drawn.append(_text(32, y + 50, path, "grey", size=12, font="mono"))
        state = words["kept"] if kept else words["dropped"]
        drawn.append(_text(334, y + 28, state, colour, anchor="end", weight=600, size=13))
        if not kept:
            differ = words["bits"].format(verdict.content_distance)
            drawn.append(_text(334, y + 50, differ, "grey", anchor="end", size=12))
    drawn.append(_arrow(350, 81, 390, 81))
    article, copied = pages[0][2], pages[-1][2]
    title, copied_title = (each.title.rpartition(" | ")[0] for each in (article, copied))
    shown = " ".join(article.text.split("\n")[:2])
    shown = shown[: 1 + max(shown.rfind(". ", 0, 170), shown.rfind("。", 0, 130))]
    (change,) = text_diff(article.text, copied.text)
    new_title = [Piece("added", copied_title)] if copied_title != title else []
    passage, end = _passage(48, [Piece("same", title)], [Piece("same", f"{shown} …")], "good")
    changed, _ = _passage(end + 48, new_title, change, "line")
    drawn += [*passage, _text(400, end + 32, words["legend"], "grey"), *changed]
    return _svg(720, 48 + 5 * row + 4, words["alt copies"], drawn)


def _passage(
    top: int, title: Sequence[Piece], text: Sequence[Piece], colour: str
) -> tuple[list[str], int]:
    """A box with a title and what is below it, and where the box ends."""
    drawn, y = [], top + 8
    for line in _wrapped(title, 276, 17) if title else ():
        y += 22
        drawn.append(_text(412, y, line, "ink", size=16, weight=600))
    for line in _wrapped(text, 276, 14):
        y += 20
        drawn.append(_text(412, y + 2, line, "ink"))
    end = y + 18
    return [_box(396, top, 308, end - top, colour), *drawn], end


def journey(language: Language) -> str:
    words, steps = language.words, ("page", "texts", "numbers", "near", "look", "verdict")
    drawn = []
    for place, name in enumerate(steps):
        x, y = 16 + place % 3 * 216, 16 + place // 3 * 122
        head, *notes = words[name].split("|")
        drawn.append(_box(x, y, 176, 92, "good" if name == "verdict" else "line"))
        drawn.append(_text(x + 88, y + 30, head, "ink", anchor="middle", weight=600, size=15))
        for line, note in enumerate(notes):
            drawn.append(_text(x + 88, y + 54 + 20 * line, note, "grey", anchor="middle"))
        if place % 3 < 2:
            drawn.append(_arrow(x + 180, y + 46, x + 212, y + 46))
    drawn.append(_path("M 536 112 V 123 H 104 V 134"))
    return _svg(640, 250, words["journey"], drawn)


def bits(language: Language) -> str:
    words, reader = language.words, Fingerprinter()
    newsroom = read_newsroom()
    variant = next(each for each in newsroom.variants if each.path == language.reprint)
    article = next(each for each in newsroom.articles if each.path == variant.source)
    pages = (newsroom.story_page(article), newsroom.variant_page(variant))
    numbers = [reader.fingerprint(page.body, HOST).content or 0 for page in pages]
    differ, drawn = numbers[0] ^ numbers[1], []
    for row, (name, number) in enumerate(zip(("a", "b"), numbers, strict=True)):
        y = 42 + row * 30
        drawn.append(_text(12, y + 11, words[name], "ink", size=13))
        for place in range(64):
            x, bit = 68 + place * 9.5 + place // 16 * 12, 63 - place
            colour = "bad" if differ >> bit & 1 else "grey"
            fill = colour if number >> bit & 1 else "ground"
            drawn.append(
                f'<rect class="s-{colour} f-{fill}" x="{x}" y="{y}" width="8" height="14"/>'
            )
    for block in range(4):
        x, equal = 68 + block * 164, not differ >> (48 - 16 * block) & 0xFFFF
        drawn.append(_text(x, 30, f"{63 - 16 * block} – {48 - 16 * block}", "grey", size=12))
        if equal:
            drawn.append(f'<path class="s-good" d="M {x} 96 v 6 h 151 v -6"/>')
            drawn.append(_text(x + 75, 120, words["equal"], "good", anchor="middle", size=13))
        else:
            count = words["differs"].format((differ >> (48 - 16 * block) & 0xFFFF).bit_count())
            count = count.replace("1 bits differ", "1 bit differs")
            drawn.append(_text(x + 75, 120, count, "bad", anchor="middle", size=13))
    return _svg(724, 136, words["alt bits"], drawn)


def terminal(lines: Sequence[str]) -> str:
    """All output; then the command is typed, and its output comes line by line, again and again."""
    height, shown, first, step = 17, 30.0, 42.0, 1.2  # of a line; percent of the time
    frames, drawn = [], []
    for place, line in enumerate(["$ make crawl", *lines]):
        if not line:
            continue
        begin = first + place * step
        frames.append(
            f"@keyframes l{place}{{{shown}%,{begin:.1f}%{{opacity:0}}"
            f"{begin + 0.1:.1f}%{{opacity:1}}}}"
        )
        if place == 0:
            frames[-1] = (
                f"@keyframes l0{{0%{{clip-path:inset(0)}}{shown}%{{clip-path:inset(0 100% 0 0)}}"
                f"{first - 3}%{{clip-path:inset(0)}}}}"
            )
        typed = ";animation-timing-function:steps(12)" if place == 0 else ""
        faint = line.lstrip().startswith("≈")
        kind = "t-faint" if faint else "t-head" if not line.startswith(" ") else "t-line"
        drawn.append(
            f'<text class="{kind}" style="animation-name:l{place}{typed}" x="16" '
            f'y="{54 + place * height}">{escape(line)}</text>'
        )
    total, width = 60 + (len(lines) + 1) * height, 32 + 8 * max(map(len, lines))
    style = (
        f"text{{font:13px {MONO};white-space:pre;fill:#e6edf3;"
        "animation-duration:20s;animation-iteration-count:infinite;animation-timing-function:step-end}"
        ".t-head{font-weight:600}.t-faint{fill:#9198a1}"
        f"@media (prefers-reduced-motion:reduce){{text{{animation:none}}}}{''.join(frames)}"
    )
    dots = "".join(
        f'<circle cx="{22 + 20 * at}" cy="20" r="6" fill="{colour}"/>'
        for at, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {total}" width="{width}" '
        f'role="img"><title>make crawl</title><style>{style}</style>'
        f'<rect width="{width}" height="{total}" rx="10" fill="#0d1117"/>{dots}\n'
        + "\n".join(drawn)
        + "\n</svg>\n"
    )


# Marks on the ground


def _svg(width: int, height: int, title: str, drawn: Iterable[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'role="img"><title>{escape(title)}</title><style>{_style()}</style>'
        f'<rect class="f-ground" width="{width}" height="{height}" rx="8"/>\n'
        + "\n".join(drawn)
        + "\n</svg>\n"
    )


def _style() -> str:
    def rules(which: int) -> str:
        return "".join(
            f".f-{name}{{fill:{pair[which]}}}.s-{name}{{stroke:{pair[which]}}}"
            for name, pair in COLOURS.items()
        )

    return (
        f"text{{font:14px {FONTS};stroke:none;white-space:pre}}.mono{{font-family:{MONO}}}"
        "path{fill:none;stroke-width:2}"
        ".removed{text-decoration:line-through}.added{font-weight:600;text-decoration:underline}"
        f"{rules(0)}@media (prefers-color-scheme:dark){{{rules(1)}}}"
    )


def _box(x: float, y: float, width: float, height: float, colour: str) -> str:
    size = f'width="{width}" height="{height}" rx="6"'
    return f'<rect class="f-card s-{colour}" x="{x}" y="{y}" {size}/>'


def _arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    return _path(f"M {x} {y} L {to_x} {to_y} m -8 -6 l 8 6 l -8 6")


def _path(path: str) -> str:
    return f'<path class="s-grey" d="{path}"/>'


def _text(
    x: float,
    y: float,
    text: str | Sequence[Piece],
    colour: str,
    *,
    size: int = 14,
    weight: int = 400,
    anchor: str = "start",
    font: str = "",
) -> str:
    runs = [Piece("same", text)] if isinstance(text, str) else text
    inner = "".join(_run(run) for run in runs)
    return (
        f'<text class="f-{colour} {font}" x="{x}" y="{y}" text-anchor="{anchor}" '
        f'style="font-size:{size}px;font-weight:{weight}">{inner}</text>'
    )


def _run(piece: Piece) -> str:
    if piece.kind == "same":
        return escape(piece.text)
    colour = "good" if piece.kind == "added" else "bad"
    return f'<tspan class="{piece.kind} f-{colour}">{escape(piece.text)}</tspan>'


def _wrapped(pieces: Iterable[Piece], width: float, size: int) -> Iterator[list[Piece]]:
    """Lines of at most `width`, of words and of Chinese characters, each with its kind."""
    line: list[Piece] = []
    used = 0.0
    for piece in pieces:
        for word in re.findall(r"[\u2e80-\uffef]|[^\s\u2e80-\uffef]+", piece.text):
            spaced = bool(line) and not (
                "\u2e80" <= word <= "\uffef" or line[-1].text[-1] >= "\u2e80"
            )
            wide = 0.57 if piece.kind == "same" else 0.64  # bold
            needed = (
                size * sum(1 if each >= "\u2e80" else wide for each in word) + spaced * size / 3
            )
            if line and used + needed > width and word not in "，。、；：”？！":
                yield line
                line, used, spaced = [], 0.0, False
            if line and line[-1].kind == piece.kind:
                line[-1] = Piece(piece.kind, f"{line[-1].text}{' ' if spaced else ''}{word}")
            else:
                if spaced:
                    line[-1] = Piece(line[-1].kind, f"{line[-1].text} ")
                line.append(Piece(piece.kind, word))
            used += needed
    yield line


if __name__ == "__main__":
    main(Path(sys.argv[1]))
