"""Sets brightness, colour, position, temperature and fan speed."""

from __future__ import annotations

from collections.abc import Callable

from training.home.lexicon.devices import CLIMATE, COVER, COVERS, FAN, LIGHT, VALVE
from training.home.lexicon.values import COLOURS, LEVELS, say_temperature, temperature
from training.home.lexicon.vocabulary import in_area
from training.home.speaker import Phrase, Request, Speaker, make_request
from training.home.templates import Grammar, home_call

_BRIGHTNESS = Grammar("""
4! (set|put|turn|change|adjust|bring) {t} to {v} [brightness]
3! (set|change|adjust|put) the brightness of {t} to {v}
3! (set|change|adjust) {t} brightness to {v}
2! (dim|brighten|fade) {t} to {v}
! (dim|turn) {t} down to {v} [brightness]
! (brighten|turn) {t} up to {v}
! (turn|switch) on {t} (at|to|with) {v} [brightness]
! (turn|switch) {t} on (at|to) {v} [brightness]
! make {t} {v} bright
! (set|adjust) {t} at {v} [brightness]
! make the brightness of {t} {v}
! (lower|reduce|drop|raise|increase) {t} to {v}
! (lower|reduce|increase|raise) the brightness of {t} to {v}
. {t} [to|at] {v} [brightness]
2. {t} brightness [to] {v}
. brightness of {t} to {v}
. I (want|need|would like) {t} at {v}
. I'd like {t} (at|dimmed to) {v}
? (can|could) (I|we) have {t} at {v}
""")
_BRIGHTNESS_PLACE = Grammar("""
3! (set|change|adjust|put) the brightness {p} to {v}
2! (set|change|adjust) the brightness to {v} {p}
! (set|change) {b} brightness to {v}
! dim it to {v} {p}
2! (dim|brighten) [the|the whole|all of the] {b} to {v}
! (set|put|bring|turn) the whole {b} to {v} [brightness]
! (set|put) [the] {b} to {v} brightness
. {b} brightness [to|at] {v}
. brightness {v} {p}
. {v} brightness {p}
. {v} light {p}
""")
_BRIGHTNESS_HERE = Grammar("""
3! (set|change|adjust|put) the brightness to {v}
! dim to {v}
. brightness [to] {v}
. {v} brightness
""")
_FULL = Grammar("""
! (set|put|turn) {t} to (full|maximum|max) brightness
! (turn|put) {t} (on full|all the way up)
! make {t} as bright as possible
2. {t} (to the max|to max|to full|all the way up|at full blast|at full|on full|on max|to the maximum)
! (turn|put|crank|push|get|bring) {t} (to the max|to max|up full|up to full|up to the max|to full blast|to \
    full)
! (max out|crank up to full) {t}
. (full|max|maximum) (power|brightness|light) (on|for) {t}
. {t} (full|maximum) brightness
. full brightness for {t}
2! (set|put|turn|bring) {t} (to|on) (the|its) (highest|brightest|maximum|max|top) [setting|level]
2! (make|get|have) {t} as bright as (it goes|it gets|it can go|they go|you can|can be)
! (turn|put|get|bring) {t} up as (far|high|bright) as (it goes|it will go|possible|they go)
! (brighten|turn up) {t} (fully|completely|to the max|as much as possible|as far as it goes)
. {t} (fully bright|at its brightest|as bright as it goes|on the brightest setting|brightest)
. I (want|need) {t} (at (its|the) (brightest|maximum|highest)|as bright as it gets|fully bright)
""")
_FULL_PLACE = Grammar("""
3. (full|max|maximum) (light|lights|brightness) {p}
! (give me|give us|get me|I need|I want|put on|turn on) (full|max|maximum) (light|lights|brightness) {p}
! (turn|put|crank|push) the (light|lights|brightness) (to the max|to max|all the way up|to full) {p}
. lights (to the max|to max|at full|on full|all the way up|full on) {p}
! (set|put|turn) the brightness (to|at) (its maximum|maximum|the highest|full|the brightest setting) {p}
! make it as bright as (it gets|possible|you can|it goes) {p}
. brightest light {p}
""")
# The least is 1 percent: at nothing at all a light would be off.
_LOW_PLACE = Grammar("""
3. (minimum|lowest|dimmest|min) (light|lights|brightness) {p}
2! (give me|give us|I need|I want|put on) (minimum|the dimmest|the lowest) (light|lights|brightness) {p}
2! (turn|put|bring|set) the (light|lights|brightness) (to the minimum|to the lowest|all the way down|as low \
    as it goes) {p}
! (set|change|drop|lower|reduce) the brightness (to|to the) (minimum|lowest|min) {p}
! dim the (light|lights) (as far as possible|as low as they go|right down|all the way) {p}
! make it as dim as (it gets|possible|you can|it goes) {p}
. lights (to the minimum|to min|at their lowest|right down low|on the lowest setting) {p}
""")
_LOW = Grammar("""
! (set|put|turn) {t} to (minimum|the lowest|the minimum|lowest) brightness
! (turn|dim) {t} all the way down
! dim {t} as far as possible
! dim {t} to the minimum
2! (set|put|turn|bring) {t} (to|on) (the|its) (lowest|dimmest|minimum|min) [setting|level]
2! (set|turn|put|dim) {t} to (minimum|min|lowest)
2! (make|get|have) {t} as (dim|dark|low) as (it goes|it gets|it can go|they go|you can|can be|possible)
! (turn|bring|dim) {t} [down] as (far|low|dim) as (it goes|it will go|possible|they go)
! (lower|reduce|drop) {t} (to the minimum|to minimum|to the lowest|as far as it goes|as much as possible)
! (dim|turn) {t} right down
! (lower|reduce|set) the brightness of {t} to (the minimum|minimum|the lowest|its lowest)
2. {t} (to the minimum|to minimum|to min|on min|at minimum|at its lowest|at its dimmest|on the lowest setting)
. {t} (as dim as it goes|as low as it goes|lowest setting|minimum brightness|lowest brightness)
. (minimum|lowest|min) (brightness|light) (on|for) {t}
. I (want|need|would like) {t} (at (its|the) (dimmest|minimum|lowest)|as dim as it gets|barely on)
""")
_COLOUR = Grammar("""
4! (set|turn|change|make|switch) {t} [to] {c}
3! (set|change) the (colour|color) of {t} to {c}
2! (set|change) {t} (colour|color) to {c}
! (turn|make) {t} {c}
! (set|switch|put) {t} to [the colour|the color] {c}
! color {t} {c}
! give {t} a {c} (colour|color|tone|glow)
! let {t} (glow|shine|be) {c}
. {t} [to|in] {c}
. {t} (colour|color) {c}
. I (want|would like) {t} [to be|in] {c}
. I'd like {t} in {c}
? (can|could) {t} be {c}
? (can|could) you make {t} {c}
""")
_COLOUR_PLACE = Grammar("""
2! (make|turn) the {a} {c}
! (bathe|light) the {a} in {c}
! (set|change) the {a} (colour|color) to {c}
! (set|change) the (colour|color) {p} to {c}
. {c} light {p}
. {c} lights {p}
. {a} {c}
""")
_COLOUR_HERE = Grammar("""
2! (set|change) the (colour|color) to {c}
! make it {c} [in here]
! give me {c} light
. {c} light please
""")
_BOTH = Grammar("""
3! (set|turn|change|make|put) {t} [to] {c} (at|and|with) {v} [brightness]
2! (set|put|turn) {t} to {v} (and|and to) {c}
! (set|change) {t} to {c} and the brightness to {v}
! (set|change) the brightness of {t} to {v} and the (colour|color) to {c}
! (turn|switch) on {t} in {c} at {v}
. {t} {c} {v}
. {t} in {c} at {v} please
2! make {t} {c} (at|with|and) {v} [brightness]
2! (dim|brighten) {t} to {v} and (make|turn|set) {it} [to] {c}
2! (turn|make) {t} {c} and (dim|set|put) {it} (to|at) {v}
2! (set|put) {t} to {v} {c}
2. {t} {c} (at|,|and) {v}
2. {t} {v} [and] {c}
. {t} {c}, {v} (brightness|bright)
. {c} at {v} (for|on) {t}
! (give {t} a {c} glow|let {t} shine {c}) at {v}
. I (want|would like|need) {t} {c} (at|and) {v}
. I'd like {t} [in] {c} at {v}
? (can|could) (I|we|you) (have|make) {t} {c} (at|and) {v}
""")
_BOTH_PLACE = Grammar("""
3! (make|turn) the {a} {c} at {v}
2! (light|bathe) the {a} in {c} at {v}
2. {c} light {p} at {v}
2. {c} lights at {v} {p}
2! (give me|put on|I want) {c} light {p} at {v}
. {a} {c} (at|and) {v}
. {v} {c} light {p}
""")
_POSITION = Grammar("""
4! (set|put|move|adjust|bring) {t} to {v}
2! (set|change|adjust) the position of {t} to {v}
2! (set|change|adjust) {t} position to {v}
3! open {t} to {v}
2! open {t} {v}
! (raise|lift|lower|roll|pull|drop) {t} to {v}
! (set|leave) {t} at {v}
! (set|leave) {t} {v} open
2! (pull|roll|wind|crank|let|bring|put|drop|take) {t} (up|down) to {v}
. {t} (up|down) to {v}
! have {t} {v} open
. {t} [to|at] {v}
. {t} {v} open
. I (want|would like|need) {t} (at {v}|{v} open)
. I'd like {t} {v} open
. {t} position {v}
? (can|could) (I|we) have {t} {v} open
""")
_HALF = Grammar("""
3! (open|close|raise|lower|shut) {t} (halfway|half way|half)
2! half (open|close) {t}
2! (set|put|leave|move) {t} (to half|halfway|half open|half way)
! (open|close|raise|lower) {t} to half
! (leave|keep) {t} (half open|half closed|halfway open)
. {t} (half open|halfway|half)
. I (want|would like) {t} half open
""")
# {v} is a part: "a third", "3/4".
_PARTLY = Grammar("""
4! (open|raise|lift) {t} {v}
3! (open|raise|pull up) {t} {v} [of the way]
3! (set|put|leave|have|keep|get) {t} {v} open
2! (set|put|move|bring) {t} (to|at) {v}
2! open {t} to {v}
! open {t} (up to|by) {v}
2. {t} {v} open
. {t} (at|to) {v}
. I (want|need|would like) {t} {v} open
? (can|could) (I|we) have {t} {v} open
""")
_PARTS = {"a quarter": 25, "three quarters": 75, "a third": 33, "one third": 33, "a fifth": 20, "a tenth": 10}
_WARMTH = Grammar("""
4! (set|change|adjust|put|turn) {th} to {v} {p}
2! (set|change|adjust) {th} {p} to {v}
2! (set|put|turn) {th} {p} (at|to) {v}
! (turn|crank|bring) {th} (up|down) to {v} {p}
! (raise|lower|increase|reduce|drop) {th} to {v} {p}
! (raise|lower) {th} {p} to {v}
! (heat|warm|cool) (it|things) (up|down) to {v} {p}
2! make it {v} {p}
2. {v} (please|overnight|tonight|for tonight|for the night) {p}
. {v} {p} (overnight|tonight|for the night|please|for now|thanks)
2! (heat|warm|cool|bring|get|take) the (place|house|room|air) (up|down) to {v} {p}
! (turn|crank|knock|bring|take|put) it (up|down) to {v} {p}
! (go|switch) (up|down) to {v} {p}
. a (cosy|comfortable|nice) {v} {p}
! keep it at {v} {p}
! get it to {v} {p}
. {th} [to|at] {v} {p}
. {th} {p} [to|at] {v}
. I (want|need|would like) it [to be] {v} {p}
. I'd like it [to be] {v} {p}
. I want {th} at {v} {p}
. let's have {v} {p}
. it should be {v} {p}
. {v} {p} please
? (can|could) (we|you) make it {v} {p}
? (can|could) (we|I) have {v} {p}
""")
_WARMTH_AREA = Grammar("""
3! (set|heat|warm|cool|heat up|cool down|warm up) [the] {a} to {v}
2! (set|change|adjust) the {a} (temperature|temp|heating|heat) to {v}
! make the {a} {v}
! (keep|hold) the {a} at {v}
! (set|bring|get) the {a} to {v}
. {a} [to|at] {v}
. {a} (temperature|temp) [to] {v}
. I want the {a} (at|to be) {v}
""")
_WARMTH_NAMED = Grammar("""
4! (set|change|adjust|put|turn) {t} to {v}
3! (turn|crank|bring|take|put|knock|notch) {t} (up|down) to {v}
. {t} (up|down) to {v}
. {t} (at|on|to) {v} (overnight|tonight|for the night|please|for now)
! (run|keep|hold|leave|have) {t} at {v}
! (heat|warm|cool) {t} to {v}
2! (set|change|adjust) the (temperature|temp) (of|on|for) {t} to {v}
2! (set|change) {t} (temperature|temp) to {v}
! (turn|crank) {t} (up|down) to {v}
! (set|put) {t} at {v}
. {t} [to|at] {v}
. I (want|would like) {t} at {v}
""")
_SPEED = Grammar("""
4! (set|put|turn|change|adjust) {t} to {v} [speed]
3! (set|change|adjust) the speed of {t} to {v}
2! (set|change) {t} speed to {v}
2! (run|set) {t} at {v} [speed]
! (turn|switch) on {t} at {v} [speed]
! (turn|crank) {t} (up|down) to {v}
! (slow|speed) {t} (down|up) to {v}
! make {t} (run|spin|go) at {v}
2. {t} on (low|medium|high), {v}
! (put|set|run|have) {t} on (low|medium|high), {v}
! (let|have) {t} (run|spin|blow|go) at {v}
! (put|keep|leave) {t} on {v}
! (increase|lower|reduce|raise) {t} [speed] to {v}
. {t} [at|to] {v} [speed]
. {t} speed [to] {v}
. I (want|would like) {t} at {v} [speed]
""")
_SPEED_PLACE = Grammar("""
3! (set|change|adjust) the fan speed {p} to {v}
2! (set|change) the fan speed to {v} {p}
! (set|change) the {a} fan speed to {v}
. fan speed {v} {p}
. fan speed {p} [to] {v}
. {a} fan speed [to] {v}
""")
_SPEEDS = {"half": 50, "full": 100, "maximum": 100, "max": 100, "a quarter": 25, "half speed": 50,
           "full speed": 100,
           "maximum speed": 100, "a third": 33, "one third": 33, "a fifth": 20, "one fifth": 20,
           "a tenth": 10,
           "two fifths": 40, "four fifths": 80, "a third of its speed": 33, "three quarters": 75,
           "the maximum": 100}  # fmt: skip
_TEMPERATURE_WORDS = ("the temperature", "the temperature", "the temperature", "temperature",
    "the heating", "the heat",
                      "the thermostat", "the temp", "heating", "the heater", "the air conditioning", "the ac",
                      "thermostat")  # fmt: skip


def _without_kind(phrase: Phrase) -> dict[str, object]:
    return {slot: value for slot, value in phrase.slots.items() if slot not in ("domain", "device_class")}


def _lamp(speaker: Speaker) -> Phrase:
    return speaker.named("light") if speaker.chance(0.5) else speaker.kind(LIGHT, single=0.3)


def _level(speaker: Speaker, words: dict[str, int]) -> tuple[str, int]:
    text, value = speaker.numbers.share(words)
    other = speaker.numbers.percent()
    if value != other:
        text = speaker.slip(speaker.numbers.say(other), text)
    return text, value


def brightness(speaker: Speaker) -> Request:
    way = speaker.rng.random()
    if way < 0.07:
        target = _lamp(speaker)
        return make_request(
            speaker, _FULL, (home_call("light_set", **_without_kind(target), brightness=100),), t=target.text
        )
    if way < 0.15:
        target = _lamp(speaker)
        return make_request(
            speaker, _LOW, (home_call("light_set", **_without_kind(target), brightness=1),), t=target.text
        )
    if way < 0.23:
        place = speaker.where(nowhere=0.2)
        full = way < 0.19
        calls = (home_call("light_set", **place.slots, brightness=100 if full else 1),)
        return make_request(speaker, _FULL_PLACE if full else _LOW_PLACE, calls, p=place.text or speaker.here())
    text, value = _level(speaker, LEVELS)
    if way < 0.26:
        return make_request(speaker, _BRIGHTNESS_HERE, (home_call("light_set", brightness=value),), v=text)
    if way < 0.4:
        place = speaker.where(nowhere=0.0)
        bare = str(next(iter(place.slots.values())))
        calls = (home_call("light_set", **place.slots, brightness=value),)
        return make_request(speaker, _BRIGHTNESS_PLACE, calls, p=place.text, v=text, b=bare)
    target = _lamp(speaker)
    calls = (home_call("light_set", **_without_kind(target), brightness=value),)
    return make_request(speaker, _BRIGHTNESS, calls, t=target.text, v=text)


# What a colour is like, around its plain name.
_SHADES = (
    "a soft {c}", "a gentle {c}", "soft {c}", "a deep {c}", "a nice {c}", "a warm-ish {c}", "warm-ish {c}",
    "a really bold {c}", "a sort of {c}", "kind of {c}", "{c}-ish", "a cosy {c}", "a bright {c}",
    "a spooky {c}",
    "a calm {c}", "a lovely {c}", "some {c}", "a proper {c}", "a muted {c}", "a lively {c}", "a romantic {c}",
    "a pale {c}", "a rich {c}", "a slightly dusty {c}", "a good strong {c}", "{c} all over", "{c}, you know",
)  # fmt: skip
_LIKE = {
    "red": "mars|a tomato|a fire engine|blood|a strawberry|a stop sign|lava",
    "green": "grass|a frog|the forest|peas|an alien|a traffic light|shrek",
    "blue": "the sea|the sky|the ocean|an iceberg|a smurf|jeans|the deep end",
    "yellow": "the sun|a lemon|a banana|butter|a submarine|a canary|sunflowers",
    "orange": "a pumpkin|a sunset|carrots|the fruit|a fox|a campfire|marmalade",
    "purple": "grapes|a plum|rain|an aubergine|royalty|barney",
    "pink": "a flamingo|a panther|candy floss|a pig|bubblegum|roses",
    "white": "snow|a cloud|paper|milk|a ghost|a polar bear",
}
_ALIKE = {colour: tuple(things.split("|")) for colour, things in _LIKE.items()}
_SHADED = Grammar("""
5! (make|turn|set|change) {t} [to|] {c}
2. (I want|I'd like) {t} (in|) {c}
. {t} [to|in|] {c}
""")
_SHADED_AT = Grammar("""
3! (make|turn|set) {t} [to|] {c} (at|and|with) {v} [brightness]
2! (set|put|dim) {t} to {v} and (make|turn) {it} {c}
2. {t} {v} and {c}
. {t} [in|] {c} at {v}
""")


def shaded(speaker: Speaker) -> Request:
    """ "Red like mars", "a soft orange": the plain colour; a brightness beside it is kept."""
    speaker.slips = False
    colour = speaker.pick(tuple(_ALIKE))
    if speaker.chance(0.5):
        text = f"{colour} {speaker.pick(('like', 'like', 'as', 'just like'))} {speaker.pick(_ALIKE[colour])}"
    else:
        text = speaker.pick(_SHADES).replace("{c}", colour)
    target = _lamp(speaker)
    slots = _without_kind(target)
    if speaker.chance(0.6):
        return make_request(speaker, _SHADED, (home_call("light_set", **slots, color=colour),), t=target.text, c=text)
    value = speaker.numbers.percent()
    level = f"{speaker.numbers.say(value)} percent"
    calls = (home_call("light_set", **slots, brightness=value, color=colour),)
    it = "them" if target.is_plural else "it"
    return make_request(speaker, _SHADED_AT, calls, t=target.text, c=text, v=level, it=it)


def _colour(speaker: Speaker) -> tuple[str, str]:
    colour = speaker.pick(COLOURS[:10]) if speaker.chance(0.45) else speaker.pick(COLOURS)
    return speaker.slip(speaker.pick(COLOURS[:10]), colour), colour


def colour(speaker: Speaker) -> Request:
    text, value = _colour(speaker)
    way = speaker.rng.random()
    if way < 0.07:
        return make_request(speaker, _COLOUR_HERE, (home_call("light_set", color=value),), c=text)
    if way < 0.22:
        place = speaker.in_area()
        area = str(place.slots["area"])
        if "'" not in area and area + " " not in place.text.replace(area, ""):
            calls = (home_call("light_set", area=area, color=value),)
            return make_request(speaker, _COLOUR_PLACE, calls, a=area, p=place.text, c=text)
    target = _lamp(speaker)
    calls = (home_call("light_set", **_without_kind(target), color=value),)
    return make_request(speaker, _COLOUR, calls, t=target.text, c=text)


def colour_and_brightness(speaker: Speaker) -> Request:
    text, value = _colour(speaker)
    level, share = _level(speaker, {"full": 100, "half": 50, "maximum": 100, "a quarter": 25})
    if level.isdigit() and speaker.chance(0.7):
        level += " percent"
    if speaker.chance(0.22):
        area = speaker.area()
        if "'" not in area:
            calls = (home_call("light_set", area=area, brightness=share, color=value),)
            return make_request(speaker, _BOTH_PLACE, calls, a=area, p=in_area(area), c=text, v=level)
    target = _lamp(speaker)
    calls = (home_call("light_set", **_without_kind(target), brightness=share, color=value),)
    it = "them" if target.is_plural else "it"
    return make_request(speaker, _BOTH, calls, t=target.text, c=text, v=level, it=it)


def _moved(speaker: Speaker) -> Phrase:
    way = speaker.rng.random()
    if way < 0.45:
        return speaker.named("cover")
    if way < 0.53:
        return speaker.named("valve") if speaker.chance(0.6) else speaker.kind(VALVE, single=0.2)
    kind = COVERS[
        speaker.pick(
            (
                "blind",
                "curtain",
                "shutter",
                "shade",
                "awning",
                "garage",
                "blind",
                "curtain",
                "window",
                "gate",
                "window",
                "window",
                "blind",
            )
        )
    ]
    if kind.device_class == "garage":
        return speaker.kind(kind, nowhere=1.0, single=0.7)
    return speaker.kind(COVER if speaker.chance(0.03) else kind, single=0.25)


def position(speaker: Speaker) -> Request:
    target = _moved(speaker)
    if speaker.chance(0.2):
        return make_request(speaker, _HALF, (home_call("set_position", **target.slots, position=50),), t=target.text)
    if speaker.chance(0.16):
        text = speaker.pick(tuple(_PARTS))
        text, value = speaker.numbers.fraction() if speaker.chance(0.65) else (text, _PARTS[text])
        calls = (home_call("set_position", **target.slots, position=value),)
        return make_request(speaker, _PARTLY, calls, t=target.text, v=text)
    value = speaker.numbers.percent()
    text = speaker.numbers.say_percent(value)
    text = speaker.slip(speaker.numbers.say(100 - value if value != 50 else 20), text)
    calls = (home_call("set_position", **target.slots, position=value),)
    return make_request(speaker, _POSITION, calls, t=target.text, v=text)


def warmth(speaker: Speaker) -> Request:
    value = temperature(speaker.rng)
    text = say_temperature(value, speaker.numbers, speaker.rng)
    text = speaker.slip(speaker.numbers.say(value + speaker.pick((1, 2, -1, -2))), text)
    way = speaker.rng.random()
    if way < 0.2:
        target = speaker.named("climate") if speaker.chance(0.7) else speaker.kind(CLIMATE, single=0.6)
        slots = _without_kind(target)
        calls = (home_call("climate_set_temperature", **slots, temperature=value),)
        return make_request(speaker, _WARMTH_NAMED, calls, t=target.text, v=text)
    if way < 0.36:
        area = speaker.area()
        if "'" not in area:
            calls = (home_call("climate_set_temperature", area=area, temperature=value),)
            return make_request(speaker, _WARMTH_AREA, calls, a=area, v=_with_unit(text))
    place = speaker.where(nowhere=0.42, floors=0.16)
    word = speaker.pick(_TEMPERATURE_WORDS)
    slots = dict(place.slots)
    if speaker.is_listed(word.removeprefix("the ")):
        slots["name"] = word.removeprefix("the ")
    calls = (home_call("climate_set_temperature", **slots, temperature=value),)
    unnamed = (home_call("climate_set_temperature", **place.slots, temperature=value),)
    here = place.text or (speaker.pick(("", "", "", "in here", "here")) if "name" not in slots else "")
    made = make_request(speaker, _WARMTH, calls, th=word, v=text, p=here)
    if word in made.text:
        return made
    # "Make it 21" alone may mean anything.
    return Request(made.form, made.text.replace(text, _with_unit(text)), unnamed)


def _with_unit(text: str) -> str:
    return text if any(unit in text for unit in ("degree", "°", "celsius", "fahrenheit")) else f"{text} degrees"


def fan_speed(speaker: Speaker) -> Request:
    text, value = _level(speaker, _SPEEDS)
    if speaker.chance(0.18):
        area = speaker.area()
        place = speaker.where(nowhere=0.25)
        made = make_request(speaker, _SPEED_PLACE, (), a=area, p=place.text, v=text)
        slots = {"area": area} if f"{area} fan speed" in made.text else place.slots
        return Request(made.form, made.text, (home_call("fan_set_speed", **slots, percentage=value),))
    target = speaker.named("fan") if speaker.chance(0.5) else speaker.kind(FAN, single=0.65)
    calls = (home_call("fan_set_speed", **_without_kind(target), percentage=value),)
    return make_request(speaker, _SPEED, calls, t=target.text, v=text)


BUILDERS: tuple[tuple[float, Callable[[Speaker], Request]], ...] = (
    (5, brightness),
    (4, colour),
    (2.6, colour_and_brightness),
    (1.3, shaded),
    (4.2, position),
    (4.5, warmth),
    (2.8, fan_speed),
)
