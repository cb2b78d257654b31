"""A mechanism of one's own, by module and name: my_module:my_mechanism."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from pathlib import Path
from typing import Any

from sfumato.audit.draw import words
from sfumato.errors import InvalidArgument, MechanismFailed, UnknownName
from sfumato.suggestions import nearest


def load(text: str) -> Any:
    """What a module calls by this name; modules are looked for in this folder first."""
    module_name, _, name = text.partition(":")
    if module_name.endswith(".py"):
        right = f"{module_name.removesuffix('.py').replace('/', '.')}:{name or 'NAME'}"
        raise InvalidArgument(f"a mechanism of your own must be module:name, not a file; got {text!r}; write {right}")
    if not all(part.isidentifier() for part in (*module_name.split("."), *name.split("."))):
        raise InvalidArgument(f"a mechanism of your own must be module:name; got {text!r}; for example noise:my_count")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    found: Any = _module(module_name)
    for part in name.split("."):
        if not hasattr(found, part):
            known = [each for each in vars(found) if not each.startswith("_")] if hasattr(found, "__dict__") else []
            raise UnknownName(f"{module_name} has no {name!r}; {nearest(part, known)}")
        found = getattr(found, part)
    return found


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            here = sorted(file.stem for file in Path.cwd().glob("*.py"))
            like = difflib.get_close_matches(name, here, n=1)
            hint = f"did you mean {like[0]!r}?" if like else "check the name, or go to its folder"
            raise InvalidArgument(
                f"module {name!r} must be in this folder or installed; it was not found; {hint}"
            ) from None
        raise MechanismFailed(f"module {name!r} must import; it needs {error.name!r}; install that first") from error
    except (Exception, SystemExit) as error:
        raise MechanismFailed(
            f"module {name!r} must import; it raised {words(error)}; run it by itself first"
        ) from error
