"""What a raw table gives away: uniqueness, k-anonymity, l-diversity, p-percent rule, linkage. For the owner only."""

from sfumato.risk.assess import risk_report
from sfumato.risk.contents import Anonymity
from sfumato.risk.diversity import Diversity, Homogeneous
from sfumato.risk.dominance import Cell, Dominance
from sfumato.risk.linkage import Linkage
from sfumato.risk.partition import Uniqueness
from sfumato.risk.profile import Profile
from sfumato.risk.report import Report
from sfumato.risk.search import Estimate

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
