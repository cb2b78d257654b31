"""To add a command takes its file and its line in `cli/__init__.py`."""

from __future__ import annotations

from pathlib import Path

from recipes.house import House

FILE = '''"""`sfumato hello`: greet."""

from __future__ import annotations

from sfumato.cli._shared.command import Command
from sfumato.cli._shared.screen import output, say
from sfumato.errors import InvalidArgument


def hello(name: str = "you") -> None:
    """Greet somebody."""
    if not name:
        raise InvalidArgument("name must not be empty; got nothing; give --name anna")
    say(output(), f"Hello, {name}.")


COMMANDS = (Command(hello, ("sfumato hello --name anna",)),)
'''


def test_a_command_is_its_file_and_its_line(tmp_path: Path) -> None:
    """It is in the help, has its examples, and its refusals leave with the exit code of all commands."""
    house = House(tmp_path)
    house.add("cli/hello.py", FILE)
    house.insert("cli/__init__.py", '    "sfumato.cli.migrate",', '    "sfumato.cli.hello",')
    assert house.touched == {"cli/hello.py", "cli/__init__.py"}
    assert house.run("-m", "sfumato", "hello", "--name", "anna").stdout == "Hello, anna.\n"
    assert "Greet somebody." in house.run("-m", "sfumato", "--help").stdout
    assert "sfumato hello --name anna" in house.run("-m", "sfumato", "hello", "--help").stdout
    refused = house.run("-m", "sfumato", "hello", "--name", "")
    assert (refused.returncode, refused.stdout) == (2, "") and "name must not be empty" in refused.stderr
