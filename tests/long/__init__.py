"""Drills and fuzzers that take minutes or hours: `make long`."""

import argparse


def parser_of(about: str | None) -> argparse.ArgumentParser:
    """One that prints a drill's docstring as it is."""
    return argparse.ArgumentParser(description=about, formatter_class=argparse.RawTextHelpFormatter)
