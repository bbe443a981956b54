"""The word `report`: what a class did, as a page for the next lecture."""

import argparse

from mha_course.arguments import add_assignment, add_out
from mha_course.class_marks import read_class
from mha_course.out_file import save
from mha_course.report_page import page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_assignment(parser)
    parser.add_argument(
        "--ids",
        action="store_true",
        help="name the students whose answers need a look; by default the page holds counts only",
    )
    add_out(parser, "COURSE/ASSIGNMENT-report.html, with --ids -report-ids.html")


def run(options: argparse.Namespace) -> int:
    course = options.course.resolve()
    marks = read_class(course, options.assignment)
    ending = "report-ids" if options.ids else "report"
    usual = course / f"{options.assignment}-{ending}.html"
    said = save(page(marks, options.ids), usual, options.out, options.again)
    print(f"Report on {marks.marked} of {marks.handed_in} students who handed in: {said}")
    return 0
