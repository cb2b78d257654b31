"""Which lane a test is in. `make quick` runs those in none, `make test` all.

statistical  draws, counts coverage, or searches thousands of neighbors or mutations
engine       needs PostgreSQL or Spark
browser      needs Chromium
program      starts whole programs or many processes: commands of the documents, examples, races, kills
soak         runs longer with SFUMATO_SOAK=1, in `make soak`
"""

from __future__ import annotations

from pathlib import PurePath

import pytest

FIXTURES = {
    "engine": {"postgres", "own_postgres", "spark", "server", "guarded", "connect"},
    "browser": {"browser", "page"},
}
PATHS = {
    "statistical": (
        "accounting", "attacks", "audit", "differential", "fuzz", "mechanisms", "risk/test_counts.py",
        "curator/test_recorder.py", "curator/test_travel.py", "curator/test_coverage.py",
        "curator/test_sought_coverage.py", "curator/test_compare.py", "curator/test_histogram.py",
        "curator/test_attacked.py", "curator/test_conditional.py",
        "curator/test_keys.py", "curator/test_line.py", "engines/test_exact_sums.py", "plan/test_interval.py",
        "plan/test_parse.py", "plan/test_join_refusals.py", "surveys/test_answers.py", "test_rounding.py",
        "curator/test_broken_engines.py", "curator/test_broken_travel.py", "curator/test_little_noise.py",
        "curator/test_declared_means.py",
        "engines/test_differential.py", "engines/test_differential_joins.py", "engines/test_matches.py",
        "engines/test_neighbors.py", "engines/test_center.py", "plan/test_parameters.py", "plan/test_limits.py",
        "plan/test_second_parser.py", "privacy", "surveys/test_estimate.py", "surveys/test_page_draws.py",
    ),
    "engine": (
        "engines/test_spark.py", "engines/test_spark_attacks.py", "engines/test_spark_connect.py",
        "engines/test_spark_java.py", "engines/test_spark_total.py", "engines/test_another.py",
        "engines/test_same_question.py", "engines/test_real_sources.py", "recipes/test_statistic.py",
    ),
    "browser": ("surveys/test_page.py", "surveys/test_page_look.py", "test_chart_pages.py", "risk/test_page.py"),
    "program": (
        "cli", "ledger", "embedded", "test_documents.py", "test_examples.py", "test_extras.py", "test_notebook.py",
        "test_course.py", "test_dbapi.py", "test_threads.py", "curator/test_no_memory.py", "curator/test_surface.py",
        "dataset/test_one_file.py", "curator/test_units.py", "engines/test_locked_database.py", "plan/test_quiet.py",
        "test_reference.py", "test_house.py", "surveys/test_words.py", "risk/test_report.py", "kept",
        "recipes/test_command.py", "recipes/test_engine.py", "recipes/test_mechanism.py",
    ),
    "soak": (
        "ledger/test_race.py", "ledger/test_threads.py", "ledger/test_kill.py", "ledger/test_flips.py",
        "ledger/test_postgres_faults.py", "differential", "fuzz",
    ),
}  # fmt: skip
NAMES = tuple(PATHS)


def lanes_of(file: str, fixtures: set[str]) -> set[str]:
    """The lanes of a test, by its file below `tests` and by what it asks for."""
    path = PurePath(file)
    found = {lane for lane, listed in PATHS.items() if any(path.is_relative_to(each) for each in listed)}
    return found | {lane for lane, wanted in FIXTURES.items() if wanted & fixtures}


def count(items: list[pytest.Item]) -> dict[str, int]:
    """How many tests each lane has; `quick` are those in none."""
    marked = [{mark.name for mark in item.iter_markers()} & set(NAMES) for item in items]
    return {"quick": sum(not each for each in marked), **{name: sum(name in each for each in marked) for name in NAMES}}
