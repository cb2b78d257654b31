"""Surveys in the local model: each person randomizes at home, the analyst sees noise, the estimate is still good.

In Python it is `sf.survey`: `sf.survey.design(...)`, `sf.survey.randomize(...)`, `sf.survey.estimate(...)`.
"""

from sfumato.surveys.answers import Answers, read_answers
from sfumato.surveys.design import Design, design
from sfumato.surveys.design_file import load, load_draft, save
from sfumato.surveys.estimates.cross import CrossTable
from sfumato.surveys.estimates.estimate import at_most, combine, cross_table, estimate
from sfumato.surveys.estimates.result import Estimates, Result
from sfumato.surveys.estimates.statistic import Estimate
from sfumato.surveys.expected import Expected, expected, people_for
from sfumato.surveys.item import Item
from sfumato.surveys.question import Boxes, Choice, Number, number, one_of, ordinal, several_of, yes_no
from sfumato.surveys.randomize import Memory, randomize, randomize_all
from sfumato.surveys.web import page, paper, words

__all__ = [
    "Answers",
    "Boxes",
    "Choice",
    "CrossTable",
    "Design",
    "Estimate",
    "Estimates",
    "Expected",
    "Item",
    "Memory",
    "Number",
    "Result",
    "at_most",
    "combine",
    "cross_table",
    "design",
    "estimate",
    "expected",
    "load",
    "load_draft",
    "number",
    "one_of",
    "ordinal",
    "page",
    "paper",
    "people_for",
    "randomize",
    "randomize_all",
    "read_answers",
    "save",
    "several_of",
    "words",
    "yes_no",
]
