"""How the command line spells the terms of a message: as options, commands and lines of the project file.

>>> from sfumato.phrases import Phrase
>>> in_shell(Phrase("give ", Option("delta", 1e-9), ", or leave ", Option("noise"), " out"))
'give --delta 1e-9, or leave --noise out'
>>> in_shell(Phrase("declare ", Setting("type", "double")))
"declare type = 'double'"
"""

from __future__ import annotations

import json
import re
from typing import Any

from sfumato.phrases import Action, ColumnSetting, Dates, Option, Phrase, Setting, Term, number

# Options that the command line has under another name, or with another value.
OPTIONS = {
    "patience": Option("yes"),
    "sums": Option("sum"),
}
# What a call of Python is on the command line.
COMMANDS = {
    "quote(..., epsilon=0.5)": "give --epsilon 0.5",
    "give it, or write the value": "write the value",
    "an answer has to_csv, to_pandas and more": "--output writes an answer to a file",
    "restore it into a new ledger, or merge it: ledger.merge(backup)": "merge it: sfumato ledger merge FILE",
    "ledger.backup(path)": "sfumato ledger backup FILE",
    "ledger.grant(...)": "sfumato budget grant",
    "ledger.grant(population, budget)": "sfumato budget apply",
    "ledger.reconcile()": "sfumato ledger reconcile",
    "ledger.entries()": "sfumato ledger show",
    "Ledger.restore(backup, into)": "sfumato ledger restore FILE",
    "through('orders', on='order_id')": "unit = { through = 'orders', on = 'order_id' }",
    "Curator(budget=...)": "sfumato.toml",
    "mend it (pandas: to_csv(index=False))": "mend it",
}
_LEDGER = "url = {} below [ledger] in sfumato.toml"
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")


def in_shell(text: str) -> str:
    """A message in the words of the command line."""
    return text.spelled(_spelled) if isinstance(text, Phrase) else text


def _spelled(term: Term) -> str:
    match term:
        case Option(name, value):
            return _option(OPTIONS.get(name, term))
        case Setting("ledger", value):
            return _LEDGER.format(_toml(value))
        case Setting():
            return _line(term)
        case ColumnSetting(column, settings):
            name = column if _PLAIN.fullmatch(column) else json.dumps(column, ensure_ascii=False)
            lines = ", ".join(map(_line, settings))
            return f"in sfumato.toml, below [tables.NAME.columns]:\n    {name} = {{ {lines} }}"
        case Action(python):
            return COMMANDS[python]


def _option(option: Option) -> str:
    flag = f"--{option.name.replace('_', '-')}"
    match option.value:
        case None | True:
            return flag
        case list() as names:
            return f"{flag} {','.join(map(str, names))}"
        case tuple() as pair:
            return f"{flag} {':'.join(map(str, pair))}"
        case float() as value:
            return f"{flag} {number(value)}"
    return f"{flag} {option.value}"


def _line(setting: Setting) -> str:
    if isinstance(setting.value, Dates):
        return f"dates = [{_toml(setting.value.first)}, {_toml(setting.value.last)}]"
    return f"{setting.name} = {_toml(setting.value)}"


def _toml(value: Any) -> str:
    """A value of an example, in TOML."""
    match value:
        case str():
            return f"'{value}'" if "'" not in value else json.dumps(value, ensure_ascii=False)
        case dict():
            return f"{{ {', '.join(f'{name} = {_toml(each)}' for name, each in value.items())} }}"
        case list() | tuple():
            return f"[{', '.join(map(_toml, value))}]"
    return str(value)
