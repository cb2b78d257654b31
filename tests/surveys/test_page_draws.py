"""The script of a survey's page: the reports of `vectors.json`, the draws of the device, exact distributions."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import exp

import pytest
from playwright.sync_api import Page

import sfumato as sf
from browser import started, visited
from sfumato.mechanisms import BlockResponse, Hyperplanes, Subsets
from sfumato.mechanisms.local.field import field
from sfumato.mechanisms.local.scale import Scale
from surveys.pages import SENT, VECTORS, every_kind, ready

# Every byte that a device may draw, one after the other; then it has none.
ALL_BYTES = """(n) => {
  let next = 0;
  const kept = crypto.getRandomValues;
  crypto.getRandomValues = (bytes) => {
    if (next === 256) throw new Error("no more");
    return bytes.fill(next++);
  };
  const counts = {};
  try {
    for (;;) {
      const drawn = String(Randomize.below(BigInt(n)));
      counts[drawn] = (counts[drawn] ?? 0) + 1;
    }
  } catch (error) {
    if (error.message !== "no more") throw error;
  } finally {
    delete crypto.getRandomValues;
  }
  return counts;
}"""

GIVEN_BYTES = """([n, given]) => {
  const asked = [];
  crypto.getRandomValues = (bytes) => { asked.push(bytes.length); bytes.set(given.splice(0, bytes.length)); };
  try {
    return [String(Randomize.below(BigInt(n))), asked, given.length];
  } finally {
    delete crypto.getRandomValues;
  }
}"""

# All ways to draw, each with its probability, but those that are less likely than `least`.
TREE = """([question, place, least]) => {
  const table = {};
  let cut = 0;
  const walk = (draws, chance) => {
    if (chance < least) { cut += chance; return; }
    let used = 0, wanted = 0n;
    const below = (n) => {
      if (used < draws.length) return draws[used++];
      wanted = n;
      throw "more";
    };
    try {
      const sent = Randomize.send(question, place, below);
      table[sent] = (table[sent] ?? 0) + chance;
    } catch (more) {
      if (more !== "more") throw more;
      for (let each = 0n; each < wanted; each++) walk([...draws, each], chance / Number(wanted));
    }
  };
  walk([], 1);
  return [table, cut];
}"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A page that was opened, for all tests here."""
    path = sf.survey.page(every_kind(), tmp_path_factory.mktemp("page") / "survey.html")
    with started() as browser, visited(browser, path) as (opened, amiss):
        ready(opened)
        yield opened
        assert amiss == []


def test_every_vector_gives_its_report(page: Page) -> None:
    """All oracles: the page sends what Python sends, bit for bit."""
    examples = [
        [each["question"], example["place"], example["draws"], example["sent"]]
        for each in VECTORS["vectors"]
        for example in each["examples"]
    ]
    assert len(examples) > 150 and {each[0]["oracle"] for each in examples} >= {"projective", "padded", "unary"}
    sent = page.evaluate(f"(examples) => examples.map({SENT})", [each[:3] for each in examples])
    assert sent == [each[3] for each in examples]


def test_the_hash_of_a_design_is_that_of_python(page: Page) -> None:
    """Of umlauts, quotes and signs of other scripts too."""
    assert page.evaluate("(design) => Randomize.digest(design)", VECTORS["hash"]["design"]) == VECTORS["hash"]["sha256"]


@pytest.mark.parametrize("blocks", [Hyperplanes(8, 3), Hyperplanes(9, 3), Hyperplanes(27, 2), Hyperplanes(13, 2),
                                    Hyperplanes(2, 6), Subsets(5)], ids=str)  # fmt: skip
def test_other_spaces_send_what_python_sends(page: Page, blocks: Hyperplanes | Subsets) -> None:
    """Fields of prime powers beyond those of the vectors; 200 draws each, and the ends."""
    count, source = 14, random.Random(5)
    mechanism = BlockResponse(1.1, range(count), blocks, odds=3)
    settings = blocks.settings() | ({"modulus": field(blocks.order).modulus} if isinstance(blocks, Hyperplanes) else {})
    question = {"kind": "one-of", "answers": ["?"] * count, "skip": "public", "oracle": blocks.name,
                "odds": ["3", "1"], **settings}  # fmt: skip
    total = mechanism.levels.total
    cases = [(place, drawn) for place in range(count) for drawn in (0, total - 1)]
    cases += [(source.randrange(count), source.randrange(total)) for _ in range(200)]
    sent = page.evaluate(
        f"([question, cases]) => cases.map(([place, drawn]) => ({SENT})([question, place, [drawn]]))",
        [question, [[place, str(drawn)] for place, drawn in cases]],
    )
    assert sent == [str(mechanism.output(place, drawn)) for place, drawn in cases]


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 7, 8, 100, 129, 200, 255, 256])
def test_a_draw_is_uniform(page: Page, n: int) -> None:
    """Of all bytes each number below n comes from equally many, and the rest are drawn anew."""
    if n == 1:
        assert page.evaluate(GIVEN_BYTES, ["1", []]) == ["0", [], 0]
        return
    bits = (n - 1).bit_length()
    assert page.evaluate(ALL_BYTES, str(n)) == {str(i): 256 >> bits for i in range(n)}


def test_a_draw_takes_as_many_bits_as_it_needs_and_draws_anew(page: Page) -> None:
    """Seven and five are refused below five; more than 64 bits are whole bytes, of which the highest are masked."""
    assert page.evaluate(GIVEN_BYTES, ["5", [0b111, 0b11111101, 0b11111100, 9]]) == ["4", [1, 1, 1], 1]
    large = 2**64 + 1
    given = [0xFF, *[0] * 7, 1, 0xFE, *[0] * 6, 1, 2]  # 2**64 + 1 is too large; then 258
    assert page.evaluate(GIVEN_BYTES, [str(large), given]) == ["258", [9, 9], 0]
    assert page.evaluate(GIVEN_BYTES, [str(2**64), [1, 2, 3, 4, 5, 6, 7, 8]])[0] == str(0x0102030405060708)


def test_laplace_noise_has_its_distribution(page: Page) -> None:
    """Every way to draw is followed; what is cut off bounds what may be missing."""
    question = {"kind": "number", "low": "0", "high": "1", "steps": 1, "epsilon": "1", "oracle": "laplace"}
    table, cut = page.evaluate(TREE, [question, 0, 1e-5])
    assert 0 < cut < 0.05
    assert sum(table.values()) + cut == pytest.approx(1, abs=1e-9)
    for noise in range(-4, 5):
        exact = (1 - exp(-1)) / (1 + exp(-1)) * exp(-abs(noise))
        assert exact - cut <= table[str(noise)] <= exact + 1e-9


@pytest.mark.parametrize(("epsilon", "steps"), [("1", 60), ("1/3", 7), ("2.5", 1000), ("0.75", 3)])
def test_laplace_noise_is_drawn_as_the_page_about_reports_says(page: Page, epsilon: str, steps: int) -> None:
    """Written down in Python from docs/concepts/what-a-respondent-sends.md; the same draws give the same report."""
    source, cases = random.Random(7), []
    for place in range(steps + 1) if steps < 10 else (0, 3, steps):
        for _ in range(20):
            drawn: list[int] = []

            def below(n: int, drawn: list[int] = drawn) -> int:
                drawn.append(source.randrange(n))
                return drawn[-1]

            cases.append((place, str(place + laplace(Fraction(epsilon), steps, below)), list(map(str, drawn))))
    question = {"kind": "number", "low": "0", "high": "1", "steps": steps, "epsilon": epsilon, "oracle": "laplace"}
    sent = page.evaluate(f"(cases) => cases.map({SENT})", [[question, place, draws] for place, _, draws in cases])
    assert sent == [expected for _, expected, _ in cases]
    assert len(set(sent)) > 10


def laplace(epsilon: Fraction, steps: int, below: Callable[[int], int]) -> int:
    def coin(n: int, d: int) -> bool:
        c = 1
        while below(d * c) < n:
            c += 1
        return c % 2 == 1

    a, b = epsilon.as_integer_ratio()
    while True:
        U = below(steps * b)
        if not coin(U, steps * b):
            continue
        V = 0
        while coin(1, 1):
            V += 1
        Y, sign = (U + steps * b * V) // a, below(2)
        if not (sign and Y == 0):
            return -Y if sign else Y


def test_a_question_is_drawn_by_its_share(page: Page) -> None:
    """Each number that may be drawn leads to one question, as many as its share."""
    questions = [{"name": name, "share": share} for name, share in (("a", 2), ("b", 1), ("c", 3))]
    script = "([questions, u]) => Randomize.drawn(questions, (n) => (n === 6n ? BigInt(u) : -1n)).name"
    assert "".join(page.evaluate(script, [questions, u]) for u in range(6)) == "aabccc"


@pytest.mark.parametrize(("low", "high", "steps"), [("0", "3000", 60), ("-1/3", "1000", 1000), ("-5", "5", 7)])
def test_a_number_has_the_place_that_python_gives_it(page: Page, low: str, high: str, steps: int) -> None:
    """Exactly, with halves rounded up; outside of the bounds there is none."""
    scale = Scale.read((Fraction(low), Fraction(high)), steps)
    question = {"low": low, "high": high, "steps": steps}
    texts = [f"{each / 7:.3f}" for each in range(35)] + ["0", "2.5", "-0.2", "25", "75", "1000", "5", "-5", "3000"]
    inside = [text for text in texts if scale.low <= Fraction(text) <= scale.high]
    places = page.evaluate("([texts, q]) => texts.map((text) => Randomize.placeOf(text, q))", [inside, question])
    assert places == [scale.place(Fraction(text)) for text in inside] and len(inside) > 20
    outside = ["-6", "3001", "1e3", "12,5", "", "NaN", "0x10", "1/2/3", "--1"]
    places = page.evaluate("([texts, q]) => texts.map((text) => Randomize.placeOf(text, q))", [outside, question])
    assert places == [None] * len(outside)


def test_what_a_page_sends_is_estimated_by_python(page: Page) -> None:
    """20,000 made-up people, 30 % of whom smoke: the interval misses that once in a million runs.

    Its half-width is 0.034 and the standard error 0.007, so that it reaches 20 % or 40 % less than once in 10^18 runs.
    """
    survey = sf.survey.design("Health", [sf.survey.yes_no("smoker", truth=0.5)])
    asked = {"kind": "yes-no", "answers": ["yes", "no"], "skip": "public", "oracle": "response", "odds": ["3", "1"]}
    sent = page.evaluate(
        "(q) => Array.from({ length: 20000 }, (_, i) => Randomize.send(q, i < 6000 ? 0 : 1, Randomize.below))", asked
    )
    found = sf.survey.estimate(survey, {"smoker": sent}, confidence=1 - 1e-6).results["smoker"].rows[0]
    assert 0.2 < found.interval[0] <= 0.3 <= found.interval[1] < 0.4
