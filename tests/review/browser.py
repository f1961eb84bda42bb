"""A headless Chromium; a test that needs one is skipped aloud where there is none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

from tests.skipping import skip_aloud

_MISSING = (
    "no Chromium with its driver here; to get them: apt-get install chromium chromium-driver, "
    "or name them in CHROMIUM and CHROMEDRIVER"
)


@contextmanager
def chromium(width: int = 1200, height: int = 900, *, language: str = "en") -> Iterator[Chrome]:
    """The browser, closed at the end; under CI its absence is a failure."""
    binary = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    driver = os.environ.get("CHROMEDRIVER") or shutil.which("chromedriver")
    if binary is None or driver is None:
        skip_aloud(_MISSING)
    options = ChromeOptions()
    options.binary_location = binary
    # No sandbox: Chromium has none for root, as whom containers run.
    for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "hide-scrollbars"):
        options.add_argument(f"--{argument}")
    for unused in ("gpu", "extensions", "background-networking", "component-update", "sync"):
        options.add_argument(f"--disable-{unused}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = Chrome(options=options, service=Service(executable_path=driver))
    try:
        resize(browser, width, height)
        prefer(browser, "light")
        speak(browser, language)
        yield browser
    finally:
        browser.quit()


def prefer(browser: Chrome, scheme: str) -> None:
    """What the system is set to, "light" or "dark"."""
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


def speak(browser: Chrome, languages: str) -> None:
    """Let the browser ask for these languages from the next page on, as "zh-CN,en"."""
    agent = browser.execute_cdp_cmd("Browser.getVersion", {})["userAgent"]
    command = {"userAgent": agent, "acceptLanguage": languages}
    browser.execute_cdp_cmd("Emulation.setUserAgentOverride", command)


def resize(browser: Chrome, width: int, height: int) -> None:
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def complaints(browser: Chrome) -> list[str]:
    """What the browser's console has said since it was last asked."""
    return [
        entry["message"]
        for entry in browser.get_log("browser")  # type: ignore[no-untyped-call]  # as selenium has it
    ]


def open_file(browser: Chrome, path: Path, fragment: str = "") -> None:
    browser.get(path.resolve().as_uri() + fragment)
