"""Errors are values: text as Python spells it, facts beside it, both kept by copies and across processes."""

from __future__ import annotations

import ast
import copy
import multiprocessing
import pickle
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TypeGuard

import pytest

from sfumato import dbapi, errors, suggestions
from sfumato.errors import InvalidArgument, LedgerUnavailable, SfumatoError
from sfumato.ledger.store.combine import _of_its_own
from sfumato.phrases import Action, ColumnSetting, Dates, Option, Phrase, Setting

FIX = Phrase("give ", Option("delta", 1e-9), ", or ", ColumnSetting("day", (Setting("keys", Dates("a", "b")),)))
MESSAGE = Phrase(Option("noise", "gaussian"), " needs a delta; got none")
TEXT = (
    "noise='gaussian' needs a delta; got none; give delta=1e-9, or columns={'day': sf.column(keys=sf.dates('a', 'b'))}"
)


def kinds(root: type[SfumatoError] = SfumatoError) -> Iterator[type[SfumatoError]]:
    """Every class of the tree that this process knows."""
    yield root
    for kind in root.__subclasses__():
        yield from kinds(kind)


def facts(error: BaseException) -> tuple[object, ...]:
    """All that an error says."""
    assert isinstance(error, SfumatoError)
    return type(error), str(error), parts(error.message), parts(error.fix)


def parts(text: str) -> object:
    """What a phrase was built from."""
    return text.parts if isinstance(text, Phrase) else text


def refuse() -> None:
    """Raise in another process."""
    raise InvalidArgument(MESSAGE, fix=FIX)


@pytest.mark.parametrize("kind", sorted(set(kinds()), key=str), ids=lambda kind: kind.__name__)
def test_every_error_keeps_its_facts_through_a_copy(kind: type[SfumatoError]) -> None:
    """By every protocol of pickle, and by `copy`."""
    error = kind(MESSAGE, FIX)
    assert str(error) == TEXT
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert facts(pickle.loads(pickle.dumps(error, protocol))) == facts(error)  # noqa: S301 - what this test wrote itself
    assert facts(copy.copy(error)) == facts(copy.deepcopy(error)) == facts(error)
    assert facts(type(error)(*error.args)) == facts(error)


def test_an_error_of_another_process_keeps_its_facts() -> None:
    """As `multiprocessing` sends it back."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool, pytest.raises(InvalidArgument) as caught:
        pool.submit(refuse).result()
    assert facts(caught.value) == facts(InvalidArgument(MESSAGE, fix=FIX))


def test_a_plain_text_is_an_error_as_ever() -> None:
    """One argument, one text."""
    error = InvalidArgument("x must be 1; got 2")
    assert str(error) == error.message == error.args[0] == "x must be 1; got 2"
    assert error.fix == "" and len(error.args) == 1 and str(SfumatoError()) == ""


def test_a_sentence_is_followed_by_a_sentence() -> None:
    """A message that ends with a period is joined to what helps by a space, any other by a semicolon."""
    assert str(SfumatoError("No ledger here yet.", "Create it.")) == "No ledger here yet. Create it."
    assert str(SfumatoError("got none", Action("entries()"))) == "got none; entries()"


def test_a_place_before_the_message_keeps_its_facts() -> None:
    """Also through several places."""
    with pytest.raises(InvalidArgument) as caught, suggestions.at("tables"), suggestions.at("people"):
        refuse()
    assert str(caught.value) == f"tables: people: {TEXT}"
    assert (
        parts(caught.value.message) == ("tables: ", "people: ", *MESSAGE.parts) and parts(caught.value.fix) == FIX.parts
    )


def test_errors_that_are_raised_again_keep_their_facts() -> None:
    """As an error of PEP 249, and for each of several who waited for one transaction."""
    with pytest.raises(dbapi.ProgrammingError) as caught, dbapi._in_its_words():
        refuse()
    assert facts(caught.value)[1:] == facts(InvalidArgument(MESSAGE, fix=FIX))[1:]
    error = LedgerUnavailable(MESSAGE, FIX)
    assert facts(_of_its_own(error)) == facts(error)


def test_words_between_terms_can_be_changed() -> None:
    """Terms stay what they are."""
    changed = InvalidArgument(MESSAGE, fix=FIX).reworded(str.upper)
    assert str(changed).startswith("noise='gaussian' NEEDS A DELTA; GOT NONE; GIVE delta=1e-9, OR columns=")
    assert parts(changed.fix) == tuple(part.upper() if isinstance(part, str) else part for part in FIX.parts)


def test_no_refusal_is_raised_again_as_its_text_alone() -> None:
    """Found in the source: `str(error)` or an f-string of a caught refusal would lose its facts."""
    names = {kind.__name__ for kind in kinds()}
    source = Path(errors.__file__).parent
    lost, seen = [], 0
    for path in sorted(source.rglob("*.py")):
        for handler in (node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if _catches(node, names)):
            seen += 1
            raised = [part for node in ast.walk(handler) if isinstance(node, ast.Raise) for part in ast.walk(node)]
            if any(_is_text_of(part, handler.name) for part in raised):
                lost.append(f"{path.relative_to(source)}:{handler.lineno}")
    assert lost == [] and seen > 5


def _catches(node: ast.AST, names: set[str]) -> TypeGuard[ast.ExceptHandler]:
    if not isinstance(node, ast.ExceptHandler) or node.type is None or node.name is None:
        return False
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node.type))


def _is_text_of(part: ast.AST, name: str | None) -> bool:
    match part:
        case ast.FormattedValue(value=ast.Name(id=spoken)):
            return spoken == name
        case ast.Call(func=ast.Name(id="str"), args=[ast.Name(id=spoken)]):
            return spoken == name
    return False


def test_the_tree_is_the_one_that_is_drawn() -> None:
    """Every class of errors.py stands in its head."""
    own = [kind for kind in kinds() if kind.__module__ == errors.__name__]
    assert len(own) > 15 and all(kind.__name__ in (errors.__doc__ or "") for kind in own)
