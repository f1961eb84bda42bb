"""The tests on each Python that is found, with the newest libraries and the oldest supported."""

import nox

nox.needs_version = ">=2026.2"
# With uv a Python that isn't there is fetched where that is possible, else its session is skipped.
nox.options.default_venv_backend = "uv"
nox.options.download_python = "auto"
nox.options.error_on_missing_interpreters = False
nox.options.reuse_venv = "yes"
nox.options.stop_on_first_error = False

PYTHONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]
PROJECT = nox.project.load_toml("pyproject.toml")
# The libraries as old as the package allows; from Python 3.13 on Scrapy alone, for not all are to
# be had there.
OLDEST = [
    library.replace(">=", "==") + ("" if "scrapy" in library else "; python_version < '3.13'")
    for library in PROJECT["project"]["dependencies"]
]
# What hangs on Scrapy's version, and on those of the libraries that read pages.
HANGING_ON_VERSIONS = [
    "tests/cli/test_compare_beside.py",
    "tests/index/test_neighbours.py",
    "tests/page/test_determinism.py",
    "tests/page/test_parse.py",
    "tests/page/test_soup.py",
    *(
        f"tests/crawl/test_{name}.py"
        for name in ("addon", "feeds", "outcomes", "order", "pipeline")
    ),
]


@nox.session(python=PYTHONS)
def newest(session: nox.Session) -> None:
    """Every test, or those given after `--`, with the newest libraries."""
    _test(session, ["scrapy"], "loadfile", session.posargs)


@nox.session(python=PYTHONS)
def oldest(session: nox.Session) -> None:
    """HANGING_ON_VERSIONS, or the tests given after `--`, with the oldest libraries."""
    _test(session, OLDEST, "worksteal", session.posargs or HANGING_ON_VERSIONS)


def _test(session: nox.Session, libraries: list[str], spread: str, tests: list[str]) -> None:
    dev = nox.project.dependency_groups(PROJECT, "dev")
    extras = ".[archive,opencc,pdf,redis]"
    session.install("--upgrade", "--editable", extras, *dev, *libraries)
    session.run("python", "-m", "pytest", "--numprocesses", "auto", "--dist", spread, *tests)
