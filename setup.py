"""The compiled kernel, which may be left out, and what depends on the repository's address.

SIMHASH_NO_NATIVE=1 leaves it out; SIMHASH_REQUIRE_NATIVE=1 fails where it can't be built.
SIMHASH_CFLAGS are further options for the compiler, as sanitizers.
"""

import os
import re
from pathlib import Path

from setuptools import Extension, setup

OPTIONS = os.environ.get("SIMHASH_CFLAGS", "").split()
if os.name == "posix":
    OPTIONS.insert(0, "-ffp-contract=off")  # the same numbers on every machine


def compiled(name: str, *parts: str) -> Extension:
    return Extension(
        f"simhash_pipeline.native.{name}",
        [f"simhash_pipeline/native/{part}.c" for part in (name, *parts)],
        depends=["simhash_pipeline/native/_murmur3.h"],
        extra_compile_args=OPTIONS,
        extra_link_args=OPTIONS,
        optional=os.environ.get("SIMHASH_REQUIRE_NATIVE") != "1",
    )


def readme(address: str) -> str:
    """The README; with an address its links lead there, for an index shows no other file."""
    text = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
    if not address:
        return text
    text = re.sub(r"(!\[[^\]]*\]\()(?!https?:)", rf"\1{address}/raw/main/", text)
    return re.sub(r"\]\((?!https?:)", f"]({address}/blob/main/", text)


# Of the repository, as https://code.example/owner/name; make dist reports that it is missing.
ADDRESS = ""
URLS = {
    "Source": ADDRESS,
    "Issues": f"{ADDRESS}/issues",
    "Changelog": f"{ADDRESS}/blob/main/CHANGELOG.md",
}
# Each Python has a wheel of its own: the stable ABI can't read a str's characters in place, and a
# fingerprint takes 3 to 4 % more instructions by it.
NATIVE = [compiled("_kernel", "_markup", "_rules", "_judge")]
if __name__ == "__main__":
    setup(
        ext_modules=[] if os.environ.get("SIMHASH_NO_NATIVE") == "1" else NATIVE,
        long_description=readme(ADDRESS),
        long_description_content_type="text/markdown",
        project_urls=URLS if ADDRESS else {},
    )
