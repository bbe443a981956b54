"""Arguments that several words of `mha-course` share."""

import argparse
from pathlib import Path


def add_assignment(parser: argparse.ArgumentParser) -> None:
    """Take the course folder and the name of an assignment in it."""
    parser.add_argument("course", type=Path, metavar="COURSE", help="the course folder")
    parser.add_argument("assignment", metavar="ASSIGNMENT", help="its name in nbgrader")


def add_out(parser: argparse.ArgumentParser, usual: str) -> None:
    """Take a file to write to; `usual` says which it is by default."""
    parser.add_argument("--out", type=Path, metavar="FILE", help=f"by default {usual}, made anew")
    parser.add_argument("--again", action="store_true", help="write over FILE")
