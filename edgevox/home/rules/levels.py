"""Answers questions about a level ("how bright is the lamp?"), and asks which one for a bare "light on"."""

from __future__ import annotations

from edgevox.home.entities import Entity, House
from edgevox.home.phrasing import is_are, number, sentence, the
from edgevox.home.rules.reading import Calls, call, found, pattern, without_article

_TARGET = r"(?P<target>(?:the |my |our )?[\w' -]+?)(?: right| at the moment| currently| set(?: to| at)?)?"
_QUESTIONS = (
    ("light", "brightness", pattern(rf"^how (?:bright|dim) (?:is|are) {_TARGET}$")),
    ("light", "brightness", pattern(rf"^what(?:'s| is) the brightness of {_TARGET}$")),
    (
        "fan",
        "percentage",
        pattern(rf"^(?:how fast is|what(?:'s| is) the speed of) {_TARGET}(?: (?:running|going|on))?$"),
    ),
    (
        "cover",
        "position",
        pattern(rf"^how far (?:(?:are|is) )?(?:open |closed )?(?:are |is )?{_TARGET}(?: open| closed)?$"),
    ),
    ("media_player", "volume_level", pattern(rf"^how loud is {_TARGET}$")),
    ("media_player", "volume_level", pattern(rf"^what(?:'s| is) the volume (?:of|on) {_TARGET}$")),
)
_BARE = pattern(r"^(?:(?:turn|switch|put) (?:the )?)?(?P<kind>light|lamp|fan) (?P<state>on|off)$")


def parse(text: str, house: House) -> Calls:
    """The call of a question about a level, or of a command for one thing whose kind only is named."""
    if said := _BARE.match(text):
        several = found("turn_on", house, name=f"{said['kind']}s")
        if len(several) > 1:  # the resolver asks which one
            return (call(f"turn_{said['state'].casefold()}", name=said["kind"].casefold()),)
    for domain, _, question in _QUESTIONS:
        if said := question.match(text):
            name = without_article(said["target"])
            entities = found("get_state", house, name=name, domain=domain)
            if len(entities) == 1 and entities[0].domain == domain:
                return (call("get_state", name=name, domain=domain),)
    return ()


def level_answer(text: str, entity: Entity) -> str:
    """The level of an entity that a question asks for, or ""."""
    for domain, slot, question in _QUESTIONS:
        level = entity.attributes.get(slot)
        if entity.domain == domain and question.match(text) and isinstance(level, int | float):
            if entity.state in ("off", "standby"):
                return ""
            opened = " open" if domain == "cover" else ""
            return sentence(f"{the(entity)} {is_are(entity.name)} at {number(level)} percent{opened}")
    return ""
