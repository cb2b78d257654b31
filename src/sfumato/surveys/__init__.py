"""Surveys in the local model: each person randomises at home, the analyst sees noise, the estimate is still good.

In Python it is `sf.survey`: `sf.survey.design(...)`, `sf.survey.randomise(...)`, `sf.survey.estimate(...)`.
"""

from sfumato.surveys.answers import Answers, read_answers
from sfumato.surveys.design import Design, design
from sfumato.surveys.estimating.cross import CrossTable
from sfumato.surveys.estimating.estimate import at_most, combine, cross_table, estimate
from sfumato.surveys.estimating.result import Estimates, Result
from sfumato.surveys.estimating.statistic import Estimate
from sfumato.surveys.expected import Expected, expected, people_for
from sfumato.surveys.item import Item
from sfumato.surveys.question import Boxes, Choice, Number, number, one_of, ordinal, several_of, yes_no
from sfumato.surveys.randomise import Memory, randomise, randomise_all
from sfumato.surveys.web import page, paper, words
from sfumato.surveys.written import load, load_draft, save

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
    "randomise",
    "randomise_all",
    "read_answers",
    "save",
    "several_of",
    "words",
    "yes_no",
]
