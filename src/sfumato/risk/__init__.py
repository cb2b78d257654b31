"""What a raw table gives away: uniqueness, k-anonymity, l-diversity, p-percent rule, linkage. For the owner only."""

from sfumato.risk.assess import risk_report
from sfumato.risk.counting.partition import Uniqueness
from sfumato.risk.counting.search import Estimate
from sfumato.risk.diversity import Diversity, Homogeneous
from sfumato.risk.dominance import Cell, Dominance
from sfumato.risk.linkage import Linkage
from sfumato.risk.profile import Profile
from sfumato.risk.report.contents import Anonymity
from sfumato.risk.report.report import Report

__all__ = [
    "Anonymity",
    "Cell",
    "Diversity",
    "Dominance",
    "Estimate",
    "Homogeneous",
    "Linkage",
    "Profile",
    "Report",
    "Uniqueness",
    "risk_report",
]
