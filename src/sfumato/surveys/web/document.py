"""The page and the sheet as documents: every text of the design is escaped, and nothing is loaded from anywhere.

The scripts and the style lie beside this file. The policy of a page admits them alone, by their hashes, and one address
to send to where the owner gave one. Without scripts a page asks nothing: its questions start locked.
"""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path

from sfumato.errors import InvalidArgument
from sfumato.input_files import holds, printable
from sfumato.phrases import Option, Phrase
from sfumato.surveys import design_file as written
from sfumato.surveys.design import Design
from sfumato.surveys.question import Number
from sfumato.surveys.web.asked import fieldset
from sfumato.surveys.web.collector import read_collector
from sfumato.surveys.web.files import embedded, escape, filled, read
from sfumato.surveys.web.promise import odds
from sfumato.surveys.web.sheet import about_paper, sheet
from sfumato.surveys.web.words import ENGLISH, Words, read_language, read_words

MOST_LISTED = 5_000  # answers that a page lists; more make it slow on a phone
_SCRIPTS = ("randomize.js", "visit.js", "trial.js")
_LONGEST = 100  # characters of a period


def page(
    survey: Design,
    path: str | Path,
    *,
    collect: str | None = None,
    period: str | None = None,
    language: str | None = None,
    words: str | Path | None = None,
    force: bool = False,
) -> Path:
    """Write a survey as one page that works offline: the browser randomizes, and shows what is sent before it is.

    survey      the design
    path        the file to write, for example survey.html; another one there is replaced only by force
    collect     the https address that a respondent may send the report to; left out: it is copied or downloaded
    period      a label, "2027", of the time in which a browser that is asked again sends the same report again
    language    of the survey's own texts, for example "de"; that of the words, unless said
    words       a file with what the page says around them; left out: English. `sf.survey.words` writes one to translate
    """
    text = page_text(survey, collect=collect, period=period, language=language, words=words)
    return _write(path, text, force)


def paper(
    survey: Design,
    path: str | Path,
    *,
    language: str | None = None,
    words: str | Path | None = None,
    force: bool = False,
) -> Path:
    """Write the sheet of paper alone, for a printer: people answer with a coin or a die, without any device.

    survey      a design with questions for two coins or a die: such as yes or no at odds of 3 (truth=0.5)
    path        the file to write, for example sheet.html; another one there is replaced only by force
    language    of the survey's own texts; that of the words, unless said
    words       a file with what the sheet says around them; left out: English
    """
    return _write(path, paper_text(survey, language=language, words=words), force)


def page_text(
    survey: Design,
    *,
    collect: str | None = None,
    period: str | None = None,
    language: str | None = None,
    words: str | Path | None = None,
) -> str:
    """The text of the page."""
    address = None if collect is None else read_collector(collect)
    label = None if period is None else _read_period(period)
    said = read_words(words)
    spoken, digits = _spoken(language, said), written.digest(survey)
    _check_lists(survey)
    on_paper = sheet(survey, spoken, said)
    questions = (fieldset(i, item, spoken, said, is_counted=survey.ask == "all") for i, item in enumerate(survey.items))
    sender = f'<button type="button" id="send" class="main">{said.html("send")}</button>\n'
    body = filled(
        "visit.html",
        **said.escaped("page"),
        title=escape(survey.title),
        language=spoken,
        overall=escape(_overall(survey, said)),
        remembering=_remembering(label, said),
        questions="\n".join(questions),
        sender="" if address is None else sender,
        paper=about_paper(survey, said),
        where=_where(address, said),
        hash=digits,
        published=said.html("published", epsilon=f"{float(survey.epsilon):.4g}"),
        sheet=on_paper,
    )
    data = {"design": written.content(survey), "hash": digits, "collect": address, "period": label}
    data["words"] = {**said.script, "you_answered": said.text("you_answered"), "sent": said.text("sent")}
    scripts = '"use strict";\n' + "".join(map(read, _SCRIPTS))
    body += f'\n<script type="application/json" id="survey">{embedded(data)}</script>\n<script>{scripts}</script>'
    kind = "has-sheet" if on_paper else "no-sheet"
    return _document(survey.title, body, said, kind=kind, scripts=scripts, reach=address)


def paper_text(survey: Design, *, language: str | None = None, words: str | Path | None = None) -> str:
    """The text of the sheet."""
    said = read_words(words)
    body = sheet(survey, _spoken(language, said), said)
    if not body:
        why = "draws each person's question" if survey.ask == "one" else "has no question with such chances"
        raise InvalidArgument(
            f"a survey on paper must have questions for two coins or a die; got one that {why}; ask by yes or "
            "no at odds of 3, which two coins answer"
        )
    return _document(survey.title, body, said, kind="sheet-only")


def words(path: str | Path = "words.toml", *, force: bool = False) -> Path:
    """Write what a page and a sheet say, in English, to be translated; then give the file as `words=`.

    path    the file to write; another one there is replaced only by force
    """
    return _write(path, read(ENGLISH), force, ending=(".toml",))


def _document(title: str, body: str, said: Words, *, kind: str, scripts: str = "", reach: str | None = None) -> str:
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
    parts = {"title": escape(title), "style": style, "kind": kind, "body": body, "attributes": said.attributes}
    return filled("page.html", policy="; ".join(rules), **parts)


def _overall(survey: Design, said: Words) -> str:
    if len(survey.items) == 1:
        return said.text("overall_one")
    told = odds(survey.epsilon, said)
    if survey.ask == "one":
        return said.text("overall_drawn", **told)
    if len(survey.items) == 2:
        return said.text("overall_two", **told)
    return said.text("overall_all", count=len(survey.items), **told)


def _remembering(period: str | None, said: Words) -> str:
    if period is None:
        return ""
    named = f'<span dir="auto">{escape(period)}</span>'
    return f'<p class="notice good">{said.html("period", period=named)}</p>'


def _where(address: str | None, said: Words) -> str:
    if address is None:
        return said.html("one_file")
    return said.html("one_file_sends", address=f'<code dir="ltr">{escape(address)}</code>')


def _check_lists(survey: Design) -> None:
    for item in survey.items:
        if not isinstance(item.question, Number) and len(item.question.answers) > MOST_LISTED:
            raise InvalidArgument(
                f"{item.name} must have at most {MOST_LISTED:,} answers to be asked on a page; got "
                f"{len(item.question.answers):,}; group them, or randomize elsewhere"
            )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _spoken(language: str | None, said: Words) -> str:
    """The attribute of the survey's own texts where their language is another than that of the page."""
    own = said.language if language is None else read_language(language)
    return "" if own == said.language else f' lang="{own}"'


def _read_period(period: str) -> str:
    if not isinstance(period, str) or not period.strip() or not period.isprintable() or len(period) > _LONGEST:
        raise InvalidArgument(f"period must be a label of one line; got {period!r}; for example '2027'")
    return period


def _write(path: str | Path, text: str, force: bool, ending: tuple[str, ...] = (".html", ".htm")) -> Path:
    file = Path(path)
    if file.suffix.lower() not in ending:
        raise InvalidArgument(f"it must be written to a file that ends in {ending[0]}; got {file.name!r}; rename it")
    try:
        if not force and os.path.exists(file) and not holds(file, text):
            raise InvalidArgument(
                f"{file.name} must not be there already; got another file",
                fix=Phrase("choose another name, or ", Option("force", True)),
            )
        file.write_text(text, "utf-8", newline="\n")  # the hashes of the policy are those of these lines
    except OSError as error:
        raise InvalidArgument(f"{file.name} cannot be written: {error.strerror}; choose another folder") from None
    except ValueError as error:  # a name that no file has
        raise (
            error
            if isinstance(error, InvalidArgument)
            else InvalidArgument(f"{printable(file.name)} cannot be written: no file has such a name; choose another")
        ) from None
    return file
