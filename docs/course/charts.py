"""The course's charts, all from exact probabilities and formulas: `python docs/course/charts.py` writes them anew.

Nothing in them is drawn at random, so the tests compare every stored picture with what its function draws today.
"""

from __future__ import annotations

import doctest
import itertools
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import Any

import altair

import sfumato as sf
from sfumato.charts import BLUE, GRAY, ORANGE, Bar, Names, over_bins

FOLDER = Path(__file__).resolve().parents[1] / "images"
GREEN, PURPLE = "#4f9a5b", "#8a5fa8"
COLORS = (BLUE, ORANGE, GREEN, PURPLE)
Curves = Mapping[str, Sequence[tuple[float, float]]]


def _curves(curves: Curves, title: str, along: str, up: str, *, subtitle: str = "", **options: Any) -> Any:
    """Lines by name; `log` names the axes that are logarithmic, `points` also marks each point."""
    rows = [{"x": x, "y": y, "of": name} for name, line in curves.items() for x, y in line]
    log = options.get("log", "")
    xs, ys = [row["x"] for row in rows], [row["y"] for row in rows]
    x_scale = altair.Scale(type="log" if "x" in log else "linear", nice=False, zero=False)
    y_scale = altair.Scale(type="log" if "y" in log else "linear", zero="y" not in log)
    base = altair.Chart(altair.InlineData(values=rows), title=_title(title, subtitle))
    return (
        base.mark_line(point=options.get("points", False), strokeWidth=2)
        .encode(
            x=altair.X(
                "x:Q",
                title=along,
                scale=x_scale,
                axis=_axis(xs, "x" in log, options.get("ticks", "~g" if "x" in log else ",~f")),
            ),
            y=altair.Y("y:Q", title=up, scale=y_scale, axis=_axis(ys, "y" in log, "~g" if "y" in log else ",~f")),
            color=_color(curves),
        )
        .properties(width=480, height=280)
    )


def _axis(values: Sequence[float], is_log: bool, form: str) -> Any:
    """Ticks; on a logarithmic axis at the powers of ten only."""
    if not is_log:
        return altair.Axis(format=form)
    powers = range(math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))) + 1)
    return altair.Axis(format=form, values=[10.0**power for power in powers])


def _bars(bars: Mapping[str, Mapping[Any, float]], title: str, along: str, up: str, *, subtitle: str = "") -> Any:
    """Bars beside each other: for each name a value by label."""
    rows = [{"label": str(label), "y": y, "of": name} for name, side in bars.items() for label, y in side.items()]
    return (
        altair.Chart(altair.InlineData(values=rows), title=_title(title, subtitle))
        .mark_bar()
        .encode(
            x=altair.X("label:N", title=along, sort=None, axis=altair.Axis(labelAngle=0)),
            xOffset=altair.XOffset("of:N", sort=None),
            y=altair.Y("y:Q", title=up, axis=altair.Axis(format=",~f")),
            color=_color(bars),
        )
        .properties(width=480, height=280)
    )


def _color(names: Mapping[str, Any]) -> Any:
    """One for each name, told below the picture if there are several."""
    scale = altair.Scale(domain=list(names), range=COLORS[: len(names)])
    legend = altair.Legend(orient="bottom", columns=2, labelLimit=400) if len(names) > 1 else None
    return altair.Color("of:N", title=None, sort=None, scale=scale, legend=legend)


def _title(title: str, subtitle: str) -> Any:
    return altair.TitleParams(title, subtitle=[subtitle] if subtitle else [], subtitleColor=GRAY, anchor="start")


def two_worlds() -> Any:
    """What may be published with Ada in the data and without her: exactly, and with noise."""
    count = sf.mechanisms.Geometric(sensitivity=1, epsilon=0.5)
    worlds = {"with Ada: 42": 42, "without Ada: 41": 41}
    bars = {
        name: {output: math.exp(count.log_probability(output, true)) for output in range(34, 50)}
        for name, true in worlds.items()
    }
    return _bars(
        bars, "A noisy count of the ill, in two worlds", "published number", "probability",
        subtitle="epsilon 0.5: no bar is more than 1.65 times its neighbor",
    )  # fmt: skip


def local_and_central() -> Any:
    """How far an estimated share is off: each person perturbs an answer, or a curator adds noise once."""
    people = [10**k for k in range(2, 7)]
    coin = sf.mechanisms.RandomizedResponse.truth_or_coin()
    count = sf.mechanisms.Laplace(sensitivity=1, epsilon=math.log(3))
    return _curves(
        {
            "each person tosses coins": [(n, coin.sum_error(n) / n) for n in people],
            "a curator adds noise once": [(n, count.deviation / n) for n in people],
        },
        "Noise in an estimated share, both at epsilon ln 3", "people", "standard deviation of the share",
        log="xy", points=True, ticks="~s",
    )  # fmt: skip


def loss_of_outputs() -> Any:
    """The privacy loss of each output, with Laplace and with Gaussian noise."""
    outputs = [x / 2 for x in range(-36, 39)]
    laplace = [(x, abs(x - 1) - abs(x)) for x in outputs]
    sigma = round(sf.mechanisms.Gaussian(sensitivity=1, epsilon=1, delta=1e-5).sigma, 2)
    gaussian = [(x, ((x - 1) ** 2 - x**2) / (2 * sigma**2)) for x in outputs]
    return _curves(
        {"Laplace noise of scale 1": laplace, f"Gaussian noise of sigma {sigma}": gaussian},
        "Privacy loss of an output, true value 0 against 1", "output", "loss",
        subtitle="Laplace: never beyond 1, reached often. Gaussian: small, but without end",
    )  # fmt: skip


def posterior() -> Any:
    """The most that may be believed afterwards, by what was believed before."""
    priors = [k / 100 for k in range(101)]
    chosen = {"epsilon ln 2": math.log(2), "epsilon 1": 1.0, "epsilon 3": 3.0}
    curves = {name: [(p, sf.Guarantee(epsilon=e).posterior(p)[1]) for p in priors] for name, e in chosen.items()}
    return _curves(
        {**curves, "nothing learned": [(0, 0), (1, 1)]},
        "The most that somebody may believe after a release", "belief before that you are in the data",
        "belief afterwards, at most",
    )  # fmt: skip


def laplace_tails() -> Any:
    """How often Laplace noise is larger than a number."""
    reach = [k / 4 for k in range(121)]
    curves = {
        f"epsilon {e:g}, scale {1 / e:g}": [(t, math.exp(-t * e)) for t in reach] for e in (0.1, 0.5, 1)
    }  # fmt: skip
    return _curves(
        curves, "How large is Laplace noise? Sensitivity 1", "number t", "probability that |noise| is above t",
        subtitle="beyond one scale: 37 %, beyond three: 5 %, beyond seven: 0.1 %",
    )  # fmt: skip


def clipping() -> Any:
    """Bias and noise of a private mean of incomes by the bound to which they are clipped."""
    people, epsilon = 2_000, 0.1
    incomes = [math.exp(10.2 + 0.7 * NormalDist().inv_cdf((k + 0.5) / people)) for k in range(people)]
    bounds = range(30_000, 400_001, 5_000)
    bias = [(u, sum(max(0.0, income - u) for income in incomes) / people) for u in bounds]
    noise = [(u, math.sqrt(2) * u / epsilon / people) for u in bounds]
    both = [(u, math.hypot(b, n)) for (u, b), (_, n) in zip(bias, noise, strict=True)]
    return _curves(
        {"what clipping takes away": bias, "noise": noise, "both together": both},
        "Error of a private mean of 2,000 incomes, epsilon 0.1", "bound to which incomes are clipped", "error",
        ticks="~s",
    )  # fmt: skip


def composition() -> Any:
    """What many releases of epsilon 0.1 cost together, by four rules."""
    counts, delta = [1, 2, 5, 10, 20, 40, 60, 80, 100], 1e-6
    loss = sf.mechanisms.Laplace(sensitivity=1, epsilon=0.1).loss
    return _curves(
        {
            "sum": [(k, 0.1 * k) for k in counts],
            "advanced composition": [(k, float(sf.accounting.advanced(0.1, 0, k, delta)[0])) for k in counts],
            "optimal for any pure releases": [(k, float(sf.accounting.optimal([(0.1, 0, k)], delta))) for k in counts],
            "Laplace noise, by its loss": [
                (k, sf.accounting.compose([(loss, k)], grid=1e-3).epsilon(delta).high) for k in counts
            ],
        },
        "Releases of epsilon 0.1, together", "number of releases", "epsilon at delta 1e-6", points=True,
    )  # fmt: skip


def delta_curves() -> Any:
    """The least delta by epsilon of three mechanisms."""
    epsilons = [k / 20 for k in range(41)]
    gaussian = sf.accounting.compose([sf.mechanisms.Gaussian(sensitivity=1, epsilon=1, delta=1e-6).loss])
    return _curves(
        {
            "publish everything once in a million": [(e, 1e-6) for e in epsilons],
            "Gaussian noise for epsilon 1, delta 1e-6": [(e, gaussian.delta(e).high) for e in epsilons],
            "Laplace noise for epsilon 1": [(e, -math.expm1((e - 1) / 2)) for e in epsilons if e < 1],
        },
        "The least delta by epsilon", "epsilon", "delta", log="y",
        subtitle="Laplace noise needs none from epsilon 1 on; who publishes rarely needs it always",
    )  # fmt: skip


def median_chances() -> Any:
    """With which probability each age is released as the median of thirty."""
    median = sf.mechanisms.Quantile(0.5, bounds=(0, 120), epsilon=1, spacing=1)
    ages = [23, 25, 31, 31, 34, 38, 41, 47, 52, 64] * 3
    chances = {age: math.exp(median.log_probability(age, ages)) for age in range(28, 48)}
    return _bars(
        {"chance to be released": chances}, "A private median of thirty ages, epsilon 1", "age", "probability",
        subtitle="the true median is 34; between values of the data all ages are alike",
    )  # fmt: skip


def noisy_histogram() -> Any:
    """Counts of a thousand numbers in twenty bins, and what noise does to each."""
    bins, people = 20, 1_000
    values = [NormalDist().inv_cdf((k + 0.5) / people) for k in range(people)]
    width = sf.mechanisms.Laplace(
        sf.Sensitivity(2, neighbors="replace"), epsilon=0.1, size=bins
    ).error(confidence=0.95)  # fmt: skip
    edges = [-4 + 0.4 * j for j in range(bins + 1)]
    counts = [sum(low <= value < high for value in values) for low, high in itertools.pairwise(edges)]
    bars = [
        Bar(low, high, count, count - width, count + width)
        for (low, high), count in zip(itertools.pairwise(edges), counts, strict=True)
    ]
    return over_bins(bars, Names("value", "people", "A thousand numbers, and the noise at epsilon 0.1 (replace)"))


def choosing() -> Any:
    """How often the best of ten candidates is chosen, by its lead over nine equal ones."""
    foods = tuple(range(10))
    kinds = {"exponential": sf.mechanisms.Exponential, "permute and flip": sf.mechanisms.PermuteAndFlip}
    return _curves(
        {
            name: [
                (lead, math.exp(kind(foods, 1, 0.5, monotonic=True).log_probability(0, [lead] + [0] * 9)))
                for lead in range(26)
            ]
            for name, kind in kinds.items()
        },
        "Does the best of ten win? Epsilon 0.5", "votes by which the best one leads", "probability that it is chosen",
    )  # fmt: skip


def uniqueness() -> Any:
    """How many of the students of lesson 12 are unique, by the columns that somebody knows; from its own example."""
    lesson = (Path(__file__).parent / "12-older-defenses.md").read_text("utf-8")
    names: dict[str, Any] = {}
    block = lesson.split("```python\n")[1].split("```")[0]
    exec("".join(example.source for example in doctest.DocTestParser().get_examples(block)), names)
    _, first, *more = names["report"].growth
    shares = {", ".join(first.columns): first.share, **{f"+ {each.columns[-1]}": each.share for each in more}}
    return _bars({"unique": shares}, "Nobody's name, and yet alone", "what somebody knows", "share who are unique")


def bound() -> Any:
    """How often any attacker can be right at most, of two equally likely cases."""
    epsilons = [k / 20 for k in range(1, 101)]
    kinds = {"is she among the data?": "membership", "which of two values has she?": "value"}
    curves = {
        name: [(e, sf.attacks.most_right(sf.Guarantee(epsilon=e), kind)) for e in epsilons]
        for name, kind in kinds.items()
    }
    return _curves(
        {**curves, "guessing": [(0.05, 0.5), (5, 0.5)]},
        "The most often that any attacker can be right", "epsilon", "share of right guesses, at most",
    )  # fmt: skip


def reconstruction() -> Any:
    """How many of a hundred secret bits follow from counts of subsets, by the noise in each."""
    deviations = [k / 5 for k in range(1, 101)]

    def right(deviation: float, questions: int) -> float:
        return NormalDist().cdf(0.5 * math.sqrt(questions - 100) / (2 * deviation))

    return _curves(
        {f"{m:,} questions": [(sigma, right(sigma, m)) for sigma in deviations] for m in (200, 400, 1_600)},
        "Reconstruction of a hundred secret bits by least squares", "standard deviation of the noise in each count",
        "share of bits told right", subtitle="one half is guessing",
    )  # fmt: skip


def slips() -> Any:
    """How often a test passes at a data set where it never should: one lecture's constants, and the mended ones."""
    deltas = [10.0 ** (-k / 2) for k in range(4, 25)]
    return _curves(
        {
            "the slides' constants": [(d, 0.5 * math.sqrt(d / 2)) for d in deltas],
            "mended: exactly delta": [(d, d) for d in deltas],
        },
        "Propose-test-release: passing where the proposal is wrong", "delta that is promised", "probability to pass",
        log="xy",
    )  # fmt: skip


CHARTS: dict[str, Callable[[], Any]] = {
    "course-two-worlds": two_worlds,
    "course-local-and-central": local_and_central,
    "course-loss-of-outputs": loss_of_outputs,
    "course-posterior": posterior,
    "course-laplace-tails": laplace_tails,
    "course-clipping": clipping,
    "course-composition": composition,
    "course-delta": delta_curves,
    "course-median": median_chances,
    "course-histogram": noisy_histogram,
    "course-choosing": choosing,
    "course-uniqueness": uniqueness,
    "course-bound": bound,
    "course-reconstruction": reconstruction,
    "course-slips": slips,
}


def main(names: Sequence[str]) -> None:
    """Write all charts, or those that are named."""
    for name in names or CHARTS:
        CHARTS[name]().save(str(FOLDER / f"{name}.svg"))
        print(f"{name}.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
