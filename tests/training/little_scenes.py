"""A stand-in for the generator: short scenes about switching lamps, without end."""

from __future__ import annotations

import random
from collections.abc import Iterator

from training.types import Dialogue, Line, Scene

ROOMS = ("kitchen", "hall", "bedroom", "attic", "cellar", "garage")


def scenes(seed: int) -> Iterator[Scene]:
    """Scenes of 4 to 12 dialogues; every third dialogue has an earlier turn that is not learnt."""
    chance = random.Random(seed)
    while True:
        tools = "\n".join(f"{name}(area?): Switch a light" for name in ("turn_on", "turn_off"))
        yield Scene(f"Tools:\n{tools}", tuple(_dialogue(chance) for _ in range(chance.randint(4, 12))))


def _dialogue(chance: random.Random) -> Dialogue:
    earlier = (*_turn(chance, learnt=False), Line("user", "(The tools have run: done.)"), Line("assistant", "Done."))
    history = earlier if chance.randrange(3) == 0 else ()
    return Dialogue("follow-up" if history else "command", (*history, *_turn(chance, learnt=True)))


def _turn(chance: random.Random, *, learnt: bool) -> tuple[Line, Line]:
    room, side = chance.choice(ROOMS), chance.choice(("on", "off"))
    return Line("user", f"{room} light {side}"), Line("assistant", f'[turn_{side}(area="{room}")]', learnt)
