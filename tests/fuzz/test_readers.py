"""Whatever a file holds, and whatever lies where it should: a reader reads it, or raises an error of this package.

Each reader meets 1,000 mutations of a good file, those that start an engine fewer of them unless SFUMATO_SOAK is set.
Every mutation follows from its number, which a failure names. A reader that nobody listed is found in the source.
"""

from __future__ import annotations

import ast
import os
import re
import signal
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fuzz.readers import PEOPLE, READERS, Reader
from sfumato.errors import LedgerBroken, SfumatoError
from sfumato.ledger.operations import _stored_answer

SOURCE = Path(__file__).resolve().parents[2] / "src/sfumato"
SECRET = "sekret"  # a value of a private row
PRIVATE = {"table, CSV", "question on a CSV", "table, parquet", "question on parquet", "reports, CSV", "true answers"}

each = pytest.mark.parametrize("reader", READERS.values(), ids=READERS)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the tables that a project names."""
    for name in ("people.csv", "payroll.csv"):
        (tmp_path / name).write_text(PEOPLE, "utf-8")
    (tmp_path / "regions.csv").write_text("region,size\nnorth,2\nsouth,3\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@contextmanager
def _limited(seconds: int = 60) -> Iterator[None]:
    """What waits forever fails; threads other than the first cannot be interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise TimeoutError("the reader waits")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _outcome(reader: Reader, file: Path, what: str) -> tuple[str, str]:
    """Whether a file was read or refused, and the message; everything else is a failure with the mutation's name."""
    try:
        with _limited():
            reader.read(file)
    except SfumatoError as error:
        assert str(error), f"{what}: {type(error).__name__} says nothing"
        return "refused", str(error)
    except BaseException as error:
        raise AssertionError(f"{what}: {type(error).__name__}: {str(error)[:200]}") from error
    return "read", ""


@each
def test_a_good_file_is_read(reader: Reader, folder: Path) -> None:
    """Else its mutations would say nothing."""
    file = folder / reader.file
    file.write_bytes(reader.seed(folder))
    reader.read(file)


@pytest.mark.parametrize("name", READERS)
def test_a_mutated_file_is_read_or_refused(name: str, folder: Path) -> None:
    """Nothing else happens; some of both; and no message repeats a value of a private row."""
    reader, outcomes = READERS[name], Counter[str]()
    seed = reader.seed(folder)
    if name in PRIVATE and reader.file.endswith("csv"):
        seed = seed.replace(b"north", SECRET.encode()).replace(b"cough;rash", SECRET.encode())
    file = folder / reader.file
    for number in range(reader.times):
        file.unlink(missing_ok=True)
        file.write_bytes(reader.mutated(seed, number))
        outcome, said = _outcome(reader, file, f"{name}, mutation {number}")
        outcomes[outcome] += 1
        assert name not in PRIVATE or SECRET not in said, f"mutation {number} is told: {said}"
    assert outcomes["refused"] and sum(outcomes.values()) == reader.times, outcomes


def _nothing(file: Path) -> None:
    """There is no file."""


def _socket(file: Path) -> None:
    held = socket.socket(socket.AF_UNIX)
    try:
        held.bind(file.name)  # a short name, for a path of a socket has at most a hundred letters
    finally:
        held.close()


PLACES: dict[str, Callable[[Path], object]] = {
    "nothing": _nothing,
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
    "a socket": _socket,
    "an empty file": Path.touch,
    "a link that leads to itself": lambda file: file.symlink_to(file.name),
    "a link to an endless device": lambda file: file.symlink_to("/dev/zero"),
    "a file of NULs": lambda file: file.write_bytes(b"\0" * 10_000),
    "latin-1": lambda file: file.write_bytes("é,ü\n1,2\n".encode("latin-1")),
    "a byte order mark alone": lambda file: file.write_bytes(b"\xef\xbb\xbf"),
    "one endless line": lambda file: file.write_bytes(b"a" * 2_000_000),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", READERS)
def test_whatever_lies_in_its_place_is_refused(name: str, place: str, folder: Path) -> None:
    """A pipe that nobody writes to is not waited for."""
    reader = READERS[name]
    if name in ("stored answer", "merged backup"):
        return  # read by the test itself, or needs a seed beside it
    file = folder / reader.file
    PLACES[place](file)
    outcome, _ = _outcome(reader, file, f"{name}, {place}")
    assert outcome == "refused" or (name, place) in EMPTY


NAMES = {
    "a NUL": "a\0b{}",
    "half a character": "\ud800{}",
    "too long": "a" * 300 + "{}",
    "a pattern": "[{}",
    "blank": " {}",
}


@pytest.mark.parametrize("kind", NAMES)
@each
def test_a_name_that_no_file_has_is_refused(reader: Reader, kind: str, folder: Path) -> None:
    """Also where Python itself raises a ValueError for it."""
    if reader.read is READERS["stored answer"].read or reader.read is READERS["merged backup"].read:
        return  # see above
    file = folder / NAMES[kind].format(Path(reader.file).suffix)
    outcome, _ = _outcome(reader, file, kind)
    assert outcome == "refused" or (reader is READERS["memory"] and kind in ("a pattern", "blank"))


def test_a_question_may_come_through_a_pipe_of_the_shell(folder: Path) -> None:
    """As in `sfumato ask --file <(generate)`."""
    reader, writer = os.pipe()
    os.write(writer, b"SELECT 7")
    os.close(writer)
    from sfumato.cli._shared.question_options import read_question

    assert read_question(None, Path(f"/dev/fd/{reader}")) == "SELECT 7"
    os.close(reader)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"answer": 7}', "[" * 3000, '{"answer": ' + "9" * 5000 + "}"])
def test_a_stored_answer_that_is_none_is_told(text: str) -> None:
    """It is found by its key and has its digest, and holds nothing that was ever an answer."""
    with pytest.raises(LedgerBroken, match="question 3 cannot be read; verify the ledger"):
        _stored_answer(text, 3)


# ------------------------------------------------------------------------------------------- the list is whole

EMPTY = {  # what is nothing to them
    ("memory", "nothing"),
    ("project of 0.1", "an empty file"),
    ("project of 0.1", "a byte order mark alone"),
}
READS = re.compile(
    r"open|os\.(read|fdopen)|.*\b(file|path|draft|fresh|target)\.open|.*\.read_(text|bytes)|(json|tomllib|pickle)\.loads?"
    r"|csv\.(reader|read_csv|DictReader)|(sqlite3|psycopg)\.connect|ast\.literal_eval|importlib\.import_module"
    r"|sys\.stdin\.read|np\.load\w*"
)
IN_SQL = re.compile(r"\b(read_csv|read_parquet|parquet_schema|read_json)\(|\bATTACH ")
DOOR = "sfumato.input_files"
WRITES = "writes a file of its own"
OWN = "files of the package or of the operating system, or what an engine said"
# A function of the source -> the reader of `READERS` that goes through it, or why there is none.
COVERED: dict[str, str] = {
    "input_files.py:opened": "design",
    "input_files.py:read_text": "design",
    "input_files.py:holds": "design",
    "input_files.py:read_toml": "design",
    "input_files.py:parse_json": "memory",
    "input_files.py:parse_toml": "project",
    "migration.py:migrate": "project of 0.1",
    "cli/migrate.py:migrate": "project of 0.1",
    "renames.py:renamed": OWN,
    "project.py:load": "project",
    "surveys/design_file.py:_read": "design",
    "surveys/rows.py:read_file": "reports, CSV",
    "surveys/rows.py:_csv": "reports, CSV",
    "surveys/rows.py:_json_lines": "reports, JSON",
    "surveys/randomize.py:Memory._read": "memory",
    "surveys/randomize.py:Memory.locked": "memory",
    "surveys/randomize.py:Memory.keep": WRITES,
    "surveys/web/words.py:read_words": "words",
    "surveys/web/words.py:english": OWN,
    "surveys/web/files.py:read": OWN,
    "ledger/records/portable.py:_lines": "backup",
    "ledger/records/portable.py:write_json": WRITES,
    "ledger/records/portable.py:write_csv": WRITES,
    "ledger/records/entry.py:Entry.details": "forged backup",
    "ledger/ledger.py:Ledger.stored": "tests/fuzz: test_a_stored_answer_that_is_none_is_told",
    "ledger/operations.py:_stored_answer": "tests/fuzz: test_a_stored_answer_that_is_none_is_told",
    "ledger/backup/verify.py:_check_key": "forged backup",
    "ledger/backup/witness.py:Witness._read": "tests/ledger/test_witness.py: test_a_damaged_witness...",
    "ledger/store/connect.py:_open_sqlite": "ledger",
    "mounts.py:mounted": OWN,
    "ledger/store/store.py:Store.backup": WRITES,
    "ledger/asker.py:_machine": OWN,
    "ledger/asker.py:_fields": OWN,
    "curator/answers/stored_answer.py:read_answer": "stored answer",
    "curator/answers/answer.py:Answer.to_csv": WRITES,
    "dataset/sources/files.py:first_line": "table, CSV",
    "dataset/sources/files.py:split_header": "table, CSV",
    "dataset/sources/files.py:ParquetFiles._footer": "table, parquet",
    "dataset/public.py:_rows": "public table, CSV",
    "dataset/sources/server.py:module_of": OWN,
    "risk/counting/rows.py:_reader": "risk, CSV",
    "engines/duckdb/_source.py:_reader": "question on a CSV",
    "engines/duckdb/_source.py:_attach": "table, DuckDB",
    "dataset/sources/duckdb_table.py:DuckdbTable.connect": "table, DuckDB",
    "cli/demo/city.py:exact": OWN,
    "embedded/resources.py:_memory": OWN,
    "engines/postgres/table.py:PostgresTable.connect": "a server: tests/engines/test_postgres_refused.py",
    "engines/postgres/_whole.py:_in_arrow": "a server: tests/engines/test_public_servers.py",
    "plan/syntax/second_parser.py:_parsed": OWN,
    "audit/load.py:_module": "the user's own program, whose errors are MechanismFailed: tests/audit",
    "cli/_shared/question_options.py:_read_file": "question",
    "cli/_shared/legibility/lines.py:_count": "lines of a CSV",
    "cli/_shared/question_options.py:_read_input": "tests/cli/test_unreadable.py",
    "cli/audit/__init__.py:_read": "a text of the command line: tests/cli/test_unreadable.py",
    "cli/init/__init__.py:_say_next": "what it wrote itself",
    "__init__.py:__getattr__": OWN,
    "cli/__init__.py:build": OWN,
    "testing/__init__.py:__getattr__": OWN,
    "testing/mechanisms.py:MechanismTests.test_it_can_be_pickled_and_copied_after_a_release": "what it wrote itself",
}


def _reading(path: Path) -> Iterator[str]:
    """The functions of a module in which something is read or parsed."""
    tree = ast.parse(path.read_text("utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == DOOR]
    doors = {name.name for node in imports for name in node.names} - {"MALFORMED", "attempt", "printable", "holds"}
    doors |= {"opened", "read_text"} if path.name == "input_files.py" else set()

    def reads(node: ast.AST) -> bool:
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            return name in doors or READS.fullmatch(name) is not None
        return isinstance(node, ast.Constant) and isinstance(node.value, str) and IN_SQL.search(node.value) is not None

    def walk(node: ast.AST, inside: tuple[str, ...]) -> Iterator[str]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                yield from walk(child, (*inside, child.name))
                continue
            if reads(child) and inside:
                yield f"{path.relative_to(SOURCE).as_posix()}:{'.'.join(inside)}"
            yield from walk(child, inside)

    yield from walk(tree, ())


def test_every_reader_of_the_source_is_listed() -> None:
    """A new one gets a line in `COVERED`, and mutations of a good file in `READERS` unless there is a reason."""
    found = {place for path in sorted(SOURCE.rglob("*.py")) for place in _reading(path)}
    assert found - set(COVERED) == set(), "not listed"
    assert set(COVERED) - found == set(), "listed, but gone"
    named = {reason for reason in COVERED.values() if reason not in (WRITES, OWN) and ":" not in reason}
    unknown = {
        reason for reason in named if reason not in READERS and "tests/" not in reason and "itself" not in reason
    }
    assert unknown == set()
