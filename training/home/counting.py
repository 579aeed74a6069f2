"""Timers whose numbers a recogniser wrote as other words: "ate minutes" are eight, "for tea" is forty."""

from __future__ import annotations

from collections.abc import Callable

from training.home import rare
from training.home.contents import TIMER_NAMES
from training.home.ordering import home_call
from training.home.patterns import Grammar
from training.home.speaker import Said, Slots, Speaker, said
from training.home.values import article

_ONES = {
    1: ("won", "won", "wan"), 2: ("to", "to", "too", "too", "tu"), 3: ("tree", "free", "thee"),
    4: ("for", "for", "for", "fore", "foar"), 5: ("fife", "hive", "fyve"), 6: ("sicks", "sicks", "sics"),
    7: ("sevin", "heaven", "sevens"), 8: ("ate", "ate", "ate", "eat"), 9: ("nein", "mine", "nein"),
}  # fmt: skip
_OTHERS = {
    10: ("tin", "tin", "tenn", "then"), 11: ("elevan", "a leaven", "eleventh"), 12: ("twelf", "twelfth"),
    13: ("thirst teen", "thirdteen"), 14: ("for teen", "fore teen"), 15: ("fife teen", "fif teen"),
    16: ("sicks teen", "sick steen"), 17: ("seven teen", "heaven teen"), 18: ("ate teen", "ate een"),
    19: ("nein teen", "nine teen"), 20: ("twenny", "twin tea"), 30: ("thirsty", "thirsty", "dirty"),
    40: ("for tea", "for tea", "fourty", "four tea"), 45: ("fourty fife", "forty hive"),
    50: ("fifth tea", "fif tea"), 60: ("sick tea", "sixtie"), 80: ("ate tea", "ate e"),
    90: ("nine tea", "ninetie"),
}  # fmt: skip
_TENS = {20: ("twenty", "twenny"), 30: ("thirty", "thirsty"), 40: ("forty", "fourty"), 50: ("fifty",)}
_START = Grammar("""
5! (set|start|create|make|put on|begin|run) a timer for {d}
3! (set|start|run|create) a timer (of|to|with|on) {d}
3! (set|start|make|give me|create|run) {a} {dt} timer
2! (set|put|start) the timer (to|for|on|at) {d}
2! (set|start|run) a countdown (of|for) {d}
2! (count down|time|clock) {d}
2! (count down from|give me|start timing) {d}
2! (ring|beep|buzz|shout|ping me|let me know|wake me|alert me|tell me) (in|after) {d}
4. timer {d}
3. timer for {d}
3. {dt} timer
2. {d} timer
2. {d} on the (timer|clock) [please]
. {d} countdown
. timer please, {d}
. (I|we) (need|want) (a timer for {d}|{a} {dt} timer)
. {d}, (set a timer|start a timer|timer please)
. (from now on|starting now), {d}, timer please
? (can|could|would) you (set|start) a timer for {d}
? (can|could) I (get|have) {a} {dt} timer
""")
_START_NAMED = Grammar("""
5. {n} timer {d}
3. {n} timer for {d}
2. {d} {n} timer
2. {dt} {n} timer
2. {d} for the {n}, timer please
2. {n}, timer, {d}
4! (set|start|make|create|run) {an} {n} timer for {d}
3! (set|start|run) {an} {n} timer (of|to|with|on) {d}
3! (set|start|put) the {n} timer (to|for|on|at) {d}
2! (set|start|make) {a} {dt} {n} timer
2! (set|start|make) a timer for {d} (called|named) {n}
2! (set|start|make) {a} {dt} timer (called|named|for) {n}
2! (set|start) a timer (called|named) {n} for {d}
2! time the {n} for {d}
. (I|we) need {an} {n} timer for {d}
. the {n} needs {d}, set {an} {n} timer
? (can|could|would) you (set|start) {an} {n} timer for {d}
""")
_UNITS = ("minute", "minute", "minute", "minute", "minute", "second", "hour", "hour")


def _number(speaker: Speaker, unit: str) -> tuple[str, int]:
    """A number as it was heard, and the number."""
    if unit == "hour" or speaker.chance(0.6):
        value = speaker.pick(tuple(_ONES))
        return speaker.pick(_ONES[value]), value
    if speaker.chance(0.75):
        value = speaker.pick(tuple(_OTHERS))
        return speaker.pick(_OTHERS[value]), value
    tens, ones = speaker.pick(tuple(_TENS)), speaker.pick(tuple(_ONES))
    return f"{speaker.pick(_TENS[tens])} {speaker.pick(_ONES[ones])}", tens + ones


def _length(speaker: Speaker) -> tuple[str, Slots, str]:
    unit = speaker.pick(_UNITS)
    heard, value = _number(speaker, unit)
    shown = f"{heard} {unit}{'' if value == 1 else 's'}"
    slots: Slots = {f"{unit}s": value}
    if unit != "second" and speaker.chance(0.2):
        smaller = "minute" if unit == "hour" else "second"
        if speaker.chance(0.5):
            second, count = _number(speaker, smaller)
        else:
            count = speaker.pick((5, 10, 15, 20, 30, 45))
            second = speaker.numbers.say(count)
        shown += f"{speaker.pick((' and ', ' and ', ' '))}{second} {smaller}{'' if count == 1 else 's'}"
        return shown, slots | {f"{smaller}s": count}, f"{heard} {unit} {second} {smaller}"
    if speaker.chance(0.08) and unit == "hour":
        return f"{heard} and a half hours", slots | {"minutes": 30}, f"{heard} and a half hour"
    return shown, slots, f"{heard} {unit}"


def start(speaker: Speaker) -> Said:
    """ "Pasta timer ate minutes", "set a timer for for minutes"."""
    speaker.slips = False
    words, slots, adjective = _length(speaker)
    fill = {"d": words, "dt": adjective, "a": article(adjective)}
    if not speaker.chance(0.5):
        return said(speaker, _START, (home_call("start_timer", **slots),), **fill)
    name = speaker.pick(TIMER_NAMES) if speaker.chance(0.85) else rare.word(speaker.rng)
    calls = (home_call("start_timer", **slots, name=name),)
    return said(speaker, _START_NAMED, calls, n=name, an=article(name), **fill)


BUILDERS: tuple[tuple[float, Callable[[Speaker], Said]], ...] = ((1, start),)
