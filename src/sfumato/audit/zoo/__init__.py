"""A zoo of broken mechanisms: each is caught by the audit, so that being caught can be seen.

>>> [broken.name for broken in ZOO][:3]
['halved-sensitivity', 'epsilon-as-scale', 'noise-ten-percent-low']
"""

from sfumato.audit.zoo.broken import Broken
from sfumato.audit.zoo.rare import RARE_EVENTS
from sfumato.audit.zoo.scales import SCALES
from sfumato.audit.zoo.sparse_vector import SPARSE_VECTOR
from sfumato.audit.zoo.tables import TABLES

ZOO = (*SCALES, *TABLES, *SPARSE_VECTOR, *RARE_EVENTS)

__all__ = ["ZOO", "Broken"]
