"""Texts of frames as an engine can read them, whatever objects or bytes they are: no value may make it fail."""

from __future__ import annotations

from typing import Any


def readable_text(column: Any) -> Any:
    """A pandas column of objects or categories as texts; what has no text is missing, what is not Unicode is mended."""
    import pandas

    if getattr(column.dtype, "storage", None) == "pyarrow" and _is_valid(column):
        return column
    missing = column.isna().tolist()
    texts = [None if absent else _text(value) for value, absent in zip(column.tolist(), missing, strict=True)]
    return pandas.Series(texts, index=column.index, dtype=object)


def _is_valid(column: Any) -> bool:
    import pyarrow

    try:
        pyarrow.chunked_array(pyarrow.array(column, from_pandas=True)).validate(full=True)
    except (pyarrow.ArrowInvalid, TypeError, ValueError):
        return False
    return True


def in_microseconds(column: Any) -> Any:
    """A pandas column of times in seconds or milliseconds, in microseconds; what is too far out is missing."""
    import numpy
    import pandas

    factor = 10**6 if str(column.dtype) == "datetime64[s]" else 10**3
    units = column.to_numpy().astype(numpy.int64)
    far = abs(units.astype(float)) > 9.2e18 / factor  # NaT is the least of all
    scaled = numpy.where(far, numpy.iinfo(numpy.int64).min, numpy.where(far, 0, units) * factor)
    return pandas.Series(scaled.view("M8[us]"), index=column.index)


def valid_text(column: Any) -> Any:
    """An Arrow column of texts, its bytes mended where they are not UTF-8."""
    import pyarrow

    try:
        column.validate(full=True)
    except pyarrow.ArrowInvalid:
        chunks = [getattr(chunk, "dictionary_decode", lambda chunk=chunk: chunk)() for chunk in column.chunks]
        raw = pyarrow.chunked_array(chunks).cast(pyarrow.large_binary()).to_pylist()
        texts = [None if value is None else value.decode("utf-8", "replace") for value in raw]
        return pyarrow.chunked_array([pyarrow.array(texts, pyarrow.large_string())])
    return column


def _text(value: object) -> str | None:
    try:
        return str(value).encode("utf-8", "replace").decode()
    except Exception:  # an object may fail in any way when it is printed
        return None
