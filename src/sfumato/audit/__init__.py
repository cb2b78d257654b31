"""Audits: certified lower bounds on the epsilon that a mechanism really spends, and a zoo of broken ones."""

from sfumato.audit.exact import ExactFinding, judge
from sfumato.audit.finding import Finding, Tested
from sfumato.audit.game import Game, game
from sfumato.audit.picture import draw_finding
from sfumato.audit.sql.question import Recorded, record_question
from sfumato.audit.sql.recorder import Recorder, record, violations
from sfumato.audit.zoo import ZOO, Broken

__all__ = [
    "ZOO",
    "Broken",
    "ExactFinding",
    "Finding",
    "Game",
    "Recorded",
    "Recorder",
    "Tested",
    "draw_finding",
    "game",
    "judge",
    "record",
    "record_question",
    "violations",
]
