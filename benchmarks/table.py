"""A table that reads well as it stands and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence


def markdown(header: str, rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, padded so that it reads well as it stands.

    `header` names the columns between commas; those marked with > are set to the right.
    """
    names = [name.strip() for name in header.split(",")]
    right = [name.endswith(">") for name in names]
    lines = [[name.rstrip(">") for name in names], *rows]
    widths = [max(3, *map(len, column)) for column in zip(*lines, strict=True)]
    rule = [
        "-" * (width - is_right) + ":" * is_right
        for width, is_right in zip(widths, right, strict=True)
    ]
    lines.insert(1, rule)
    return "\n".join(f"| {' | '.join(map(_padded, line, widths, right))} |" for line in lines)


def _padded(cell: str, width: int, right: bool) -> str:
    return cell.rjust(width) if right else cell.ljust(width)
