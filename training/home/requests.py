"""Any request that a home tool serves, each tool with its share: the confusable ones get more."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Collection
from typing import TypeAlias

from training.home import (
    alarms,
    asking,
    bare,
    breaths,
    called,
    chores,
    combining,
    correcting,
    counting,
    listing,
    playing,
    restocking,
    robots,
    setting,
    skipping,
    sparing,
    storeys,
    switching,
    terse,
    ticking,
    timing,
    winding,
)
from training.home.speaker import Said, Speaker

Builder: TypeAlias = Callable[[Speaker], Said]

# The share of each group among single requests.
_GROUPS: tuple[tuple[float, tuple[tuple[float, Builder], ...]], ...] = (
    (24, switching.BUILDERS),
    (25, asking.STATE_BUILDERS),
    (3.5, asking.WARMTH_BUILDERS),
    (16, setting.BUILDERS),
    (13, playing.BUILDERS),
    (8, bare.BUILDERS),
    (4.6, correcting.BUILDERS),
    (3.4, sparing.BUILDERS),
    (2.6, called.BUILDERS),
    (1, robots.BUILDERS),
    (1, storeys.BUILDERS),
    (13, timing.BUILDERS),
    (7.8, alarms.BUILDERS),
    (9.2, listing.BUILDERS),
    (9, chores.BUILDERS),
    (2, skipping.BUILDERS),
    (1.6, ticking.BUILDERS),
    (1.7, restocking.BUILDERS),
    (0.8, breaths.BUILDERS),
    (2.2, terse.BUILDERS),
    (1.7, winding.BUILDERS),
    (1.1, counting.BUILDERS),
)


def _weighted() -> tuple[list[Builder], list[float]]:
    builders: list[Builder] = []
    weights: list[float] = []
    for share, group in _GROUPS:
        whole = sum(weight for weight, _ in group)
        for weight, builder in group:
            builders.append(builder)
            weights.append(share * weight / whole)
    return builders, list(itertools.accumulate(weights))


_BUILDERS, _WEIGHTS = _weighted()
_SEVERAL = [builder for _, builder in combining.BUILDERS]
_SEVERAL_WEIGHTS = list(itertools.accumulate(weight for weight, _ in combining.BUILDERS))
_TAKEN_BACK_SHARE = 0.008
_TRIES = 40


def any_request(speaker: Speaker) -> Said:
    """One request, of any tool."""
    builder = speaker.rng.choices(_BUILDERS, cum_weights=_WEIGHTS)[0]
    made = builder(speaker)
    if made.form == "!" and speaker.rng.random() < _TAKEN_BACK_SHARE:
        return chores.taken_back(speaker, made)
    return made


def request(rng: random.Random, new_speaker: Callable[[], Speaker], offered: Collection[str]) -> Said | None:
    """A request that the offered tools serve, or None where none came to mind."""
    for _ in range(_TRIES):
        made = any_request(new_speaker())
        if made.calls[0].tool in offered:
            return made
    return None


def several(new_speaker: Callable[[], Speaker], offered: Collection[str]) -> Said | None:
    """Several requests in one breath."""
    for _ in range(_TRIES):
        speaker = new_speaker()
        speaker.slips = False
        if speaker.chance(0.5):
            builder = speaker.rng.choices(_SEVERAL, cum_weights=_SEVERAL_WEIGHTS)[0]
            made = builder(speaker)
        else:
            made = combining.joined(speaker, any_request)
        if all(call.tool in offered for call in made.calls):
            return made
    return None
