"""The compiled kernel, which may be left out: all else is in pyproject.toml.

SIMHASH_NO_NATIVE=1 leaves it out; SIMHASH_REQUIRE_NATIVE=1 fails where it can't be built.
SIMHASH_CFLAGS are further options for the compiler, as sanitizers.
"""

import os

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


NATIVE = [compiled("_kernel", "_markup", "_rules")]
setup(ext_modules=[] if os.environ.get("SIMHASH_NO_NATIVE") == "1" else NATIVE)
