"""Contract suites for extensions: inherit one in a pytest module, say what is tested, and run pytest.

MechanismTests      a mechanism: loss, error bar, distribution, neighbors, odd parameters
EngineTests         an engine: it says what DuckDB says, on the worst of values
LedgerStoreTests    a store of ledgers: nothing is lost, changed or charged twice

mechanisms  odd_parameters     the suite of mechanisms, and odd parameters for each
engines  engine_tables         the suite of engines, its tables and questions
ledger_stores                  the suite of stores
repeatable                     a source of words that is the same in every run

    from sfumato.testing import MechanismTests

    class TestStaircase(MechanismTests):
        mechanisms = (Staircase,)

The suites need pytest, which `import sfumato` does not import; those of engines need pyarrow too. The tests of this
package inherit the same suites.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.testing.engines import EngineTests
    from sfumato.testing.ledger_stores import LedgerStoreTests
    from sfumato.testing.mechanisms import MechanismTests

__all__ = ["EngineTests", "LedgerStoreTests", "MechanismTests"]


_SUITES = {"EngineTests": "engines", "LedgerStoreTests": "ledger_stores", "MechanismTests": "mechanisms"}


def __getattr__(name: str) -> Any:
    """Each suite is imported when it is used, since each needs other packages."""
    if name not in _SUITES:
        raise AttributeError(f"module 'sfumato.testing' has no attribute {name!r}")
    return getattr(importlib.import_module(f"sfumato.testing.{_SUITES[name]}"), name)
