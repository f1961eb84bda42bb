"""The compiled kernel, which may be left out: all else is in pyproject.toml.

SIMHASH_NO_NATIVE=1 leaves it out; SIMHASH_REQUIRE_NATIVE=1 fails where it can't be built.
SIMHASH_CFLAGS are further options for the compiler, as sanitizers.
"""

import os
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext


class BuildKernel(build_ext):
    """Says in one line that there is no compiler, and goes on."""

    def build_extension(self, ext: Extension) -> None:
        try:
            super().build_extension(ext)
        except Exception as error:
            if os.environ.get("SIMHASH_REQUIRE_NATIVE") == "1":
                raise
            print(
                f"simhash_pipeline: no compiled kernel, the Python does its work: {error}",
                file=sys.stderr,
            )


KERNEL = Extension(
    "simhash_pipeline.native._kernel",
    ["simhash_pipeline/native/_kernel.c"],
    extra_compile_args=os.environ.get("SIMHASH_CFLAGS", "").split(),
    extra_link_args=os.environ.get("SIMHASH_CFLAGS", "").split(),
    optional=os.environ.get("SIMHASH_REQUIRE_NATIVE") != "1",
)
LEFT_OUT = os.environ.get("SIMHASH_NO_NATIVE") == "1"
setup(ext_modules=[] if LEFT_OUT else [KERNEL], cmdclass={"build_ext": BuildKernel})
