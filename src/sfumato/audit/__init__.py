"""Audits: certified lower bounds on the epsilon that a mechanism really spends, and broken ones that are caught."""

from sfumato.audit.finding import Finding, Tested
from sfumato.audit.game import Game, game

__all__ = ["Finding", "Game", "Tested", "game"]
