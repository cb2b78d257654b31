"""The page and the sheet as documents: every text of the design is escaped, and nothing is loaded from anywhere.

The scripts and the style lie beside this file. The policy of a page admits them alone, by their hashes, and one address
to send to where the owner gave one. Without scripts a page asks nothing: its questions start locked.
"""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

from sfumato.errors import InvalidArgument
from sfumato.surveys import written
from sfumato.surveys.design import Design
from sfumato.surveys.question import Number
from sfumato.surveys.web.asked import fieldset
from sfumato.surveys.web.collector import read_collector
from sfumato.surveys.web.files import embedded, escape, filled, read
from sfumato.surveys.web.promise import said_odds
from sfumato.surveys.web.sheet import about_paper, sheet

MOST_LISTED = 5_000  # answers that a page lists; more make it slow on a phone
_SCRIPTS = ("randomise.js", "visit.js", "trial.js")
_LANGUAGE = re.compile(r"[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8})*")
_LONGEST = 100  # characters of a period


def page(
    survey: Design,
    path: str | Path,
    *,
    collect: str | None = None,
    period: str | None = None,
    language: str = "en",
    force: bool = False,
) -> Path:
    """Write a survey as one page that works offline: the browser randomises, and shows what is sent before it is.

    survey      the design
    path        the file to write, for example survey.html; another one there is replaced only by force
    collect     the https address that a respondent may send the report to; left out: it is copied or downloaded
    period      a label, "2027", of the time in which a browser that is asked again sends the same report again
    language    of the survey's own texts, for example "de"; the page around them is in English
    """
    return _write(path, page_text(survey, collect=collect, period=period, language=language), force)


def paper(survey: Design, path: str | Path, *, language: str = "en", force: bool = False) -> Path:
    """Write the sheet of paper alone, for a printer: people answer with a coin or a die, without any device.

    survey      a design with questions for two coins or a die: such as yes or no at odds of 3 (truth=0.5)
    path        the file to write, for example sheet.html; another one there is replaced only by force
    language    of the survey's own texts
    """
    return _write(path, paper_text(survey, language=language), force)


def page_text(survey: Design, *, collect: str | None = None, period: str | None = None, language: str = "en") -> str:
    """The text of the page."""
    address = None if collect is None else read_collector(collect)
    label = None if period is None else _read_period(period)
    spoken, digits = _read_language(language), written.digest(survey)
    _check_lists(survey)
    on_paper = sheet(survey, spoken)
    questions = (fieldset(i, item, spoken, is_counted=survey.ask == "all") for i, item in enumerate(survey.items))
    body = filled(
        "visit.html",
        title=escape(survey.title),
        language=spoken,
        overall=escape(_overall(survey)),
        remembering=_remembering(label),
        questions="\n".join(questions),
        send="" if address is None else '<button type="button" id="send" class="main">Send</button>\n',
        paper=about_paper(survey),
        where=_where(address),
        hash=digits,
        epsilon=f"{float(survey.epsilon):.4g}",
        sheet=on_paper,
    )
    data = {"design": written.content(survey), "hash": digits, "collect": address, "period": label}
    scripts = '"use strict";\n' + "".join(map(read, _SCRIPTS))
    body += f'\n<script type="application/json" id="survey">{embedded(data)}</script>\n<script>{scripts}</script>'
    return _document(survey.title, body, kind="has-sheet" if on_paper else "no-sheet", scripts=scripts, reach=address)


def paper_text(survey: Design, *, language: str = "en") -> str:
    """The text of the sheet."""
    body = sheet(survey, _read_language(language))
    if not body:
        why = "draws each person's question" if survey.ask == "one" else "has no question with such chances"
        raise InvalidArgument(
            f"a survey on paper must have questions for two coins or a die; got one that {why}; ask by yes or "
            "no at odds of 3, which two coins answer"
        )
    return _document(survey.title, body, kind="sheet-only")


def _document(title: str, body: str, *, kind: str, scripts: str = "", reach: str | None = None) -> str:
    style = read("style.css")
    rules = [
        "default-src 'none'",
        "img-src data:",
        f"style-src '{_hash(style)}'",
        f"script-src '{_hash(scripts)}'" if scripts else "script-src 'none'",
        f"connect-src {reach}" if reach else "connect-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
    parts = {"title": escape(title), "style": style, "kind": kind, "body": body}
    return filled("page.html", policy="; ".join(rules), **parts)


def _overall(survey: Design) -> str:
    if len(survey.items) == 1:
        return "What exactly is promised stands below the question."
    words = said_odds(survey.epsilon, "your answers" if survey.ask == "all" else "your answer")
    together = "both questions together" if len(survey.items) == 2 else f"all {len(survey.items)} questions together"
    of = "the question that you are asked" if survey.ask == "one" else together
    return f"For {of}: {words[0].lower()}{words[1:]}"


def _remembering(period: str | None) -> str:
    if period is None:
        return ""
    return (
        '<p class="notice good">You may be asked again. In the period '
        f'“<span dir="auto">{escape(period)}</span>” this browser keeps what it sent, after chance changed it, and '
        "sends the same again; your answers are not kept. Others who use this browser could see that it took part, "
        "and what it sent.</p>"
    )


def _where(address: str | None) -> str:
    if address is None:
        return "it sends nothing: you hand over the report yourself"
    return f"it can send to <code>{escape(address)}</code> alone, when you press “Send”"


def _check_lists(survey: Design) -> None:
    for item in survey.items:
        if not isinstance(item.question, Number) and len(item.question.answers) > MOST_LISTED:
            raise InvalidArgument(
                f"{item.name} must have at most {MOST_LISTED:,} answers to be asked on a page; got "
                f"{len(item.question.answers):,}; group them, or randomise elsewhere"
            )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _read_language(language: str) -> str:
    if not isinstance(language, str) or not _LANGUAGE.fullmatch(language):
        raise InvalidArgument(f"language must be a tag such as 'en', 'de' or 'pt-BR'; got {language!r}; leave it out")
    return "" if language == "en" else f' lang="{language}"'


def _read_period(period: str) -> str:
    if not isinstance(period, str) or not period.strip() or not period.isprintable() or len(period) > _LONGEST:
        raise InvalidArgument(f"period must be a label of one line; got {period!r}; for example '2027'")
    return period


def _write(path: str | Path, text: str, force: bool) -> Path:
    file = Path(path)
    if file.suffix.lower() not in (".html", ".htm"):
        raise InvalidArgument(f"a page must be written to a file that ends in .html; got {file.name!r}; rename it")
    try:
        if not force and file.exists() and file.read_text("utf-8", "replace") != text:
            raise InvalidArgument(
                f"{file.name} must not be there already; got another file; choose another name, or force=True"
            )
        file.write_text(text, "utf-8", newline="\n")  # the hashes of the policy are those of these lines
    except OSError as error:
        raise InvalidArgument(f"{file.name} cannot be written: {error.strerror}; choose another folder") from None
    return file
