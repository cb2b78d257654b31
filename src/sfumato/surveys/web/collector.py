"""The address that a page may send reports to: the only one that its policy lets it reach."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from sfumato.errors import InvalidArgument

_HERE = ("localhost", "127.0.0.1", "[::1]")
_HOST = r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]"
_ADDRESS = re.compile(rf"(https?)://({_HOST})(:\d{{1,5}})?(/[A-Za-z0-9._~%/+-]*)?")  # nothing that ends a policy


def read_collector(address: str) -> str:
    """An address that reports can be posted to: https, or http on this machine; no user, query or fragment.

    >>> read_collector("https://survey.example/reports")
    'https://survey.example/reports'
    """
    found = _ADDRESS.fullmatch(address) if isinstance(address, str) else None
    if found is None or (found[1] == "http" and found[2] not in _HERE) or not _has_port(address):
        raise InvalidArgument(
            "collect must be an https address without user, '?' and '#' (http for localhost alone); got "
            f"{address!r}; for example https://survey.example/reports"
        )
    return address if found[4] else f"{address}/"


def _has_port(address: str) -> bool:
    try:
        return urlsplit(address).port != 0
    except ValueError:
        return False
