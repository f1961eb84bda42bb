"""The documents for users: the README and the pages of docs."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PATHS = [ROOT / "README.md", ROOT / "README.zh-CN.md", *sorted(DOCS.rglob("*.md"))]
TEXT = "\n".join(path.read_text(encoding="utf-8") for path in PATHS)
