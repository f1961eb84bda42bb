"""The pictures of the report in the docs, made of the demo site's crawl.

python -m tests.review.picture docs
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.review.browser import chromium, open_file

ROOT = Path(__file__).parent.parent.parent
PORT = 8643  # beside a demo site that someone may have running
WIDTH, HEIGHT = 1000, 1700
# The reader's language, what the addresses of the pages shown have, and the file. The second needs
# a font with Chinese characters, as Debian's package fonts-wqy-microhei.
PICTURES = [("en", "", "report.png"), ("zh-CN", "/zh/", "zh/report.png")]


def main(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        keep_text = ("-s", "SIMHASH_KEEP_TEXT=True")
        scrapy("crawl", "site", "-a", f"port={PORT}", *keep_text, directory=directory)
        scrapy("simhash", "report", directory=directory)
        for language, pages, picture in PICTURES:
            with chromium(WIDTH, HEIGHT, language=language) as browser:
                open_file(
                    browser, Path(directory) / "report.html", f"#order=nearest&search={pages}"
                )
                browser.save_screenshot(str(folder / picture))
            print(folder / picture)


def scrapy(*arguments: str, directory: str) -> None:
    environment = {
        **os.environ,
        "SCRAPY_SETTINGS_MODULE": "crawler.settings",
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-m", "scrapy", *arguments, "-s", "LOG_LEVEL=ERROR"]
    subprocess.run(command, cwd=directory, env=environment, stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
