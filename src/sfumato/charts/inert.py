r"""Texts of a chart that are no markup wherever the chart goes.

A chart is a description in JSON, and Altair writes that into a script of a page as it is: `</script>` in the name of a
column would end the script there, and what follows would run. So no text of a chart begins a tag or a comment.

>>> inert("</script>").encode("unicode_escape")
b'<\\u2060/script>'
>>> inert("age < 30, <= 5")
'age < 30, <= 5'
"""

from __future__ import annotations

import re

_JOINER = "\N{WORD JOINER}"  # of no width, and drawn as nothing
_BEGIN = re.compile(r"<(?=[a-z/!?])", re.IGNORECASE)


def inert(text: str) -> str:
    """The text, which looks the same, with a sign of no width behind a `<` that would begin markup."""
    return _BEGIN.sub(f"<{_JOINER}", text)
