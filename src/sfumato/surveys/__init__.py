"""Surveys in the local model: each person randomises at home, the analyst sees noise, the estimate is still good."""

from sfumato.surveys.design import Design, design
from sfumato.surveys.question import Boxes, Choice, Number, number, one_of, ordinal, several_of, yes_no
from sfumato.surveys.web import page, paper
from sfumato.surveys.written import load, load_draft

__all__ = [
    "Boxes",
    "Choice",
    "Design",
    "Number",
    "design",
    "load",
    "load_draft",
    "number",
    "one_of",
    "ordinal",
    "page",
    "paper",
    "several_of",
    "yes_no",
]
