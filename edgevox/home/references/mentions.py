"""Finds the entities that a pronoun means in the recent turns."""

from __future__ import annotations

from collections.abc import Sequence

from edgevox.home.entities import Entities, Entity
from edgevox.home.phrasing import is_in_state
from edgevox.home.references.effects import TurnEffects
from edgevox.home.references.forms import Pronoun
from edgevox.home.resolve.fuzzy import is_plural


def entities_of(turn: TurnEffects) -> Entities:
    """The entities that a turn was about: of "which lights are on?", those that are."""
    found: dict[str, Entity] = {}
    for effect in turn.meant:
        state = effect.arguments.get("state")
        meant = tuple(entity for entity in effect.entities if state and is_in_state(entity, str(state)))
        found |= {entity.id: entity for entity in meant or effect.entities}
    return tuple(found.values())


def mentioned(turns: Sequence[TurnEffects], domains: frozenset[str], pronoun: Pronoun) -> Entities:
    """The entities of these domains that "it" or "them" means; none if a timer or an alarm may be meant."""
    for place in range(len(turns) - 1, -1, -1):
        turn = turns[place]
        if any("timer" in effect.call.name or "alarm" in effect.call.name for effect in turn.effects):
            return ()
        found = tuple(entity for entity in entities_of(turn) if entity.domain in domains)
        if found:
            is_one = len(found) == 1 and (pronoun == "both" or not is_plural(found[0].name))
            return _chained(turns[: place + 1], found) if is_one and pronoun != "it" else found
    return ()


def _chained(turns: Sequence[TurnEffects], found: Entities) -> Entities:
    """ "Them" after one thing at a time: also those of the turns before with the same call."""
    tools = {effect.call.name for effect in turns[-1].meant}
    meant = {entity.id: entity for entity in found}
    for turn in reversed(turns[:-1]):
        if {effect.call.name for effect in turn.meant} != tools:
            break
        meant |= {entity.id: entity for entity in entities_of(turn) if entity.domain == found[0].domain}
    return tuple(reversed(meant.values()))
