"""The picture of the report in the docs, made of the demo site's crawl.

python -m tests.review.picture docs
"""

from __future__ import annotations

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


def main(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        keep_text = ("-s", "SIMHASH_KEEP_TEXT=True")
        scrapy("crawl", "site", "-a", f"port={PORT}", *keep_text, directory=directory)
        scrapy("simhash", "report", directory=directory)
        with chromium(WIDTH, HEIGHT) as browser:
            open_file(browser, Path(directory) / "report.html")
            Select(browser.find_element(By.ID, "order")).select_by_value("nearest")
            browser.save_screenshot(str(folder / "report.png"))
    print(folder / "report.png")


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
