"""Other words and other forms for requests that the clauses and the default model read.

"Queue up some jazz" becomes "play some jazz", "in the kitchen turn off all lights, excluding the counter" gets its
place behind the command, and "only the desk lamp should be on" becomes two commands.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from edgevox.core.words import normalized_words
from edgevox.home.alarms.sun import SunTimes
from edgevox.home.alarms.time_parser import parse_time
from edgevox.home.clauses.imperative import as_imperative
from edgevox.home.entities import HomeError, House
from edgevox.home.grammar import ACTIONS, NUMBER, POLITE, found, pattern, without_article
from edgevox.home.resolve import labels
from edgevox.home.resolve.labels import find_place

# --- unusual words for a request

_NOT_MUSIC = (
    r"(?!(?:from|about|what|if|whether|how|you|it|that|them|back|myself)\b|(?:.* )?(?:time|date|weather|"
    r"forecast|lists?|"
    r"alarms?|reminders?|temperature|news|groceries|chores|jokes?|again|said|story|riddle|volume|sound)\b)"
)
_DIRECTIONS = (
    "louder|quieter|softer|brighter|dimmer|darker|warmer|cooler|colder|hotter|faster|slower|higher|lower|up|down"
)
_GET_UP = r"(?:wake|get|be|am|are|'m|'re) (?:(?:me|us) )?(?:up|awake|out of bed)"
_WORDS: tuple[tuple[re.Pattern[str], str], ...] = (
    (pattern(rf"^({POLITE})(?:dead ?bolt|bolt|latch|padlock)(?: up)? (?=the |my |our )"), r"\1lock "),
    (pattern(rf"^({POLITE})(?:unbolt|unlatch) (?=the |my |our )"), r"\1unlock "),
    (pattern(rf"^({POLITE})(?:nuke|zap|axe) (?=(?:the|all|my|our)\b.*\b(?:lights?|lamps?)\b)"), r"\1turn off "),
    (pattern(rf"^({POLITE})bright (?=the|my|our|all|up\b)"), r"\1brighten "),
    (pattern(rf"^{POLITE}light (?:it|everything|the (?:house|place)) (?:all )?up$"), "turn on the lights"),
    # what is not wanted any longer
    (
        pattern(
            rf"^{POLITE}(?:i|we) (?:(?:don'?t|do not|no longer) (?:want|need)|(?:am|are|'m|'re) done with) "
            r"(?P<what>(?:the|my|our) [\w' -]+?)(?: (?:on|running|playing|going|to be on))? (?:any ?more|any longer)$"
        ),
        r"turn off \g<what>",
    ),
    (
        pattern(
            rf"^{POLITE}(?:don'?t|do not) (?:leave|let|keep) (?P<what>(?:the|my|our|any|all) [\w' -]+?) (?:be )?on$"
        ),
        r"turn off \g<what>",
    ),
    (
        pattern(rf"^{POLITE}(?:don'?t|do not) (?:leave|keep) (?P<what>(?:the|my|our) [\w' -]+?) (?:open|up)$"),
        r"close \g<what>",
    ),
    (
        pattern(rf"^{POLITE}(?:don'?t|do not) (?:leave|keep) (?P<what>(?:the|my|our) [\w' -]+?) unlocked$"),
        r"lock \g<what>",
    ),
    *(
        (
            pattern(
                rf"^{POLITE}(?:make sure|ensure|see to it)(?: that)? (?P<what>(?:the|my|our|all (?:the )?) ?[\w' -]+?) "
                rf"(?:is|are)(?:n'?t| not) (?:{states})(?: any ?more)?$"
            ),
            rf"{verb} \g<what>",
        )
        for states, verb in (("on|running", "turn off"), ("open|up", "close"), ("unlocked", "lock"))
    ),
    (
        pattern(
            rf"^(?:instead of|rather than|in place of) (?:the|my|our) [\w' -]+?,? (?={POLITE}(?:turn|switch|open|close|"
            r"start|play|use|set|dim)\b(?!.*\b(?:it|them|that|one)\b))"
        ),
        "",
    ),
    (
        pattern(
            rf"^{POLITE}(?:don'?t|do not) (?P<verb>open|close|shut|lower|raise) (?P<what>(?:the|my|our) [\w' -]+?) "
            r"(?:all the way|fully|completely|entirely)(?: up| down)?,?(?: but)? (?:just|only) (?P<part>half ?way|half|"
            rf"a (?:bit|little|third|quarter)|{NUMBER} ?(?:%|percent))$"
        ),
        r"\g<verb> \g<what> \g<part>",
    ),
    (
        pattern(
            rf"^{POLITE}only (?=(?:open|close|shut|lower|raise|dim)\b.* (?:a (?:bit|little)|half ?way|half|slightly)$)"
        ),
        "",
    ),
    (
        pattern(
            rf"^{POLITE}(?:put|set|turn|switch) (?P<what>(?:the |my |our )?(?:heating|heater|thermostat|temperature|ac|"
            rf"radiator|volume)) (?:on|onto|at) (?P<to>{NUMBER})\b(?! ?(?:minutes?|hours?|o'?clock|am|pm|:))"
        ),
        r"set \g<what> to \g<to>",
    ),
    (
        pattern(
            r"^(?:i|we|you|everyone|the whole street|the neighbours) can (?:still |even |clearly )*hear "
            r"(?P<what>(?:the|that|your|my|our) [\w' -]+?) "
            r"(?:all the way|from|through|(?:up|down|over|out|in) here|upstairs|"
            r"downstairs|outside|in the (?:street|garden|bath\w*|next room))\b.*$"
        ),
        r"turn down \g<what>",
    ),
    # "don't dim it, brighten it", "slower, not faster", "the light must not stay on"
    (
        pattern(
            rf"^{POLITE}(?:don'?t|do not) {ACTIONS} (?:(?:up|down|on|off) )?(?P<what>(?:the|my|our) [\w' -]+?)"
            rf"(?: (?:up|down|on|off))?,? (?:(?:but|just|instead|rather) )*(?P<verb>{ACTIONS}) (?:it|them)"
            r"(?P<to> (?:up|down|on|off))?(?: instead)?$"
        ),
        r"\g<verb> \g<what>\g<to>",
    ),
    (pattern(rf"^(?P<command>.*\b(?:{_DIRECTIONS})\b.*?),? (?:(?:and|but) )?not (?:{_DIRECTIONS})$"), r"\g<command>"),
    (
        pattern(
            rf"^(?:instead of|rather than) \w+ing (?P<what>(?:the|my|our) [\w' -]+?),? (?:(?:just|please|simply) )*"
            rf"(?P<verb>{ACTIONS}) it(?P<to> (?:on|off|up|down))?$"
        ),
        r"\g<verb> \g<what>\g<to>",
    ),
    *(
        (
            pattern(
                r"^(?P<what>(?:the|my|our|all|those|these) [\w' -]+?) (?:must|should|shall|may|can)(?:n'?t| not) "
                rf"(?:be |stay |remain )(?:left )?(?:{states})(?: any ?more)?$"
            ),
            rf"{verb} \g<what>",
        )
        for states, verb in (("on|running", "turn off"), ("open|up", "close"), ("unlocked", "lock"))
    ),
    (
        pattern(
            rf"^(?!.*\b(?:on|off|at)\b)(?!.*\bto\b.* from )(?P<command>{POLITE}(?:turn|set|put|change|bring|take|"
            rf"lower|raise|drop|increase|decrease|reduce|dim) .+?) from {NUMBER}(?: ?(?:%|percent|degrees?))? "
            rf"(?P<to>to {NUMBER}(?: ?(?:%|percent|degrees?))?)$"
        ),
        r"\g<command> \g<to>",
    ),
    # "I can't sleep with that light on"
    (
        pattern(
            r"^(?:i |we |he |she |nobody )?(?:can'?t|cannot|can not|can (?:barely|hardly)|could(?:n'?t| not)) "
            r"(?:even )?(?:sleep|work|concentrate|think|rest|read|relax|talk|study|focus|nap)(?: properly)? with "
            r"(?P<what>(?:the|that|this|these|those|all (?:the|these|those)) [\w' -]+?) "
            r"(?:on|running|blaring|going|playing)"
            r"(?P<place> (?:in|on|at) (?:the|my|our) [\w' ]+)?$"
        ),
        r"turn off the \g<what>\g<place>",
    ),
    (
        pattern(
            rf"^{POLITE}(?:don'?t|do not|no need to|you (?:needn'?t|don'?t (?:have|need) to)|stop) "
            rf"remind(?:ing)? (?:me|us) "
            r"(?:about|of|to) (?P<what>.+?)(?: after all| any ?more| any longer| now)*$"
        ),
        r"cancel the reminder about \g<what>",
    ),
    (
        pattern(
            rf"^{POLITE}(?:don'?t|do not|no need to|you (?:needn'?t|don'?t (?:have|need) to)) wake (?:me|us)(?: up)?"
            r"(?: at| for)? (?P<when>(?:\w+ ){0,4}?\w+) (?:after all|any ?more)$"
        ),
        r"cancel the alarm for \g<when>",
    ),
    # music
    (pattern(rf"^{POLITE}(?:queue|cue) up (?!the\b|it\b|that\b)(?P<what>.+)$"), r"play \g<what>"),
    (
        pattern(
            rf"^(?:please )?(?:(?:can|could|may) (?:i|we)(?: please)? (?:hear|listen to)|let (?:me|us) (?:hear|"
            rf"listen to)|"
            rf"i(?:'d| would)? (?:want|need|like|love) to (?:hear|listen to)|spin(?= some)|"
            rf"throw on(?= some)) {_NOT_MUSIC}"
            r"(?P<what>.+?)(?: now| please)*$"
        ),
        r"play \g<what>",
    ),
    (
        pattern(
            rf"^{POLITE}(?:mute (?:the )?(?:sound |audio )?(?:volume|sound|audio)|(?:go|be|stay) (?:silent|mute))$"
        ),
        "mute",
    ),
    (pattern(rf"^{POLITE}(?:(?:turn|switch|put) on |activate |enable )?(?:the )?silent mode(?: on)?$"), "mute"),
    # the time
    (
        pattern(
            rf"^{POLITE}(?:the )?(?:current )?time(?: right)? now$|"
            rf"^{POLITE}(?:let me (?:know|hear)|i need(?: to know)?|give me|say|check) (?:the )?(?:current |"
            rf"exact )?time"
            r"(?: please| right now| now| it is)*$"
        ),
        "what time is it",
    ),
    # alarms
    (
        pattern(
            rf"^(?:{POLITE}(?:make sure(?: that)?|ensure(?: that)?|see to it that|see that) (?:i|we) ?{_GET_UP}|"
            rf"{POLITE}(?:make|have) (?:me|us) (?:wake up|get up|up)|i (?:need|have|want|"
            rf"would like)(?: you)? to {_GET_UP})"
            r" (?:at|by|before|around|for) (?P<when>.+)$"
        ),
        r"wake me up at \g<when>",
    ),
    (
        pattern(
            rf"^{POLITE}(?:(?:list|show(?: me)?|read(?: me)?|tell me|check|view|see|"
            rf"give me) )?(?:all )?(?:of )?(?:my|the)"
            r" (?:currently )?(?:set|active|current|upcoming) alarms$|"
            rf"^{POLITE}(?:list|show(?: me)?|read(?: me)?|check|view|see)(?: all)?(?: of)?(?: my| the)? alarms$"
        ),
        "which alarms are set",
    ),
    (
        pattern(
            r"^(?:did|have) (?:you|i|we) (?:already )?set (?:an|my|the) alarm(?: to wake me(?: up)?| to get up|"
            r" for me)?"
            r" (?:at|for) (?P<when>.+)$"
        ),
        r"is an alarm set for \g<when>",
    ),
    # the state of something
    (
        pattern(
            rf"^{POLITE}(?:see|view|show(?: me)?|check|display|let me (?:know|see)) (?P<what>(?:the|my|"
            rf"our) (?:[\w' -]+ )?"
            r"(?:thermostat|heating|heater|ac|temperature)(?: settings?| temperature|"
            r" status)?(?: in .+?)?)(?: right now| now)?$"
        ),
        r"what is \g<what>",
    ),
    (
        pattern(
            rf"^{POLITE}(?:confirm|verify|double ?-?check|check|make certain|tell me)(?: that| if|"
            rf" whether)* (?P<what>(?:the|my|"
            r"our) .+?) (?P<be>is|are) (?P<state>on|off|open|closed|shut|locked|unlocked)(?: for me)?$"
        ),
        r"\g<be> \g<what> \g<state>",
    ),
)
# "Close the curtain of bedroom"
_OF_PLACE = pattern(
    rf"^(?P<command>{POLITE}{ACTIONS} (?:on |off |up |down )?(?:the |my |our )?(?:[\w'-]+ )?(?:lights?|lamps?|"
    r"curtains?|blinds?|shutters?|fan|tv|television|speakers?|heating|heater|doors?)) of (?:the )?"
    r"(?P<place>[\w' -]+?)(?P<state> on| off)?$"
)
_WISHES = pattern(r"^(?:i|we) wish(?: that)? (?:the|my|our|all)\b")
_DOUBLE_ARTICLE = pattern(r"\bthe (?:all )?(?:the|that|this|these|those) ")
_REFERS_TO = pattern(r"\b(?:it|that|them|this|those|these)\b")
_STATE_OF = pattern(
    rf"^{POLITE}(?:(?:take|have) a (?:quick )?look at|look at|check (?:up )?on|inspect|what's up with|what is up "
    rf"with|"
    r"what's going on with|what's the (?:status|state|situation) (?:of|with)) (?P<what>(?:the|my|our) .+?)(?: "
    r"for me)?$"
)
_BOTH_ALARMS = pattern(
    rf"^{POLITE}(?:i (?:need|want)|set|make|create|give me|add)(?: me)?(?: an| two| the)? alarms? (?:for|at) "
    rf"(?:both )?"
    rf"(?P<first>{NUMBER}\S*(?: (?:am|pm))?) and (?:for |at |another (?:one )?(?:for|"
    rf"at) )?(?P<second>{NUMBER}\S*(?: (?:am|pm))?)$"
)

# --- forms that the clauses do not read

_PLACE_LEADS = pattern(
    rf"^(?P<place>(?:in|on|at) (?:the |my |our )?(?P<name>[\w'-]+(?: [\w'-]+){{0,2}}?)),? "
    rf"(?P<command>{POLITE}{ACTIONS}\b [^,]+?)(?P<rest>,.*| (?:except|excluding|apart from|other than|save "
    rf"for)\b.*)?$"
)
# "If the vacuum is not on, turn it on" asks for the same as without the condition.
_IF_NOT = pattern(
    r"^(?:if|in case|unless) (?P<thing>(?:the|my|our) [\w' -]+?) (?:is|are)(?P<not>n'?t| not)?(?: already| yet)? "
    r"(?P<state>on|off|open|opened|closed|shut|locked|unlocked|running|going|started|activated|active|paused|muted)"
    rf"(?: already| yet)?,? (?:then |please )*(?P<verb>{ACTIONS})(?P<first> on| off)? (?:it|them)(?P<last> on| off)?$"
)
_LEADS_TO = {"activated": "on", "active": "on", "start": "running", "activate": "on", "deactivate": "off"}
# "The hall light off, ninety seconds is enough"
_ENOUGH = pattern(
    rf"^(?P<command>.+?),? (?:for )?(?P<length>(?:about |just )*(?:an?|half an|{NUMBER}) (?:and a half "
    rf")?(?:seconds?|minutes?|hours?)) "
    r"(?:is|are|will be|should be|would be|will|should) (?:enough|plenty|do|fine|it)(?P<rest>(?:,| and| then).*)?$"
)
_TELL_TIME = pattern(
    rf"^{POLITE}(?:tell|notify|alert|warn|ping|buzz|call) (?:me|us) (?:when|once|as soon as) (?:it(?:'s| is| "
    rf"gets to| turns| strikes)|"
    r"the clock (?:strikes|says)) (?P<when>.+)$|"
    rf"^{POLITE}let (?:me|us) know (?:when|once|as soon as) it(?:'s| is| gets to| turns| strikes) (?P<then>.+)$"
)

# "I need to go at eight, set an alarm thirty minutes before that"
_BEFORE_THAT = pattern(
    rf"^(?P<remark>.*?\b(?:at|by|for|is) (?P<when>[\w: ]+?))(?:,|\.|;)?(?: so| and)? (?P<command>(?:please |can "
    rf"you |could you )*"
    rf"(?:set|make|give|add|put|wake|remind|schedule)\b.*?),? (?P<length>(?:an?|half an|{NUMBER}) (?:seconds?|"
    rf"minutes?|hours?)) "
    r"(?P<side>before|after|prior to|earlier|ahead of)(?: (?:that|then|it|hand))?$"
)
_WAKES = pattern(r"\b(?:wake|remind)\b")
_FOR_LENGTH = pattern(r"(?: up)?(?: for| at| to go off| about)?$")
# "Only the bedside lamp should be on in the bedroom"
_ONLY_ON = pattern(
    rf"^{POLITE}(?:i (?:only |just )?(?:want|need) )?(?:only|just|solely|exclusively|nothing (?:but|except)) "
    r"(?P<thing>(?:the |my |our )?[\w' -]+?) (?:(?:should|must|may|shall|can|is to|are to|has to|to) (?:be "
    r")?(?:left )?)?"
    r"(?:on|lit|burning)(?P<place> (?:in|on|at) (?:the |my |our )?[\w' ]+| upstairs| downstairs)?$"
)


# "It's boiling, turn it down" is about the heating.
_VERY = (
    r"(?: (?:getting|become|a bit|a little|so|too|really|very|way|much|absolutely|pretty|quite|rather|bloody|damn))*"
)
_FEELINGS = {
    "climate": r"hot|warm|boiling|roasting|baking|sweltering|cold|chilly|freezing|nippy|cool",
    "media_player": r"loud|noisy|quiet|deafening",
    "light": r"dark|dim|bright|gloomy",
}
_FEELS = (
    rf"^(?:(?:oh|god|man|wow|right|okay|ok|well|hey|brr+|phew|ugh)[, ]+)*(?:it's|it is|this (?:room|place) is){_VERY} "
    rf"(?:{'|'.join(_FEELINGS.values())})(?: in here| here| inside| today| tonight| right now| now)?[,.;]?"
    r"(?: (?:so|and|please|just|then|(?:can|could|would|will) you))* "
)
_FEELS_COMMAND = pattern(rf"{_FEELS}(?=(?:{ACTIONS}|up the|down the|bring|crank|give|get|play)\b)")
_TURN_IT = pattern(
    r"^(?P<verb>turn|bring|put|crank|take|dial) it (?P<rest>(?:right |all the way |back )?(?:up|down)\b.*)$"
)


def _felt(text: str, house: House) -> str:
    """The command after a remark such as "it's freezing", which says what "it" is."""
    if not (said := _FEELS_COMMAND.match(text)):
        return text
    command = text[said.end() :]
    if not (turned := _TURN_IT.match(command)):
        return command if not _REFERS_TO.search(command) else text
    domain = next(
        domain for domain, words in _FEELINGS.items() if re.search(rf"\b(?:{words})\b", said[0], re.IGNORECASE)
    )
    meant = [entity for entity in house.entities if entity.domain == domain]
    if not meant or (domain == "climate" and len(meant) > 1):
        return text
    what = {"climate": meant[0].name, "media_player": "volume", "light": "lights"}[domain]
    return f"{turned['verb']} the {what} {turned['rest']}"


def in_common_words(text: str) -> str:
    """A request with the words that the default model knows."""
    for words, replacement in _WORDS:
        if words.search(text):
            text = _DOUBLE_ARTICLE.sub("the ", words.sub(replacement, text))
    return text


def rearranged(text: str, house: House) -> str:
    """A request in a form that the clauses read: its place behind the command, no condition that changes nothing."""
    known = labels.vocabulary(house, labels.labels_of(house).values())
    if (asked := _STATE_OF.match(text)) and not known.isdisjoint(normalized_words(asked["what"])):
        return f"what is the state of {asked['what']}"
    if (said := _PLACE_LEADS.match(text)) and said["rest"] and find_place(house, said["name"]):
        text = f"{said['command']} {said['place']}{said['rest']}"
    text = (as_imperative(text) if _WISHES.match(text) else "") or _felt(text, house)
    if (said := _OF_PLACE.match(text)) and find_place(house, said["place"]):
        text = f"{said['command']} in the {said['place']}{said['state'] or ''}"
    if said := _ENOUGH.match(text):
        text = f"{said['command']} for {said['length']}{said['rest'] or ''}"
    return _without_idle_condition(text) or text


def _without_idle_condition(text: str) -> str:
    """The command of "if the fan isn't on, turn it on", which asks for the same without its condition; or ""."""
    if not (said := _IF_NOT.match(text)) or (said["not"] is None) != text.casefold().startswith("unless"):
        return ""
    verb, particle = said["verb"].casefold(), said["first"] or said["last"] or ""
    state = _LEADS_TO.get(said["state"].casefold(), said["state"].casefold())
    command = as_imperative(f"{verb}{particle} {said['thing']}")
    if _LEADS_TO.get(verb) == state or (command and command == as_imperative(f"{said['thing']} {state}")):
        return f"turn {state} {said['thing']}" if state in ("on", "off") else command
    return ""


def as_commands(text: str, house: House) -> tuple[str, ...]:
    """The commands of a request that no single call expresses; none for any other."""
    if both := _BOTH_ALARMS.match(text):
        return tuple(f"set an alarm for {both[which]}" for which in ("first", "second"))
    said = _ONLY_ON.match(text)
    lamps = found("turn_on", house, name=without_article(said["thing"])) if said else ()
    if said is None or not lamps or any(lamp.domain != "light" for lamp in lamps):
        return ()
    return f"turn on {said['thing']}", f"turn off all the lights{said['place'] or ''} except {said['thing']}"


def with_own_time(text: str, now: datetime, sun_times: SunTimes) -> str:
    """A request with a time of its own: "tell me when it is five", "at eight …, set an alarm half an hour before"."""
    words = text.strip(" .!?")
    try:
        if said := _TELL_TIME.match(words):
            expression = parse_time(said["when"] or said["then"], now)
            at = expression.when(now, "reminder", sun_times).at  # the next one: "half past four" in the afternoon too
            return f"set an alarm for {_clock(at, now)}" if expression.has_time else text
        if not (said := _BEFORE_THAT.match(words)):
            return text
        then = parse_time(said["when"], now).when(now, "alarm", sun_times).at
        length_s = parse_time(f"in {said['length']}", now).in_s
    except HomeError:
        return text
    if length_s is None:
        return text
    then += timedelta(seconds=length_s if said["side"].casefold() == "after" else -length_s)
    if then <= now:
        return text
    command = _FOR_LENGTH.sub("", said["command"])
    return f"{command} {'at' if _WAKES.search(command) else 'for'} {_clock(then, now)}"


def _clock(then: datetime, now: datetime) -> str:
    """A time in words that the parser of times reads: "7:30 am tomorrow"."""
    day = {0: "today", 1: "tomorrow"}.get((then.date() - now.date()).days, f"on {then:%B} {then.day}")
    return f"{then.hour % 12 or 12}:{then:%M} {'am' if then.hour < 12 else 'pm'} {day}"
