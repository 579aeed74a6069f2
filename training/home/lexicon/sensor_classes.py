"""Questions about each class of binary sensor and of sensor."""

from __future__ import annotations

from dataclasses import dataclass

from edgevox.core.languages import plural
from training.home.templates import Grammar, Pattern, wordings


@dataclass(frozen=True, slots=True)
class Sense:
    """A class of binary sensor.

    `nouns` are what such sensors or the things they watch are called (singular, plural), with words for on
    and off behind "is"; `named` and `placed` are sentences about a thing {t} and about a place {p}.
    """

    nouns: tuple[tuple[str, str], ...]
    on: Pattern | None
    off: Pattern | None
    named_on: Grammar | None = None
    named_off: Grammar | None = None
    placed_on: Grammar | None = None
    placed_off: Grammar | None = None


def _nouns(text: str) -> tuple[tuple[str, str], ...]:
    return tuple((one, plural(one)) for one in text.split("|") if one)


def _sense(nouns: str, on: str, off: str, named_on: str = "", named_off: str = "", placed_on: str = "",
           placed_off: str = "") -> Sense:  # fmt: skip
    grammars = (Grammar(lines) if lines else None for lines in (named_on, named_off, placed_on, placed_off))
    return Sense(_nouns(nouns), wordings(on) if on else None, wordings(off) if off else None, *grammars)


_OPEN_ON = """
? did (I|we|someone|anyone|anybody|somebody) leave {t} open
? have (I|we) left {t} open
? was {t} left open
"""
_OPEN_OFF = """
? did (I|we|someone|anyone) (close|shut) {t}
? have (I|we) (closed|shut) {t}
"""
_SHUT = "(closed|closed|shut)"
_TRIGGERED = "(triggered|going off|active|on)"
_CLEAR = "(clear|not triggered|quiet|off)"

SENSES: dict[str, Sense] = {
    "battery": _sense(
        "battery", "(low|low|low|running low|nearly empty|almost empty|empty)",
        "(fine|ok|okay|normal|charged|full)",
        """
        3? is {t's} battery (low|low|running low|nearly empty|almost empty|empty|almost dead)
        3? is {t} battery (low|low|running low|nearly empty|empty)
        2? is the battery (of|in|on) {t} (low|running low|empty)
        2? is {t} (low on|running out of|almost out of|running low on|nearly out of) battery
        ? does {t} (need a new battery|have a low battery|need new batteries|need charging)
        ? does the battery (of|in) {t} need (changing|replacing|to be replaced|to be charged)
        """,
        """
        2? is {t's} battery (fine|ok|okay|normal|charged|full)
        ? is the battery (of|in|on) {t} (fine|ok|okay|normal|charged|full)
        ? is {t} battery (ok|okay|normal|charged|full)
        """,
        """
        2? are there any low batteries {p}
        ? do (I|we) have [any] low batteries {p}
        ? does anything {p} need a new battery
        """,
    ),
    "battery_charging": _sense(
        "battery|phone|device", "(charging|being charged)", "(not charging|discharging)",
        """
        4? is {t} [currently|still|already] charging
        2? is {t} being charged
        ? is {t's} battery (charging|being charged)
        ? is the battery of {t} charging
        ? is {t} on charge
        """,
        """
        2? is {t} (not charging|discharging)
        ? is {t} not being charged
        ? has {t} stopped charging
        ? is {t's} battery (discharging|not charging)
        """,
    ),
    "carbon_monoxide": _sense(
        "carbon monoxide detector|carbon monoxide alarm|co detector",
        _TRIGGERED, _CLEAR,
        """
        2? has {t} detected (carbon monoxide|any carbon monoxide|co)
        2? is {t} (detecting|sensing) carbon monoxide
        ? is {t} (triggered|going off)
        ? did {t} (go off|detect carbon monoxide|trigger)
        """,
        """
        2? is {t} (clear|not triggered)
        """,
        """
        3? is there [any] carbon monoxide {p}
        2? (is carbon monoxide detected|was carbon monoxide detected|has carbon monoxide been detected) {p}
        ? is there a carbon monoxide (leak|problem|alarm) {p}
        ? do you detect [any] carbon monoxide {p}
        """,
        """
        2? is there no carbon monoxide {p}
        ? is it free of carbon monoxide {p}
        """,
    ),
    "cold": _sense(
        "pipe", "(cold|freezing|too cold)", "(not cold|not freezing)",
        """
        3? is {t} [too|very|really] cold
        2? is {t} freezing
        ? is {t} getting (cold|too cold)
        ? is {t} cold (enough|right now|at the moment)
        """,
        """
        2? is {t} not (cold|freezing)
        ? is {t} no longer cold
        """,
    ),
    "connectivity": _sense(
        "device|camera|sensor", "(connected|online|connected|reachable)",
        "(disconnected|offline|not connected|unreachable)",
        """
        4? is {t} [still|currently] (connected|online)
        2? does {t} have [a|an internet|a network] connection
        ? is {t} connected to (the internet|the network|the wifi)
        ? is {t} (up|reachable|available)
        """,
        """
        4? is {t} [currently] (disconnected|offline|not connected|unreachable)
        2? has {t} (lost its connection|gone offline|lost connection|disconnected)
        ? did {t} (disconnect|go offline|lose connection)
        ? is {t} down
        """,
    ),
    "door": _sense("door", "(open|open|open|opened)", _SHUT, _OPEN_ON, _OPEN_OFF, """
        2? did (I|we|anyone|someone) leave (a door|any doors|the door) open {p}
        ? is there a door open {p}
        """, """
        ? did (I|we) (close|shut) (all the doors|every door|the doors) {p}
        """),
    "garage_door": _sense("garage door", "(open|open|opened)", _SHUT, _OPEN_ON, _OPEN_OFF),
    "gas": _sense(
        "gas detector|gas alarm|gas sensor", _TRIGGERED, _CLEAR,
        """
        2? has {t} detected [any] gas
        2? is {t} (detecting|sensing) gas
        ? did {t} (detect gas|go off|trigger)
        ? is {t} triggered
        """,
        "2? is {t} (clear|not triggered)",
        """
        3? is there (any gas|gas|a gas leak) {p}
        ? is gas (leaking|detected|escaping) {p}
        2? (was gas detected|has gas been detected) {p}
        ? do you detect [any] gas {p}
        ? is there a gas leak {p}
        """,
        "2? is there no gas {p}",
    ),
    "heat": _sense(
        "heat detector", _TRIGGERED, _CLEAR,
        """
        3? is {t} [too|very|still|really] hot
        2? is {t} overheating
        ? is {t} (getting|running) [too] hot
        ? has {t} detected heat
        """,
        """
        2? is {t} not (hot|overheating)
        ? is {t} no longer hot
        ? has {t} cooled (down|off)
        """,
    ),
    "light": _sense(
        "light sensor", "(triggered|detecting light)", "(not detecting light|dark)",
        """
        3? is {t} (detecting|sensing|seeing|picking up|registering|getting) [any|some|] light
        3? (does|did) {t} (detect|see|sense|pick up|register|notice) [any|some|a bit of] light
        2? has {t} (detected|seen|picked up|noticed|registered) [any|some] light
        2? is there [any|some|] light (at|on|near|reaching|falling on|hitting) {t}
        2? is light (being detected|detected|being picked up|visible) (by|at|on) {t}
        2? is any light (falling on|reaching|getting to|hitting) {t}
        ? is {t} (lit|in the light|lit up)
        ! (tell me|check) (if|whether) {t} (sees|detects|picks up) [any] light
        ? (can|could) {t} see [any|some] light
        """,
        """
        2? is {t} (not detecting light|not detecting any light|in the dark|dark|seeing no light)
        ? is (it dark|there no light) (at|near|around) {t}
        ? does {t} (see|detect) no light
        """,
        """
        2? (is|was) [any] light detected {p}
        2? is [any|some] light being detected {p}
        ? has [any] light been (detected|seen|picked up) {p}
        ? do you (detect|see|sense) [any] light {p}
        ? (does|did) (the|a|any) light sensor (see|detect|pick up) (light|anything|any light) {p}
        """,
        """
        ? is no light [being|] detected {p}
        ? is there no light detected {p}
        """,
    ),
    "lock": _sense(
        "door", "(unlocked|unlocked|not locked|open to anyone)", "(locked|locked|locked up|bolted|secured)",
        """
        3? (did|has) (anyone|anybody|someone|somebody) (unlock|unlocked|left unlocked) {t}
        2? did (I|we|anyone|someone) (leave {t} unlocked|forget to lock {t}|unlock {t})
        2? has {t} been (left unlocked|unlocked)
        ? is {t} (unbolted|not locked|still unlocked)
        ? have (I|we) left {t} unlocked
        """,
        """
        3? did (I|we|anyone|someone) [remember to|] lock {t}
        2? (has anyone locked|have I locked|have we locked|has somebody locked) {t}
        2? is {t} (locked|locked up|properly locked|still locked|bolted)
        ? has {t} been locked [up|yet|]
        ! (tell me|check) whether {t} is locked
        """,
    ),
    "moisture": _sense(
        "leak sensor|water sensor|moisture sensor", "(wet|triggered|damp)", "(dry|clear)",
        """
        3? is {t} [still] (wet|damp|leaking|moist)
        2? has {t} (detected|found|noticed|picked up|reported) [any] (water|a leak|moisture)
        2? is {t} (detecting|sensing|reporting|picking up) [any] (water|moisture|a leak|wetness)
        ? (does|did) {t} (sense|see|report|find) (water|a leak|any moisture|any water)
        ? is (water|moisture) [being] detected (at|by|under) {t}
        ? is {t} (under water|flooded|soaked|soaking|dripping)
        ? has (water|anything) (leaked|got in|spilled|come in) (at|near|under) {t}
        ? is there (water|moisture|a leak) (at|on|in|under|near) {t}
        ? did {t} (get wet|leak|detect water)
        """,
        """
        3? is {t} [completely|still|already] dry
        ? is {t} not (wet|leaking)
        ? has {t} dried [out|up]
        """,
        """
        3? is there (a|any) (leak|water leak) {p}
        2? is there [any] (water|moisture) [detected|on the floor] {p}
        2? (is|was) (water|moisture|a leak) detected {p}
        ? is it (wet|damp) {p}
        ? is (something|anything) (leaking|dripping|wet|flooded) {p}
        ? is water leaking {p}
        ? has (a leak|any water|any moisture) been (found|detected|reported) {p}
        ? (do we have|have we got) (a leak|water on the floor|a flood) {p}
        """,
        """
        2? is it dry {p}
        ? is everything dry {p}
        ? is there no (leak|water) {p}
        """,
    ),
    "motion": _sense(
        "motion sensor|motion detector", "(triggered|active|on|detecting motion)",
        "(clear|inactive|not triggered)",
        """
        2? is {t} (detecting|seeing) [any] (motion|movement)
        2? has {t} (detected|seen|picked up) [any] (motion|movement)
        2? (does|did) {t} (detect|see|sense|pick up) [any] (motion|movement)
        ? is there [any] (motion|movement) (at|on|near|in front of) {t}
        ? is {t} triggered
        """,
        """
        2? is {t} (clear|not detecting motion|not detecting any motion)
        ? is there no (motion|movement) (at|near|on) {t}
        """,
        """
        5? is there [any|some] (motion|movement) [detected] {p}
        2? (is|was) [any] (motion|movement) detected {p}
        2? has [any] (motion|movement) been detected {p}
        2? do you (detect|see|sense) [any] (motion|movement) {p}
        ? (did|do) the (sensors|motion sensors) (detect|pick up) [any] (motion|movement) {p}
        ? is (something|anything|someone|somebody) moving around {p}
        """,
        """
        2? is there no (motion|movement) {p}
        ? is it clear of motion {p}
        ? is no motion detected {p}
        """,
    ),
    "moving": _sense(
        "", "", "",
        """
        4? is {t} [still|currently] moving
        ? is {t} in motion
        ? did {t} (move|start moving)
        ? has {t} (moved|started moving)
        """,
        """
        2? is {t} (standing still|not moving|stationary|still)
        2? has {t} stopped moving
        ? did {t} stop moving
        """,
    ),
    "occupancy": _sense(
        "room", "(occupied|in use|taken)", "(empty|unoccupied|vacant|free)",
        """
        4? is {t} [still|currently] (occupied|in use|taken|busy|being used)
        2? is (someone|anyone|anybody|somebody) [still|] (on|in|at|using|sitting on|lying on) {t}
        ? is there (someone|anyone|anybody) (on|in|at) {t}
        ? (does|did) {t} (detect|sense|see) (anyone|someone|anybody|occupancy)
        ? is occupancy detected (at|on|in|by) {t}
        ? has (someone|anyone) taken {t}
        """,
        """
        3? is {t} (unoccupied|free|empty|vacant|not occupied|available|not in use)
        2? is (nobody|no one) (on|in|at|using) {t}
        ? has everyone left {t}
        """,
        """
        3? is (anyone|anybody|someone|somebody) {p}
        2? is there (anyone|anybody|someone|somebody) {p}
        ? do you (detect|sense) (anyone|anybody|someone) {p}
        2? is [any|] occupancy [being|] detected {p}
        ? (is|was) (a person|anybody|somebody) detected {p}
        """,
        """
        2? is (nobody|no one) {p}
        ? is there (nobody|no one) {p}
        """,
    ),
    "opening": _sense(
        "", "", "",
        """
        5? is {t} [still|currently|] (open|opened|ajar|wide open|standing open)
        2? has {t} been (opened|left open)
        2? (has|did) (anyone|someone|anybody|somebody) (opened|open) {t}
        ! (tell me|check|see) (if|whether) {t} is [still|] open
        ? is {t} not (closed|shut) [properly|]
        """ + _OPEN_ON,
        """
        4? is {t} [still|already|properly|] (closed|shut)
        ! (tell me|check|see) (if|whether) {t} is (closed|shut)
        ? has {t} been (closed|shut)
        """ + _OPEN_OFF,
    ),
    "plug": _sense(
        "device", "(plugged in|plugged in|connected to the power)", "(unplugged|not plugged in)",
        """
        4? is {t} [still|currently|already] plugged in
        2? did (I|we|someone) plug in {t}
        ? did (I|we) plug {t} in
        """,
        """
        3? is {t} (unplugged|not plugged in)
        2? did (I|we|someone) unplug {t}
        ? has {t} been unplugged
        """,
    ),
    "power": _sense(
        "", "", "",
        """
        3? does {t} [still] have power
        2? is {t} (powered|getting power|receiving power|under power)
        ? is there power (on|at) {t}
        ? is {t} supplied with power
        """,
        """
        2? is {t} (without power|not powered|unpowered|not getting power)
        2? (has {t} lost power|did {t} lose power)
        """,
        """
        2? is there power {p}
        ? do we have power {p}
        """,
        """
        2? is there no power {p}
        ? is the power out {p}
        """,
    ),
    "presence": _sense(
        "", "", "",
        """
        4? is {t} [at] home
        3? is {t} [still|already|] (present|there|in the house|around|here|back|back home|nearby)
        2? has {t} (come home|come back|arrived|got back|shown up|arrived home)
        ? can you (see|find|detect) {t} [at home|in the house|]
        ? is {t} (detected|in range)
        ! (tell me|check) (if|whether) {t} is (home|at home|present|here)
        """,
        """
        3? is {t} (away|not home|not at home|gone|out|absent|not here|not present)
        2? has {t} (left|left home|gone out|left the house|gone)
        """,
        """
        3? is [any|a|] presence [being|] detected {p}
        2? has [any|] presence been detected {p}
        2? is there [any|a|] presence {p}
        2? do you (detect|sense|see) [any|a|] presence {p}
        ? (do|did) the presence (sensors|detectors) (see|detect|pick up) (anyone|anybody|someone) {p}
        """,
        """
        2? is no presence [being|] detected {p}
        ? is there no presence {p}
        """,
    ),
    "problem": _sense(
        "", "", "",
        """
        3? is there (a problem|any problem|a fault|an issue|anything wrong|something wrong) with {t}
        3? does {t} have (a problem|any problems|an issue|a fault|any issues)
        2? is (something|anything) wrong with {t}
        ? is {t} (having problems|having a problem|broken|faulty|acting up|reporting a problem)
        """,
        """
        3? is {t} (ok|okay|fine|all right|working fine|working properly|in order|problem free)
        ? is everything (ok|okay|fine|all right) with {t}
        """,
        """
        2? are there [any] problems {p}
        ? is there (a|any) problem {p}
        ? is (anything|something) wrong {p}
        ? does anything {p} have a problem
        """,
        """
        ? are there no problems {p}
        """,
    ),
    "running": _sense(
        "appliance|machine", "(running|still running)", "(not running|stopped)",
        """
        5? is {t} [still|currently|already] running
        ? is {t} still going
        ? has {t} started [running|yet]
        """,
        """
        2? is {t} not running
        3? (has {t} finished|is {t} finished|is {t} done|has {t} stopped)
        2? has {t} stopped [running]
        """,
    ),
    "safety": _sense(
        "", "", "",
        """
        3? is {t} (unsafe|dangerous|not safe)
        ? is there a (danger|safety problem) at {t}
        """,
        """
        3? is {t} safe
        ? is {t} (secure|safe to use)
        """,
        """
        2? is it (unsafe|dangerous|not safe) {p}
        ? is there any danger {p}
        """,
        """
        2? is it safe {p}
        ? is everything safe {p}
        """,
    ),
    "smoke": _sense(
        "smoke detector|smoke alarm|smoke sensor", _TRIGGERED, _CLEAR,
        """
        2? (has {t} detected|does {t} detect|does {t} see) [any] smoke
        2? is {t} (detecting|sensing) smoke
        ? is there smoke (at|from|near|coming from) {t}
        ? is {t} (triggered|going off)
        ? did {t} (go off|detect smoke|trigger)
        """,
        "2? is {t} (clear|not triggered|not detecting smoke)",
        """
        4? is there [any] smoke [detected] {p}
        2? is smoke detected {p}
        2? (was smoke|has smoke been|has any smoke been) detected {p}
        ? do you (detect|see|smell) [any] smoke {p}
        ? is (something|anything) (burning|on fire) {p}
        """,
        "2? is there no smoke {p}",
    ),
    "sound": _sense(
        "sound sensor|noise sensor", "(triggered|detecting sound|detecting noise)", "(quiet|clear)",
        """
        2? is {t} (detecting|hearing|picking up) [any] (sound|noise)
        2? (does|did) {t} (hear|detect|pick up) [any|a] (sound|noise)
        ? has {t} (heard|detected) [any|a] (sound|noise)
        """,
        "2? is {t} (quiet|silent|not hearing anything)",
        """
        3? is there [any|some] (sound|noise) [detected] {p}
        2? (is|was) [any] (sound|noise) detected {p}
        ? has [any] (sound|noise) been detected {p}
        ? do you (hear|detect) [any] (sound|noise) {p}
        ? is it (noisy|loud) {p}
        """,
        """
        2? is it (quiet|silent) {p}
        ? is there no (noise|sound) {p}
        """,
    ),
    "tamper": _sense(
        "", "", "",
        """
        3? has {t} been (tampered with|messed with|interfered with|fiddled with|tampered with)
        2? (is|was) {t} [being|] tampered with
        2? (does|did) {t} (report|detect|show|sense) [any] tampering
        ? is [any] tampering [being|] detected (at|on|by) {t}
        ? is the tamper (alarm|switch|contact) (of|on) {t} (triggered|active)
        ? has (anyone|somebody|someone) (messed|fiddled|interfered) with {t}
        2? (did anyone tamper|did someone tamper|has anyone tampered|has somebody tampered) with {t}
        ? is (someone|anyone|somebody) tampering with {t}
        ? is there tampering (at|with) {t}
        """,
        """
        2? is {t} (untampered|not tampered with|untouched|free of tampering|intact)
        ? is there no tampering (at|with) {t}
        """,
        """
        2? (is|was) [any] tampering detected {p}
        2? has [any] tampering been (detected|reported|noticed) {p}
        ? has (anything|something) been (tampered|messed|interfered) with {p}
        ? is (anyone|someone) tampering with (anything|something) {p}
        """,
    ),
    "update": _sense(
        "device", "(out of date|outdated)", "(up to date|current)",
        """
        3? is there (an|a new|any) update (for|available for) {t}
        2? does {t} (have|need) (an|a new|an available) update
        2? is {t} (out of date|outdated|not up to date)
        ? does {t} need (updating|to be updated)
        ? can {t} be updated
        """,
        """
        3? is {t} (up to date|current|on the latest version)
        """,
        """
        2? are there [any] updates [available]
        ? does anything need (an update|updating)
        """,
    ),
    "vibration": _sense(
        "vibration sensor", "(triggered|vibrating)", "(still|clear)",
        """
        4? is {t} [still|currently] (vibrating|shaking)
        ? has {t} detected [a|any] vibration
        ? does {t} (vibrate|shake)
        ? is there [any] vibration (at|on) {t}
        """,
        """
        2? is {t} not (vibrating|shaking)
        ? has {t} stopped (vibrating|shaking)
        """,
        """
        2? is there [any] vibration {p}
        ? is vibration detected {p}
        """,
    ),
    "window": _sense("window", "(open|open|open|opened)", _SHUT, _OPEN_ON, _OPEN_OFF, """
        2? did (I|we|anyone|someone) leave (a window|any windows|the window) open {p}
        ? is there a window open {p}
        """, """
        ? did (I|we) (close|shut) (all the windows|every window|the windows) {p}
        """),
}  # fmt: skip


# Where a sensor of presence is called what it is, it does not come home.
PRESENCE_SENSOR = (
    Grammar("""
3? is {t} (detecting|sensing|seeing|picking up) (anyone|somebody|someone|a person|presence|anybody)
3? (does|did) {t} (detect|see|sense|pick up) (anyone|anybody|someone|presence)
2? has {t} (detected|seen|picked up|noticed) (anyone|someone|anybody|presence)
2? is (anyone|anybody|someone|presence|a person) detected (by|at|on) {t}
? is there (anyone|presence|somebody) at {t}
"""),
    Grammar("""
2? is {t} (clear|not detecting anyone|not seeing anyone|seeing nobody)
2? (does|did) {t} (detect|see) (nobody|no one)
? is nobody detected by {t}
"""),
)


# Words that tell the class whatever the thing is called: "which devices are offline", "is anything wet".
TELLING: dict[str, tuple[Pattern, Pattern]] = {
    device_class: (wordings(on), wordings(off))
    for device_class, on, off in (
        ("battery", "(low on battery|running low on battery|running out of battery)", "not low on battery"),
        ("battery_charging", "charging", "not charging"),
        ("carbon_monoxide", "(detecting carbon monoxide|sensing carbon monoxide)", "not detecting carbon monoxide"),
        ("cold", "(cold|freezing|too cold)", "not cold"),
        ("connectivity", "(connected|online|connected)", "(disconnected|offline|not connected)"),
        ("gas", "(detecting gas|sensing gas)", "not detecting gas"),
        ("heat", "(hot|overheating|too hot)", "(not hot|not overheating)"),
        ("light", "(detecting light|sensing light)", "not detecting light"),
        ("moisture", "(wet|damp|leaking|detecting water)", "(dry|not wet)"),
        ("motion", "(detecting motion|detecting movement|sensing motion)", "not detecting motion"),
        ("moving", "moving", "(not moving|standing still|stationary)"),
        ("plug", "plugged in", "(unplugged|not plugged in)"),
        ("power", "(powered|getting power)", "(without power|not powered)"),
        ("problem", "(having a problem|having problems|reporting a problem|broken)", "free of problems"),
        ("running", "(running|still running)", "not running"),
        ("safety", "(unsafe|not safe)", "safe"),
        ("smoke", "(detecting smoke|sensing smoke)", "not detecting smoke"),
        ("sound", "(detecting sound|making noise|detecting noise)", "(silent|not making noise)"),
        ("tamper", "tampered with", "not tampered with"),
        ("update", "(out of date|outdated|not up to date)", "up to date"),
        ("vibration", "(vibrating|shaking)", "not vibrating"),
    )
}


@dataclass(frozen=True, slots=True)
class Measure:
    """A class of sensor: what its value is called, and sentences about a thing {t} and a place {p}."""

    words: Pattern
    named: Grammar | None = None
    placed: Grammar | None = None


def _measure(words: str, *, named: str = "", placed: str = "") -> Measure:
    grammars = (Grammar(lines) if lines else None for lines in (named, placed))
    return Measure(wordings(f"({words})"), *grammars)


MEASURES: dict[str, Measure] = {
    "battery": _measure(
        "battery|battery level|battery|charge level|battery charge|battery percentage",
        named="""
        3? how much (battery|charge) does {t} have [left]
        2? how (full|charged) is {t's} battery
        ? how (charged|full) is the battery (of|in|on) {t}
        ? what percentage is {t} (at|on)
        ? how is {t's} battery doing
        ? how much battery is left (on|in) {t}
        """,
    ),
    "power": _measure(
        "power|power consumption|power usage|power draw|wattage|current power|electricity usage",
        named="""
        3? how much power (is {t} using|is {t} drawing|is {t} consuming)
        2? how much power does {t} (use|draw|consume)
        2? how many watts (is {t} using|does {t} use|is {t} drawing|is {t} pulling)
        ? how much electricity is {t} using
        """,
        placed="2? how much power (is being used|is used|are we using|do we use) {p}",
    ),
    "energy": _measure(
        "energy|energy consumption|energy usage|energy use",
        named="""
        3? how much energy (did {t} use|has {t} used|does {t} use|has {t} consumed|did {t} consume) [today]
        ? how many kilowatt hours (did {t} use|has {t} used)
        """,
    ),
    "voltage": _measure(
        "voltage|voltage level",
        named="""
        2? how many volts (does {t} have|is {t} at)
        ? how high is the voltage (of|at|on) {t}
        """,
    ),
    "temperature": _measure(
        "temperature|temperature|temp|current temperature",
        named="""
        2? how (warm|hot|cold) is {t}
        ? how many degrees is {t}
        """,
    ),
    "humidity": _measure(
        "humidity|humidity|humidity level|relative humidity|air humidity",
        named="2? how humid is {t}",
        placed="""
        4? how humid is it {p}
        ? how high is the humidity {p}
        ? how (damp|dry) is the air {p}
        """,
    ),
    "carbon_dioxide": _measure(
        "co2|co2 level|carbon dioxide|carbon dioxide level|co2 concentration",
        placed="""
        2? how much (co2|carbon dioxide) is there {p}
        ? how high is the (co2|carbon dioxide|co2 level) {p}
        """,
    ),
    "carbon_monoxide": _measure(
        "carbon monoxide level|carbon monoxide concentration|carbon monoxide reading",
        placed="2? how much carbon monoxide is there {p}",
    ),
    "pm25": _measure(
        "pm2.5|pm 2.5|pm2.5 level|pm 2.5 level|fine dust level|particulate level",
        placed="2? how much fine dust is there {p}",
    ),
    "illuminance": _measure(
        "illuminance|light level|illuminance level|lux level|lux",
        placed="""
        3? how bright is it {p}
        ? how much light is there {p}
        ? how many lux are there {p}
        """,
    ),
    "pressure": _measure("pressure|air pressure|pressure level", named="2? how high is the pressure (in|of|at) {t}"),
    "moisture": _measure("moisture|moisture level|soil moisture", named="2? how (moist|wet|dry) is {t}"),
    "gas": _measure("gas consumption|gas usage", named="2? how much gas (did {t} use|has {t} used|does {t} use)"),
}
