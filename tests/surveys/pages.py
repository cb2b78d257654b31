"""A survey's page as tests use it: a design with every kind of question, and a visitor who answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

import sfumato as sf
from sfumato.surveys import Design

VECTORS: dict[str, Any] = json.loads((Path(__file__).parent / "vectors.json").read_text("utf-8"))

# Draws that are given beforehand instead of those of the device; they must fit, and be all used.
SENT = """([question, place, draws]) => {
  let used = 0;
  const below = (n) => {
    const drawn = BigInt(draws[used++]);
    if (drawn < 0n || drawn >= n) throw new Error(`a draw of ${drawn} below ${n}`);
    return drawn;
  };
  const sent = Randomize.send(question, place, below);
  return used === draws.length ? sent : `used ${used} of ${draws.length} draws`;
}"""


def every_kind() -> Design:
    """A question of each kind."""
    survey = sf.survey
    return survey.design(
        "Health and housing",
        [
            survey.yes_no("smoker", "Do you smoke?", truth=0.5),
            survey.one_of("party", "Which party?", ["red", "green", "blue", "none"], skip="private"),
            survey.ordinal("health", "How is your health?", ["bad", "fair", "good"]),
            survey.several_of("symptoms", "Which symptoms?", ["cough", "fever", "rash"], most=2),
            survey.number("rent", "Your rent?", (0, 3000), step=50),
        ],
        epsilon=4,
    )


def ready(page: Page) -> None:
    """Wait until the page has checked its design and asks."""
    page.wait_for_selector("#act:not([hidden])")


def answer(page: Page) -> None:
    """Answer every question of `every_kind`."""
    page.locator("#q0").get_by_label("no", exact=True).check()
    page.locator("#q1").get_by_label("green").check()
    page.locator("#q2").get_by_label("good").check()
    page.locator("#q3").get_by_label("cough").check()
    page.locator("#q3").get_by_label("rash").check()
    page.locator("#q4 input").fill("1225")


def report(page: Page) -> dict[str, str]:
    """Randomize, and what the page then shows as sent."""
    page.click("#randomize")
    page.wait_for_selector("#report:not([hidden])")
    found: dict[str, str] = json.loads(page.input_value("#line"))
    return found
