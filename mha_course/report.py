"""The word `report`: what a class did, as a page for the next lecture."""

import argparse
from pathlib import Path

from mha_course.class_marks import read_class
from mha_course.out_file import save
from mha_course.report_page import page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("course", type=Path, metavar="COURSE", help="the course folder")
    parser.add_argument("assignment", metavar="ASSIGNMENT", help="its name in nbgrader")
    parser.add_argument(
        "--ids",
        action="store_true",
        help="name the students whose answers need a look; by default the page holds counts only",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="by default COURSE/ASSIGNMENT-report.html, with --ids -report-ids.html, made anew",
    )
    parser.add_argument("--again", action="store_true", help="write over FILE")


def run(options: argparse.Namespace) -> int:
    course = options.course.resolve()
    marks = read_class(course, options.assignment)
    ending = "report-ids" if options.ids else "report"
    usual = course / f"{options.assignment}-{ending}.html"
    said = save(page(marks, options.ids), usual, options.out, options.again)
    print(f"Report on {marks.marked} of {marks.handed_in} students who handed in: {said}")
    return 0
