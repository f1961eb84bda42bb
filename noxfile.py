"""The tests on each Python that is found, with the newest Scrapy and with the oldest supported."""

import nox

nox.needs_version = ">=2026.2"
# With uv a Python that isn't there is fetched where that is possible, else its session is skipped.
nox.options.default_venv_backend = "uv"
nox.options.download_python = "auto"
nox.options.error_on_missing_interpreters = False
nox.options.reuse_venv = "yes"
nox.options.stop_on_first_error = False

PYTHONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]
OLDEST_SCRAPY = "2.14.0"
# The tests that crawl; others hardly know Scrapy.
CRAWLS = [
    f"tests/crawl/test_{name}.py"
    for name in ("addon", "beside", "order", "pipeline", "readers", "two_phases")
]


@nox.session(python=PYTHONS)
def newest(session: nox.Session) -> None:
    """Every test, or those given after `--`, with the newest Scrapy."""
    _test(session, "scrapy", "loadfile", session.posargs)


@nox.session(python=PYTHONS)
def oldest(session: nox.Session) -> None:
    """The tests that crawl, or those given after `--`, with the oldest Scrapy."""
    _test(session, f"scrapy=={OLDEST_SCRAPY}", "worksteal", session.posargs or CRAWLS)


def _test(session: nox.Session, scrapy: str, spread: str, tests: list[str]) -> None:
    dev = nox.project.dependency_groups(nox.project.load_toml("pyproject.toml"), "dev")
    session.install("--upgrade", "--editable", ".[archive,fast,opencc,parquet,redis]", *dev, scrapy)
    session.run("python", "-m", "pytest", "--numprocesses", "auto", "--dist", spread, *tests)
