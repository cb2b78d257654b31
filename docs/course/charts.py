"""The course's charts, all from exact probabilities and formulas: `python docs/course/charts.py` writes them anew.

Nothing in them is drawn at random, so the tests compare every stored picture with what its function draws today.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import altair

import sfumato as sf
from sfumato.charts import BLUE, GREY, ORANGE

FOLDER = Path(__file__).resolve().parents[1] / "images"
GREEN, PURPLE = "#4f9a5b", "#8a5fa8"
COLOURS = (BLUE, ORANGE, GREEN, PURPLE)
Curves = Mapping[str, Sequence[tuple[float, float]]]


def _curves(curves: Curves, title: str, along: str, up: str, *, subtitle: str = "", **options: Any) -> Any:
    """Lines by name; `log` names the axes that are logarithmic, `points` also marks each point."""
    rows = [{"x": x, "y": y, "of": name} for name, line in curves.items() for x, y in line]
    log = options.get("log", "")
    xs, ys = [row["x"] for row in rows], [row["y"] for row in rows]
    x_scale = altair.Scale(type="log" if "x" in log else "linear", nice=False, zero=False)
    y_scale = altair.Scale(type="log" if "y" in log else "linear", zero="y" not in log)
    colour = altair.Color(
        "of:N", title=None, sort=None, scale=altair.Scale(domain=list(curves), range=COLOURS[: len(curves)]),
        legend=altair.Legend(orient="bottom", columns=2, labelLimit=400),
    )  # fmt: skip
    base = altair.Chart(altair.InlineData(values=rows), title=_title(title, subtitle))
    return (
        base.mark_line(point=options.get("points", False), strokeWidth=2)
        .encode(
            x=altair.X("x:Q", title=along, scale=x_scale, axis=_axis(xs, "x" in log, options.get("ticks", "~g"))),
            y=altair.Y("y:Q", title=up, scale=y_scale, axis=_axis(ys, "y" in log, "~g")),
            color=colour,
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
    colour = altair.Color(
        "of:N", title=None, sort=None, scale=altair.Scale(domain=list(bars), range=COLOURS[: len(bars)]),
        legend=altair.Legend(orient="bottom", columns=2, labelLimit=400),
    )  # fmt: skip
    return (
        altair.Chart(altair.InlineData(values=rows), title=_title(title, subtitle))
        .mark_bar()
        .encode(
            x=altair.X("label:N", title=along, sort=None, axis=altair.Axis(labelAngle=0)),
            xOffset=altair.XOffset("of:N", sort=None),
            y=altair.Y("y:Q", title=up, axis=altair.Axis(format="~g")),
            color=colour,
        )
        .properties(width=480, height=280)
    )


def _title(title: str, subtitle: str) -> Any:
    return altair.TitleParams(title, subtitle=[subtitle] if subtitle else [], subtitleColor=GREY, anchor="start")


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
        subtitle="epsilon 0.5: no bar is more than 1.65 times its neighbour",
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


CHARTS: dict[str, Callable[[], Any]] = {
    "course-two-worlds": two_worlds,
    "course-local-and-central": local_and_central,
    "course-loss-of-outputs": loss_of_outputs,
    "course-posterior": posterior,
}


def main(names: Sequence[str]) -> None:
    """Write all charts, or those that are named."""
    for name in names or CHARTS:
        CHARTS[name]().save(str(FOLDER / f"{name}.svg"))
        print(f"{name}.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
