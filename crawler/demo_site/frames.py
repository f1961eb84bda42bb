"""The pages' frames: templates filled with a story, its links and the words around it."""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template

from crawler.demo_site.article import Article
from crawler.demo_site.labels import Labels, labels_for

TEMPLATES_DIR = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class Frames:
    """Every template, read once."""

    templates: dict[str, Template]

    @classmethod
    def read(cls) -> "Frames":
        """The templates of the demo site's directory."""
        files = TEMPLATES_DIR.glob("*.html")
        return cls({path.stem: Template(path.read_text(encoding="utf-8")) for path in files})

    def fill(
        self,
        frame: str,
        lang: str,
        title: str,
        content: str,
        rail: str = "",
        meta_charset: str | None = "utf-8",
    ) -> str:
        """A whole page. `content` and `rail` are HTML, `title` is text."""
        labels = labels_for(lang)
        return self.templates[frame].substitute(
            lang=lang,
            meta=f'<meta charset="{meta_charset}">\n' if meta_charset else "",
            title=escape(title),
            content=content,
            rail=rail,
            home=labels.home,
            brand=labels.brand,
            tagline=labels.tagline,
            weather=labels.weather,
            nav="".join(f'<li><a href="{path}">{name}</a></li>' for path, name in labels.nav),
            mobile_nav="".join(f"<li>{name}</li>" for name in labels.mobile_nav),
            wire_nav="".join(f"<li>{name}</li>" for name in labels.wire_nav),
            wire_brand=labels.wire_brand,
            wire_note=labels.wire_note,
            ad_title=escape(labels.ads[-1][0]),
            ad_text=escape(labels.ads[-1][1]),
            footer_one=labels.footer[0],
            footer_two=labels.footer[1],
            archive=labels.nav[-1][1],
            cookie=escape(labels.cookie),
            accept=labels.accept,
        )


def link_html(path: str, text: str) -> str:
    """An anchor; both arguments are escaped."""
    return f'<a href="{escape(path)}">{escape(text)}</a>'


def links_html(links: Iterable[tuple[str, str]], tag: str = "ul") -> str:
    """A list of anchors from (path, text)."""
    items = "".join(f"<li>{link_html(path, text)}</li>" for path, text in links)
    return f"<{tag}>{items}</{tag}>"


def ad_html(labels: Labels, number: int) -> str:
    """One advertisement; numbers beyond the last start again."""
    name, text = labels.ads[number % len(labels.ads)]
    return (
        f'<aside class="advert"><small>{labels.ad}</small>'
        f"<b>{escape(name)}</b> {escape(text)}</aside>"
    )


def newsletter_html(labels: Labels, link: str = "") -> str:
    """The newsletter box; `link` is HTML for today's letter."""
    heading, text, button = labels.newsletter
    return (
        f'<section class="newsletter"><h2>{heading}</h2><p>{escape(text)}</p>{link}'
        f'<p class="field"><span>e-mail</span><b>{button}</b></p></section>'
    )


def teaser_html(article: Article, picture: str = "", level: int = 3, paragraphs: int = 0) -> str:
    """A linked headline with its lead, and as many of its first paragraphs, for fronts."""
    more = "".join(f"<p>{escape(block.lines[0])}</p>" for block in article.blocks[:paragraphs])
    return (
        f'<article class="teaser">{picture}<h{level}>{link_html(article.path, article.title)}'
        f"</h{level}><p>{escape(article.lead)}</p>{more}</article>"
    )
