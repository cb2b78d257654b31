"""Files for the owner's eyes: ledgers, and reports that are exact and not private.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     file = owned(Path(folder) / "risk.html")
...     oct(file.stat().st_mode & 0o777)
'0o600'
"""

from __future__ import annotations

import os
from pathlib import Path


def owned(file: str | Path) -> Path:
    """The file, to be written: a new one is readable by its owner only, one that is there stays as it is."""
    os.close(os.open(file, os.O_CREAT | os.O_WRONLY, 0o600))
    return Path(file)
