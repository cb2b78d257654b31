"""Names, matched whatever their case, and the place that a refusal points to.

>>> find("Income", ("person_id", "income"), what="column", where="people.parquet")
'income'
>>> find("incme", ("person_id", "income"), what="column", where="people.parquet")
Traceback (most recent call last):
    ...
sfumato.errors.UnknownName: people.parquet: unknown column 'incme'; did you mean 'income'?
"""

from __future__ import annotations

import difflib
import functools
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from sfumato import renames
from sfumato.errors import InvalidArgument, UnknownName

_SHOWN = 10
_PERSON = re.compile(
    r"(^|_)(person|people|patient|customer|client|user|member|student|employee|citizen|household|respondent|subject)"
    r"(_?(id|nr|no|number|key|code))?$|^(id|uid|uuid|pid)$",
    re.IGNORECASE,
)
_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")


def find(name: str, known: Iterable[str], *, what: str, where: str) -> str:
    """The known name that is equal but for case."""
    spelled = {each.lower(): each for each in known}
    if name.lower() not in spelled:
        raise UnknownName(f"{where}: unknown {what} {name!r}; {nearest(name, spelled.values())}")
    return spelled[name.lower()]


def names_a_person(name: str) -> bool:
    """Whether a column's name sounds like a person's number.

    >>> names_a_person("customer_id"), names_a_person("income")
    (True, False)
    """
    return _PERSON.search(name) is not None


def nearest(name: str, known: Iterable[str]) -> str:
    """The advice to whoever typed a name that is not known.

    >>> nearest("colums", ["columns", "unit"]), nearest("x", ["columns", "unit"]), nearest("x", [])
    ("did you mean 'columns'?", 'known are columns, unit', 'none is known')
    """
    spelled = {each.lower(): each for each in known}
    if close := difflib.get_close_matches(name.lower(), spelled, n=3):
        return f"did you mean {' or '.join(repr(spelled[each]) for each in close)}?"
    shown = list(spelled.values())[:_SHOWN]
    return f"known are {', '.join(shown)}{', ...' if len(spelled) > _SHOWN else ''}" if shown else "none is known"


def distinct(names: Iterable[str], *, where: str, what: str = "column") -> tuple[str, ...]:
    """The names of columns or tables, of which no two are equal but for case, none is empty and each can be shown."""
    listed = tuple(names)
    seen: set[str] = set()
    for name in listed:
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise InvalidArgument(f"{where}: {what} names must be plain texts; got another; name every {what}")
        if name.lower() in seen:
            raise InvalidArgument(
                f"{where}: {what} names must differ by more than upper and lower case; got {name!r} twice; rename one"
            )
        seen.add(name.lower())
    return listed


@contextmanager
def at(place: str) -> Iterator[None]:
    """Put the place before the message of what is refused inside.

    >>> with at("tables.people"):
    ...     raise InvalidArgument("unit must be a text")
    Traceback (most recent call last):
        ...
    sfumato.errors.InvalidArgument: tables.people: unit must be a text
    """
    try:
        yield
    except InvalidArgument as error:
        raise error.at(place) from None


def takes(place: str) -> Callable[[Callable[_Given, _Made]], Callable[_Given, _Made]]:
    """Let a function refuse arguments that it does not take as any other slip; `place` helps with one without a name.

    >>> @takes("say how high")
    ... def jump(*, height): ...
    >>> jump(hight=3)
    Traceback (most recent call last):
        ...
    sfumato.errors.UnknownName: jump: unknown argument 'hight'; did you mean 'height'?
    """

    def decorate(function: Callable[_Given, _Made]) -> Callable[_Given, _Made]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def checked(*given: _Given.args, **named: _Given.kwargs) -> _Made:
            try:
                signature.bind(*given, **named)
            except TypeError:
                raise _misfit(function.__name__, signature, len(given), named, place) from None
            return function(*given, **named)

        return checked

    return decorate


def unknown_argument(function: str, name: str, known: Iterable[str]) -> UnknownName:
    """The refusal of an argument that a function does not take, with its new name or the nearest one.

    >>> print(unknown_argument("ask", "bound", ["epsilon", "max_rows_per_unit"]))
    ask: bound is called max_rows_per_unit now
    """
    listed = list(known)
    if renames.renamed("argument").get(name, "").partition("=")[0] in listed:
        return UnknownName(f"{function}: {renames.current('argument', name)}")
    return UnknownName(f"{function}: unknown argument {name!r}; {nearest(name, listed)}")


def _misfit(
    function: str, signature: inspect.Signature, given: int, named: Iterable[str], place: str
) -> InvalidArgument:
    known = {name: each for name, each in signature.parameters.items() if each.kind is not each.VAR_KEYWORD}
    for name in named:
        if name not in known:
            return unknown_argument(function, name, known)
    unnamed = [name for name, each in known.items() if each.kind is not each.KEYWORD_ONLY]
    if given > len(unnamed):
        names = ", ".join(name for name in known if name not in unnamed)
        return InvalidArgument(f"{function}: arguments must be given by name ({names}); got one without; {place}")
    said = {*named, *unnamed[:given]}
    missing = [name for name, each in known.items() if each.default is each.empty and name not in said]
    return InvalidArgument(f"{function}: {' and '.join(missing) or 'each argument once'} must be given; {place}")
