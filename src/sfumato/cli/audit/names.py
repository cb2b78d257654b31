"""What may be audited, by its name: mechanisms, the zoo and its inhabitants; and what is SQL instead."""

from __future__ import annotations

import os
import re

from sfumato.audit.by_name import NAMES
from sfumato.audit.zoo import ZOO
from sfumato.cli._shared.screen import output, say
from sfumato.cli.audit.render import put_json
from sfumato.errors import UnknownName
from sfumato.suggestions import nearest


def is_question(text: str) -> bool:
    """Whether it is SQL or says where SQL is: no name has a blank, and no module:name either."""
    words = text.split()
    return text.startswith("@") or text.strip() == "-" or len(words) > 2 or words[:1] in (["SELECT"], ["select"])


def same(mine: str, theirs: str) -> bool:
    """Whether two names are, however they are spelled: float-laplace, Float_Laplace."""
    return _plain(mine) == _plain(theirs)


def spelled(name: str) -> str:
    """A mechanism's name as one types it.

    >>> spelled("LaplaceThreshold")
    'laplace-threshold'
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


def unknown(what: str) -> UnknownName:
    """The refusal of a name that nobody knows, with what was perhaps meant."""
    if os.path.isfile(f"{what}.py"):
        return UnknownName(f"{what!r} is a module; say which function of it; for example {what}:my_count")
    if not what:
        return UnknownName("there must be something to audit; got an empty text; sfumato audit lists the names")
    known = [*map(spelled, NAMES), "zoo", *(each.name for each in ZOO)]
    said = nearest(what.lower(), known)
    hint = "sfumato audit lists the names" if said.startswith("known are") else said
    return UnknownName(f"unknown mechanism {what!r}, which is no SQL and no module:name either; {hint}")


def list_names(*, as_json: bool) -> None:
    """All names, for who does not know any."""
    mechanisms, broken = [*map(spelled, NAMES)], [each.name for each in ZOO]
    if as_json:
        put_json({"mechanisms": mechanisms, "zoo": broken})
        return
    say(output(), f"mechanisms: {', '.join(mechanisms)}\n", indent="  ")
    say(output(), f"\nzoo, broken ones: {', '.join(broken)}", indent="  ")
    say(output(), "\nAlso: a question in SQL, or module:name of your own. Examples: sfumato audit --help")


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")
