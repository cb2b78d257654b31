"""Tables in memory: pandas, polars and Arrow, known by their class and never imported here."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sfumato.dataset.kind import Kind, kind_named, kinds
from sfumato.dataset.sources.memory import MEMORY, Library
from sfumato.dataset.sources.text import in_microseconds, readable_text, valid_text
from sfumato.entropy import SYSTEM
from sfumato.errors import InvalidArgument
from sfumato.suggestions import distinct

_LABELS: dict[Library, str] = {"pandas": "a pandas frame", "polars": "a polars frame", "pyarrow": "an Arrow table"}
_CLASSES: dict[Library, str] = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "Table"}
_SOURCE = "frame:"


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A frame in memory; equal only to itself, and silent about its rows."""

    frame: Any = field(repr=False)  # a frame prints its rows
    serial: str = field(
        default_factory=lambda: f"{SYSTEM.bits(128):032x}", repr=False
    )  # no other frame has it, in any process

    typed: ClassVar[bool] = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Frame) and self.frame is other.frame

    def __hash__(self) -> int:
        return id(self.frame)

    @property
    def library(self) -> Library:
        """Where the frame comes from."""
        found = library_of(self.frame)
        if found is None:
            found_class = type(self.frame).__name__
            raise InvalidArgument(f"source must be a frame of pandas, polars or Arrow; got a {found_class}; convert it")
        return found

    @property
    def label(self) -> str:
        """What the frame is."""
        return _LABELS[self.library]

    @property
    def identity(self) -> frozenset[str]:
        """The frame, and all that were declared before and share memory with it: known to this process only."""
        return frozenset(self.columns_by_source())

    @property
    def anchor(self) -> str:
        """The frame alone."""
        return next(iter(self.columns_by_source()))

    def columns_by_source(self) -> dict[str, Mapping[str, str]]:
        """The names of the columns in this frame, and in those that share memory with it; itself first.

        By names alone a view could have another column in the place of the one that is the unit.
        """
        return {_SOURCE + token: names for token, names in MEMORY.columns(self.frame, self.library).items()}

    def types(self) -> dict[str, str]:
        """The type of every column by its own name."""
        names, types = _typed_names(self.frame, self.library)
        return dict(zip(distinct(names, where=self.label), types, strict=True))

    def schema(self) -> dict[str, Kind]:
        """The kind of every column that can be asked about, in order; pandas objects and categories are text."""
        return kinds(self.types())

    def readable(self, columns: Iterable[str]) -> Any:
        """These columns for an engine, such that no value of theirs makes it fail; those of pandas are copied."""
        kept = list(dict.fromkeys(columns)) or list(self.schema())[:1]
        match self.library:
            case "pandas":
                frame = self.frame[kept].copy()  # the owner may write into a frame while a question runs
                return frame.assign(**{name: _readable(frame[name]) for name in kept})
            case "polars":
                return self.frame.select(kept)
        table, schema = self.frame.select(kept), self.schema()
        for place, name in enumerate(kept):
            if schema.get(name) is Kind.TEXT:
                table = table.set_column(place, name, valid_text(table.column(name)))
        return table


def _readable(column: Any) -> Any:
    """A pandas column that no value of makes an engine fail."""
    kind = str(column.dtype)
    if kind in ("datetime64[s]", "datetime64[ms]"):
        return in_microseconds(column)
    return readable_text(column) if kind_named(kind) is Kind.TEXT else column


def library_of(frame: object) -> Library | None:
    """The library whose frame this is; a library that was not imported cannot have made it."""
    for library, name in _CLASSES.items():
        made = getattr(sys.modules.get(library), name, None)
        if isinstance(made, type) and isinstance(frame, made):
            return library
    return None


def _typed_names(frame: Any, library: Library) -> tuple[list[str], list[str]]:
    match library:
        case "pandas":
            return list(frame.columns), [str(type) for type in frame.dtypes]
        case "polars":
            # objects of Python have no column type that an engine could read
            types = [str(type) for type in frame.dtypes]
            return list(frame.columns), ["python" if type == "Object" else type for type in types]
        case "pyarrow":
            return list(frame.schema.names), [str(type) for type in frame.schema.types]
