"""When success against the curator is more than its promise allows."""

from __future__ import annotations

from scipy.stats import binom

from sfumato.attacks import Outcome, Side

FALSE_ALARM = 1e-6


def exceeds(outcome: Outcome, side: Side | None = None) -> bool:
    """Whether so many right guesses would happen less than once in a million times if the promise held.

    Right guesses about independent secrets are at most binomial with the bound (see `bound.py`), so that is the false
    alarm rate. Power: a release that tells all of `trials` secrets is caught with certainty if bound^trials is below
    the rate, which is so from 45 trials on at a bound of 73.2 %, and from 30 on at 62.3 %.
    """
    judged = side or outcome.curator
    return bool(binom.sf(judged.hits - 1, judged.trials, outcome.bound) < FALSE_ALARM)
