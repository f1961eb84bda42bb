"""The pictures of the README, made of the demo site's crawl.

python -m tests.review.pictures docs
"""

from __future__ import annotations

import html
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from tests.review.browser import chromium, open_file

ROOT = Path(__file__).parent.parent.parent
PORT = 8643  # beside a demo site that someone may have running
WIDTH, HEIGHT = 1000, 1700
EXPLAINED = f"http://127.0.0.1:{PORT}/zh/gangkou/pilot-interview/updated"
# A cell is half an em wide: so that a Chinese character takes two, as in a terminal.
TERMINAL = """<meta charset="utf-8"><style>
    pre {{ width: fit-content; margin: 0; padding: 20px; background: #16181d; color: #dfe3ea;
        font: 15px/1.35 "Noto Sans Mono CJK SC", "WenQuanYi Zen Hei Mono", monospace; }}
</style><pre>{text}</pre>"""


def main(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        keep_text = ("-s", "SIMHASH_KEEP_TEXT=True")
        scrapy("crawl", "site", "-a", f"port={PORT}", *keep_text, directory=directory)
        scrapy("simhash", "report", directory=directory)
        explained = scrapy("simhash", "explain", EXPLAINED, "--limit", "4", directory=directory)
        terminal = Path(directory) / "terminal.html"
        terminal.write_text(TERMINAL.format(text=html.escape(explained)), encoding="utf-8")
        with chromium(WIDTH, HEIGHT) as browser:
            open_file(browser, Path(directory) / "report.html")
            Select(browser.find_element(By.ID, "order")).select_by_value("nearest")
            browser.save_screenshot(str(folder / "report.png"))
            open_file(browser, terminal)
            shown = browser.find_element(By.TAG_NAME, "pre")
            shown.screenshot(str(folder / "explain.png"))
    print(folder / "report.png", folder / "explain.png")


def scrapy(*arguments: str, directory: str) -> str:
    """What it prints."""
    environment = {
        **os.environ,
        "SCRAPY_SETTINGS_MODULE": "crawler.settings",
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "100",
    }
    result = subprocess.run(
        [sys.executable, "-m", "scrapy", *arguments, "-s", "LOG_LEVEL=ERROR"],
        cwd=directory,
        env=environment,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    return result.stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]))
