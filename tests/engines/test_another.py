"""To add an engine takes one module and one line: this is done here, and the engine answers what all others do."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

import sfumato as sf
from engines import shelf
from sfumato.dataset.sources.server import SERVERS
from sfumato.errors import InvalidArgument
from sfumato.testing import EngineTests
from sfumato.testing.engine_tables import ROWS


@pytest.fixture(autouse=True)
def _added(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(SERVERS, "shelf:", "engines.shelf")
    shelf.SHELF.update(ROWS)
    yield
    shelf.SHELF.clear()


class TestShelf(EngineTests):
    """Tables on a shelf."""

    @pytest.fixture
    def source(self) -> Callable[[str], object]:
        return lambda name: f"shelf:{name}"


def test_messages_know_it() -> None:
    with pytest.raises(InvalidArgument, match=r"spark:catalog\.table or shelf:table; got an address of 'mysql'"):
        sf.table("mysql://host/db#t", unit="p")
