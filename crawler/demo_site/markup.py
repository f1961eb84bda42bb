"""Article blocks as HTML."""

from html import escape

from crawler.demo_site.article import Article, Block


def story_html(article: Article, promo: str = "", update: str = "") -> str:
    """Lead and paragraphs; `promo` is HTML after the second block, `update` a last paragraph."""
    blocks = [_block_html(block) for block in article.blocks if block.kind != "comments"]
    if promo:
        blocks.insert(2, promo)
    lead = [f'<p class="lead">{escape(article.lead)}</p>'] if article.lead else []
    last = [f'<p class="update">{escape(update)}</p>'] if update else []
    return "\n".join([*lead, *blocks, *last])


def story_text(article: Article) -> str:
    """The same words as story_html, without markup: one line per paragraph."""
    lines = [line for block in article.blocks if block.kind != "comments" for line in block.lines]
    return "\n".join([article.lead, *lines] if article.lead else lines)


def comments_html(article: Article, heading: str) -> str:
    """The readers' comments as a section; empty when there are none."""
    comments = [
        line for block in article.blocks if block.kind == "comments" for line in block.lines
    ]
    if not comments:
        return ""
    items = "".join(f"<li><b>{_before(line)}</b> {_after(line)}</li>" for line in comments)
    return f'<section class="comments" id="comments"><h2>{heading}</h2><ul>{items}</ul></section>'


def facts_html(article: Article) -> str:
    """The labelled facts of a stop or a product; empty when there are none."""
    if not article.facts:
        return ""
    rows = (f"<dt>{escape(label)}</dt><dd>{escape(fact)}</dd>" for label, fact in article.facts)
    return f'<dl class="facts">{"".join(rows)}</dl>'


def posts_html(article: Article) -> str:
    """A forum thread: one article element for each post."""
    posts = (_post_html(number, block) for number, block in enumerate(article.blocks, start=1))
    return "\n".join(posts)


def date_html(article: Article) -> str:
    """The date as a time element."""
    return f'<time datetime="{article.date}">{article.date}</time>'


def _post_html(number: int, block: Block) -> str:
    author, *text = block.lines
    return (
        f'<article class="post" id="post{number}"><header><b>{_before(author)}</b>'
        f" <small>{_after(author)}</small></header><p>{escape(' '.join(text))}</p></article>"
    )


def _block_html(block: Block) -> str:
    lines = [escape(line) for line in block.lines]
    match block.kind:
        case "heading":
            return f"<h2>{lines[0]}</h2>"
        case "list":
            return f"<ul>{''.join(f'<li>{line}</li>' for line in lines)}</ul>"
        case "verse":
            return f'<p class="verse">{"<br>".join(lines)}</p>'
        case "table":
            return _table_html(lines)
        case _:
            return f"<p>{' '.join(lines)}</p>"


def _table_html(lines: list[str]) -> str:
    head, *rows = ([cell.strip() for cell in line.split("|")] for line in lines)
    body = "".join(_row_html(row, "td") for row in rows)
    return (
        f'<div class="wide"><table><thead>{_row_html(head, "th")}</thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _row_html(cells: list[str], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in cells)}</tr>"


def _before(line: str) -> str:
    return escape(line.partition(" | ")[0])


def _after(line: str) -> str:
    return escape(line.partition(" | ")[2])
