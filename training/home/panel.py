"""The burglar alarm: armed, disarmed, asked about. With a time of day it is another alarm, one that rings."""

from __future__ import annotations

from training.home.alarms import has_panel
from training.home.houses import spoken
from training.home.ordering import home_call
from training.home.patterns import Grammar, wordings
from training.home.places import with_article
from training.home.questions import OF_ONE
from training.home.speaker import Phrase, Said, Speaker, said
from training.home.things import ALARM, NAMES

_ARM = Grammar("""
5! arm {t}
2! arm {t} (for the night|before we leave|now that we're out|we're leaving)
. {t} armed please
. I (want|need|would like) {t} armed
. I'd like {t} armed
! (make sure|see to it that) {t} is armed
! get {t} armed
? (can|could) {t} be armed
""")
_SET = Grammar("""
3! (set|activate|enable|engage|start|turn on|switch on|put on) {t}
2! (turn|switch|put) {t} on
2! set {t} (for the night|before we leave|we're going out|we're leaving)
. {t} on
. I (want|need) {t} (on|set)
! (make sure|see to it that) {t} is (on|set)
""")
_DISARM = Grammar("""
5! disarm {t}
2! disarm {t} (I'm home|we're back|it's only me|the cleaner is coming)
. {t} disarmed please
. I (want|need|would like) {t} disarmed
! (make sure|see to it that) {t} is disarmed
! get {t} disarmed
. it's only us, disarm {t}
""")
_UNSET = Grammar("""
3! (deactivate|disable|disengage|turn off|switch off|unset) {t}
2! (turn|switch) {t} off
. {t} off
. I (want|need) {t} off
! (make sure|see to it that) {t} is off
. it's only us, turn off {t}
""")
_ARMED = wordings("(armed|armed|armed|active)")
_ARMED_OR_SET = wordings("(armed|armed|on|set|active)")
_DISARMED = wordings("(disarmed|disarmed|off)")


def _panel(speaker: Speaker) -> Phrase:
    """The panel by its name where the home lists it so, else by its kind."""
    panels = speaker.known.by_domain.get("alarm_control_panel")
    if panels and speaker.chance(0.75):
        panel = speaker.pick(panels)
        name = spoken(speaker.pick((panel.name, panel.name, *panel.aliases)))
        full = with_article(name)
        return Phrase(speaker.pick((full, full, full, name, f"my {name}")), {"name": name}, entity=panel)
    if speaker.chance(0.15):
        name = speaker.pick(NAMES["alarm_control_panel"][-2:])
        return Phrase(with_article(name), {"name": name})
    noun = speaker.pick(ALARM.singular)
    slots = {"name": noun} if speaker.is_listed(noun) else dict(ALARM.slots)
    return Phrase(f"the {noun}" if speaker.chance(0.85) else noun, slots)


def arm(speaker: Speaker) -> Said:
    return _done_to(speaker, "turn_on", _ARM, _SET)


def disarm(speaker: Speaker) -> Said:
    return _done_to(speaker, "turn_off", _DISARM, _UNSET)


def _done_to(speaker: Speaker, tool: str, plain: Grammar, like_a_clock: Grammar) -> Said:
    target = _panel(speaker)
    # "Turn off the alarm" where no panel is listed may be meant for one that rings.
    is_clear = has_panel(speaker) or target.text not in ("the alarm", "alarm")
    grammar = like_a_clock if is_clear and speaker.chance(0.5) else plain
    return said(speaker, grammar, (home_call(tool, **target.slots),), t=target.text)


def armed(speaker: Speaker) -> Said:
    """Whether the panel is armed."""
    target = _panel(speaker)
    is_armed = speaker.chance(0.65)
    words = (_ARMED_OR_SET if has_panel(speaker) else _ARMED) if is_armed else _DISARMED
    calls = (home_call("get_state", **target.slots, state="armed" if is_armed else "disarmed"),)
    return said(speaker, OF_ONE, calls, t=target.text, w=words.say(speaker.rng, {}), **{"is": "is"})
