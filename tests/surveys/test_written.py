"""A design as a file: what is written is read back, what was changed is found, what a device needs is all there."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sfumato import surveys as sv
from sfumato.errors import DesignChanged, InvalidArgument, SfumatoError, SourceNotFound, UnknownName
from sfumato.mechanisms import Geometric
from sfumato.surveys.design_file import _item, _question, content, digest, short, write
from sfumato.surveys.oracle import choose, variance

ANSWERS = [f"a{i}" for i in range(300)]
QUESTIONS = (
    sv.yes_no("smoker", 'Rauchen „Sie“ \\ or "not"? 日本', ["ja", "nein"], truth=0.5),
    sv.one_of("party", "Whom?", ANSWERS[:10], skip="private"),
    sv.one_of("shop", "Where?", ANSWERS),
    sv.several_of("symptoms", "Which?", ["cough", "fever", "rash"]),
    sv.several_of("drugs", "Which?", ANSWERS, most=2),
    sv.number("rent", "How much?", (Fraction(-1, 3), 1000)),
    sv.ordinal("mood", "How?", ["bad", "ok", "good"]),
)
VECTORS = json.loads((Path(__file__).parent / "vectors.json").read_text("utf-8"))


def survey(**more: Any) -> sv.Design:
    return sv.design("Health & more", QUESTIONS, epsilon=7, **more)


@pytest.mark.parametrize("ask", ["all", "one"])
@pytest.mark.parametrize(
    "oracles",
    [
        {},
        {"party": "unary", "shop": "hadamard", "symptoms": "every-box", "rent": "laplace", "mood": "subset"},
        {"party": "projective", "symptoms": "padded", "rent": "piecewise", "drugs": "one-box"},
    ],
)
def test_a_design_is_read_back_as_it_was_written(oracles: dict[str, str], ask: str, tmp_path: Path) -> None:
    made = survey(oracles=oracles, ask=ask, shares={"rent": 3})
    sv.save(made, tmp_path / "survey.toml")
    again = sv.load(tmp_path / "survey.toml")
    assert again == made and digest(again) == digest(made) and write(again) == write(made)
    assert all(item.oracle == oracle for item in again.items if (oracle := oracles.get(item.name)))


def test_the_hash_is_what_the_page_says() -> None:
    """SHA-256 of sorted, dense JSON in UTF-8: any language can work it out."""
    plain = content(survey())
    dense = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert digest(survey()) == hashlib.sha256(dense).hexdigest() and short(survey()) == digest(survey())[:16]
    told = VECTORS["hash"]
    dense = json.dumps(told["design"], sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert hashlib.sha256(dense).hexdigest() == told["sha256"]


def test_no_number_in_a_design_is_too_large_for_a_browser() -> None:
    """Whole numbers below 2**53 or texts; no float, nothing missing."""

    def check(value: Any) -> None:
        if isinstance(value, dict | list):
            for each in value.values() if isinstance(value, dict) else value:
                check(each)
        else:
            assert isinstance(value, str) or (type(value) is int and abs(value) < 1 << 53)

    check(content(survey()))
    check(content(survey(oracles={"rent": "laplace", "shop": "hadamard"})))


@pytest.mark.parametrize(
    "vector", VECTORS["vectors"], ids=lambda v: f"{v['question']['oracle']} {v['question']['epsilon']}"
)
def test_what_is_sent_for_given_draws_never_changes(vector: dict[str, Any]) -> None:
    """Answers that were collected must stay readable, and other programs must agree."""
    item = _item(vector["question"])
    for example in vector["examples"]:
        draws = [int(each) for each in example["draws"]]
        takes_one = item.oracle in ("response", "subset", "projective", "hadamard", "duchi", "piecewise")
        sent = item.mechanism.output(example["place"], draws[0] if takes_one else draws)  # type: ignore[union-attr]
        text = str(sent) if item.bits is None else sent.to_bytes((item.bits + 7) // 8, "little").hex()
        assert text == example["sent"]
        item.receive([text])


def test_every_oracle_has_its_examples() -> None:
    found = {vector["question"]["oracle"] for vector in VECTORS["vectors"]}
    assert found == {
        *[
            "response",
            "subset",
            "projective",
            "hadamard",
            "unary",
            "one-box",
            "every-box",
            "padded",
            "duchi",
            "piecewise",
        ]
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"bad"', '"worse"'),
        ('epsilon = "7"', 'epsilon = "8"'),
        ('odds = ["3", "1"]', 'odds = ["2", "1"]'),
        ('title = "Health & more"', 'title = "Health"'),
        ("order = 4", "order = 5"),
        ("modulus = 7", "modulus = 5"),
        ("share = 1\n", ""),
        ("share = 1\n", "share = 0\n"),
        ('skip = "private"', 'skip = "private"\nsize = 3'),
    ],
)
def test_a_design_that_was_changed_is_refused(old: str, new: str, tmp_path: Path) -> None:
    """Whatever was changed, and whether it would cost more or not."""
    text = write(survey())
    assert old in text
    (tmp_path / "survey.toml").write_text(text.replace(old, new, 1))
    with pytest.raises((DesignChanged, InvalidArgument)):
        sv.load(tmp_path / "survey.toml")


def test_odds_that_cost_more_are_refused_though_the_hash_is_right(tmp_path: Path) -> None:
    """Nobody can publish a design that promises less than it says."""
    plain = content(survey())
    plain["questions"][0]["odds"] = ["4", "1"]
    dense = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    text = write(survey()).replace(digest(survey()), hashlib.sha256(dense).hexdigest())
    (tmp_path / "survey.toml").write_text(text.replace('odds = ["3", "1"]', 'odds = ["4", "1"]'))
    with pytest.raises(InvalidArgument, match=r"odds must lie above 1 and not above e\*\*epsilon"):
        sv.load(tmp_path / "survey.toml")


def test_questions_that_cost_more_than_the_design_are_refused() -> None:
    item = choose(sv.yes_no("smoker"), Fraction(2))
    with pytest.raises(InvalidArgument, match=r"must cost at most the design's epsilon, 1; got 2"):
        sv.Design("Health", (item,), Fraction(1))
    with pytest.raises(InvalidArgument, match="must cost at most"):
        sv.Design("Health", (item, choose(sv.yes_no("other"), Fraction(2))), Fraction(3))
    sv.Design("Health", (item, choose(sv.yes_no("other"), Fraction(2))), Fraction(2), "one")


def test_a_draft_is_completed_and_frozen(tmp_path: Path) -> None:
    draft = tmp_path / "draft.toml"
    draft.write_text(
        "title = 'Health'\nepsilon = 1.5\n[[questions]]\nname = 'smoker'\nkind = 'yes-no'\ntruth = 0.5\n"
        "[[questions]]\nname = 'rent'\nkind = 'number'\nlow = 0\nhigh = 3000\nsteps = 60\noracle = 'laplace'\n"
    )
    with pytest.raises(InvalidArgument, match="got a draft; freeze it: sfumato survey design"):
        sv.load(draft)
    made = sv.load_draft(draft)
    assert [item.oracle for item in made.items] == ["response", "laplace"] and made.epsilon == Fraction(3, 2)
    assert isinstance(made.items[1].mechanism, Geometric)
    assert made.items[0].epsilon + made.items[1].epsilon == made.epsilon


def test_a_design_is_not_overwritten_by_another(tmp_path: Path) -> None:
    """Answers may have been collected with it."""
    file = tmp_path / "survey.toml"
    sv.save(survey(), file)
    sv.save(survey(), file)  # the same again
    with pytest.raises(InvalidArgument, match="must not be there already: answers may have been collected"):
        sv.save(survey(ask="one"), file)
    assert sv.load(file) == survey()
    sv.save(survey(ask="one"), file, force=True)
    assert sv.load(file) == survey(ask="one")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = [", "is not TOML"),
        ("format = 2\nquestions = []", "format must be 1"),
        ("title = 'x'", "questions must be listed"),
        ("color = 3", "unknown key 'color'"),
        ("[[questions]]\nname = 'a'\nkind = 'maybe'", "unknown kind 'maybe'"),
        ("[[questions]]\nname = 'a'\nkind = 'one-of'", "answers must be a list"),
        ("[[questions]]\nname = 'a'\nkind = 'yes-no'\nodds = ['3', '1']", "a draft must leave out odds"),
        ("[[questions]]\nkind = 'yes-no'", "a question must have a name"),
    ],
)
def test_a_file_that_is_no_design_is_refused_with_its_place(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "draft.toml").write_text(text)
    with pytest.raises(SfumatoError, match=words):
        sv.load_draft(tmp_path / "draft.toml")


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(SourceNotFound, match=r"no design at 'nowhere\.toml'"):
        sv.load("nowhere.toml")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sv.yes_no("a", keep=0.5), "keep must be above one half"),
        (lambda: sv.yes_no("a", keep=1), "keep must be above 0 and below 1"),
        (lambda: sv.yes_no("a", truth=0), "truth must be above 0 and below 1"),
        (lambda: sv.yes_no("a", truth=-0.1), "truth must be"),
        (lambda: sv.yes_no("a", truth=0.5, keep=0.7), "got both"),
        (lambda: sv.yes_no("a", "?", ["x", "y", "z"]), "answers must be two"),
        (lambda: sv.one_of("a", "?", ["x"]), "two or more different"),
        (lambda: sv.one_of("a", "?", ["x", "x"]), "two or more different"),
        (lambda: sv.one_of("a b", "?", ["x", "y"]), "a question's name must be"),
        (lambda: sv.one_of("design", "?", ["x", "y"]), "none of design"),
        (lambda: sv.one_of("a", "?\n!", ["x", "y"]), "printable texts of one line"),
        (lambda: sv.one_of("a", "?", [" x", "y"]), "no blanks at their ends"),
        (lambda: sv.one_of("a", "?", ["x", "y"], skip="secret"), "skip must be"),  # type: ignore[arg-type]
        (lambda: sv.several_of("a", "?", ["x;y", "z"]), "which stands between"),
        (lambda: sv.several_of("a", "?", ["x", "y"], most=3), "most must be at most"),
        (lambda: sv.number("a", "?", (3, 3)), "bounds must be a low and a high one"),
        (lambda: sv.number("a", "?", (0, 10), step=3), "step must divide"),
        (lambda: sv.design("x", [sv.yes_no("a")]), "epsilon must be given"),
        (lambda: sv.design("x", [sv.yes_no("a"), sv.yes_no("A")], 1), "got a name twice"),
        (lambda: sv.design("x", [sv.yes_no("a", truth=0.5), sv.yes_no("b")], 1), "must leave something for b"),
        (lambda: sv.design("x", [sv.yes_no("a")], 1, shares={"b": 1}), "shares: unknown question 'b'"),
        (lambda: sv.design("x", [sv.yes_no("a")], 1, shares={"a": 0}), "share must be a whole number of at least 1"),
        (lambda: sv.design("x", [sv.yes_no("a")], 1, oracles={"a": "duchi"}), "unknown oracle 'duchi'"),
        (lambda: sv.design("x", [sv.yes_no("a")], 1, ask="some"), "ask must be"),  # type: ignore[arg-type]
        (lambda: sv.design("x", [sv.yes_no("a")], odds=1), "odds must be above 1"),
        (lambda: sv.design("x", [sv.yes_no("a")], 1, odds=3), "odds or epsilon must be given, not both"),
        (lambda: sv.design("", [sv.yes_no("a")], 1), "title must be"),
    ],
)
def test_a_design_that_cannot_be_meant_is_refused(make: Any, words: str) -> None:
    with pytest.raises((InvalidArgument, UnknownName), match=words):
        make()


@pytest.mark.parametrize(
    ("answers", "epsilon"), [(2, 1), (3, 0.5), (10, 1), (10, 3), (60, 1), (200, 2), (1000, 1), (5000, 0.5)]
)
def test_the_mechanism_of_least_variance_is_chosen(answers: int, epsilon: float) -> None:
    """Among those of eight bytes; and it is never far behind the bits, which are longer."""
    question, cost = sv.one_of("a", "?", [f"x{i}" for i in range(answers)]), Fraction(str(epsilon))
    chosen = choose(question, cost)
    for oracle in ("response", "projective", "hadamard", *(["subset"] if answers < 64 else [])):
        assert variance(chosen) <= variance(choose(question, cost, oracle))
    assert variance(chosen) <= variance(choose(question, cost, "unary")) * Fraction(102, 100)
    assert chosen.bits is None


def test_the_known_figures_of_ten_and_a_thousand_answers() -> None:
    ten, thousand = (
        choose(sv.one_of("a", "?", ANSWERS[:10]), Fraction(1)),
        choose(sv.one_of("a", "?", [f"x{i}" for i in range(1000)]), Fraction(1)),
    )
    assert ten.oracle == "subset" and float(variance(ten)) == pytest.approx(2.910, abs=1e-3)
    assert thousand.oracle == "projective" and float(variance(thousand)) == pytest.approx(3.686, abs=1e-3)
    assert _question({"name": "a", "kind": "yes-no"}) == sv.yes_no("a")
