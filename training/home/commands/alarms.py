"""Alarm clocks, reminders and the alarm panel: set, cancel, query, arm.

Times, names and tasks are copied as said. "Remind me to buy eggs" is an item of the shopping list; with a
time or a shop it is a reminder. An alarm with a time of day rings; without one it is the panel.
"""

from __future__ import annotations

from collections.abc import Callable

from training.home.commands.lists import LACKING
from training.home.device_questions import OF_ONE
from training.home.houses import spoken_name
from training.home.lexicon import vocabulary
from training.home.lexicon.devices import ALARM, NAMES
from training.home.lexicon.values import Moment, article, day, hour, in_a_while, moment
from training.home.lexicon.vocabulary import GROCERIES, PEOPLE, errand, with_article
from training.home.speaker import Phrase, Request, Speaker, make_request
from training.home.templates import Grammar, home_call, wordings

# {v} is a time without its preposition, {at} with it, {fd} and {d} a day, {n} a name, {h} an hour alone.
_ALARM = Grammar("""
6! (set|set|create|make|add|put|schedule) an alarm for {v}
3! (set|put) (my|the) alarm (for|to) {v}
3! set (my|an|the) alarm {at}
4! wake me [up] {at}
2! (get|rouse|shake|ring|call|buzz) me [up] {at}
2! (get me up|get me out of bed|wake us up|wake us|wake me|give me a wake-up call|ring the bell|beep) {at}
2! (set|book|give me) a wake up call (for|at) {v}
! (start|program|prepare) an alarm for {v}
! make sure (I'm|I am|we're|that I'm) (up|awake|out of bed) {at}
! make (the|my) alarm (go off|ring|sound) {at}
! let (the|my) alarm (ring|go off|sound) {at}
! have (the|my) alarm (ring|go off|wake me) {at}
3. alarm (for|) {v}
2. alarm {at}
2. (wake up|wake-up) call (for|at) {v}
. [an] alarm clock for {v} please
2. I (need|want|have) to (get up|be up|be woken|wake up|be awake) {at}
2. I (need|want|would like) an alarm for {v}
. I'd like (an alarm for|to be woken at|to get up at) {v}
. I (must|should) be up {at}
. don't let me sleep past {h}
. {at} I (have to|need to|want to) (get up|be up)
2. {at} wake me [up] [please]
. {at} please wake me [up]
. (new alarm|another alarm), {v}
: (can|could|would|will) you wake me [up] {at}
: (can|could) (I|we) (get|have) an alarm (for|at) {v}
""")
_ALARM_NAMED = Grammar("""
3! set an alarm for {v} (called|named|labelled) {n}
3! (set|create|make) {an} {n} alarm for {v}
3! wake me [up] {at} for [the|my] {n}
2! set an alarm (called|named) {n} for {v}
2! set an alarm for [the|my] {n} {at}
2! (set|put) the {n} alarm (for|to) {v}
! set an alarm for {v} for [the|my] {n}
! name an alarm {n} and set it for {v}
. {n} alarm {at}
2. {n} alarm for {v}
. alarm {n}, {v}
. {at} wake me [up] for [the|my] {n}
. I need to get up {at} for [the|my] {n}
. I need {an} {n} alarm {at}
: (can|could) you wake me [up] {at} for [the|my] {n}
""")
# {k} is what is to be done: "call mum"; {g} what it is about: "the dentist".
_REMIND_AT = Grammar("""
8! remind me to {k} {at}
5: remind me {at} to {k}
3: {at} remind me to {k}
2: remind me {at} that I (have|need|want|ought) to {k}
2! (set|create|make|add) a reminder to {k} {at}
2: (set|create|make|add) a reminder {at} to {k}
2: (set|create|make|add) a reminder for {v} to {k}
: (put in|schedule|give me) a reminder for {v} to {k}
2! don't let me forget to {k} {at}
! make sure I (don't forget to|remember to) {k} {at}
! help me remember to {k} {at}
: (tell|ping|nudge|poke|prompt|nag|alert) me {at} to {k}
! (tell|ping|nudge|prompt|nag) me to {k} {at}
: let me know {at} (to|that I have to|that I need to) {k}
2: reminder {at}, {k}
: reminder {at} to {k}
. reminder to {k} {at}
2. {at} I (have|need|want) to {k}, remind me
. I (have|need|want) to {k} {at}, (remind me|don't let me forget|please remind me)
. I (mustn't|must not|can't) forget to {k} {at}, [so] remind me
. I (want|need|would like) to be reminded to {k} {at}
. I'd like [to have] a reminder to {k} {at}
: (can|could|would|will) you remind me to {k} {at}
: (can|could|would) you remind me {at} to {k}
""")
_REMIND = Grammar("""
6: remind me to {k}
2: (set|create|make|add) a reminder to {k}
2: don't let me forget to {k}
: make sure I (don't forget to|remember to) {k}
: help me remember to {k}
: I need a reminder to {k}
: (can|could) you remind me to {k}
: remind me that I (have|need) to {k}
""")
_ABOUT_AT = Grammar("""
4! remind me (of|about) {g} {at}
3! remind me {at} (of|about) {g}
2! (set|create|make) a reminder (for|about) {g} {at}
2! (set|create|make) a reminder {at} (for|about) {g}
2! {at} remind me (of|about) {g}
! don't let me (forget|miss) {g} {at}
. reminder (for|about) {g} {at}
. {g} {at}, (remind me|don't let me forget)
: (can|could) you remind me (of|about) {g} {at}
""")
_ABOUT = Grammar("""
4! remind me (of|about) {g}
2! (set|create) a reminder (for|about) {g}
! don't let me forget {g}
. I need a reminder (for|about) {g}
""")
_CANCEL = Grammar("""
4! (cancel|delete|remove|clear) (my|all my|all|all the|all of my) (alarms|alarms|reminders)
3! (turn|switch|shut) off my (alarm|alarms)
3! (turn|switch) my (alarm|alarms) off
2! (cancel|delete|remove|stop|clear|scrap|forget|kill) (my|my) (alarm|reminder|wake up call)
2! (cancel|delete) (the|every) (wake up call|reminder|reminders)
. no (more alarms|more reminders|alarms please|wake up call)
. I don't need (my alarm|my alarms|any alarms|my reminders|any reminder|an alarm|the wake up call) (any more|\
    after all)
. (don't|no need to) wake me [up] (after all|any more|then)
. (my alarm|my alarms|all alarms|all my alarms|all reminders) off
! (get rid of|wipe|call off|undo) (my|all my|all the) (alarms|reminders)
""")
# Where no panel is listed, the alarm can only be one that rings.
_CANCEL_THE = Grammar("""
2! (turn|switch|shut) off the alarm
2! (cancel|stop|delete|disable|deactivate|silence|kill) the alarm
! (turn|switch) the alarm off
. alarm off
""")
_CANCEL_AT = Grammar("""
5! (cancel|delete|remove|clear|scrap|stop|drop) (my|the) {v} (alarm|alarm|reminder)
4! (cancel|delete|remove|clear) (my|the) (alarm|alarm|reminder) (for|at) {v}
3! (turn|switch|shut) off (my|the) {v} alarm
2! (turn|switch|shut) (my|the) {v} alarm off
2! (turn|switch) off (my|the) alarm (for|at) {v}
2! (disable|deactivate|call off|get rid of|undo|forget) (my|the) {v} alarm
2. I don't need (my|the) {v} alarm (any more|anymore|after all)
2. (no|I want no|I need no) alarm {at}
. {v} alarm off
. no {v} alarm
2. (don't|do not|no need to|you needn't) wake me [up] {at}
. I (can|want to) sleep in {d}, (no alarm|cancel the alarm|turn off my alarm)
? (can|could) you (cancel|delete|turn off) my {v} alarm
""")
_CANCEL_NAMED = Grammar("""
4! (cancel|delete|remove|clear|scrap|drop|forget|stop) (the|my) reminder (about|for|of) [the|my] {n}
4! (cancel|delete|remove|clear|scrap|drop) (the|my) {n} (alarm|reminder)
2! (turn|switch) off (the|my) {n} alarm
2! (turn|switch) (the|my) {n} alarm off
2! (cancel|delete) (the|my) (alarm|reminder) (called|named) {n}
2. I don't need the {n} (alarm|reminder) (any more|anymore|after all)
. {n} (alarm|reminder) off
. no need to remind me (of|about) [the|my] {n} (any more|anymore)
. you (don't have to|needn't) remind me (of|about) [the|my] {n}
""")
_STATUS = Grammar("""
4? (what|which) (alarms|reminders|alarms and reminders) do (I|we) have [set]
3? (what|which) (alarms|reminders) are (set|active|on|there)
3? do I have (any alarms|an alarm|any reminders|a reminder) [set]
2? (are there any alarms|is there an alarm|are there any reminders|is there a reminder) [set]
3? when (do|will|are) you (wake me|waking me|wake me up|waking me up)
3? when (is|does|will) my [next] alarm (set for|going off|go off|ring|set)
2? (when|what time) is my [next] alarm
2? what time (is my alarm set for|will you wake me|are you waking me)
2? is my alarm (set|on)
2? what did I ask you to remind me (of|about)
2? (what should I|what must I|what am I supposed to) not forget
2? what are my (alarms|reminders)
2? have I (set|got) (an alarm|any alarms|any reminders)
? (what's|what is) my next (alarm|reminder)
? when do I have to get up
? how many (alarms|reminders) (do I have|are set)
! (list|show|read|tell) me (all my|my|the) (alarms|reminders)
! (list|show|read out|check) (all my|my|all) (alarms|reminders)
! (tell me|check) (when my alarm is|when you will wake me|which alarms are set|if my alarm is set)
. (my alarms|my reminders|list of alarms|alarm status) please
""")
_STATUS_AT = Grammar("""
4? (is there|do I have|have I got|have I set|did I set) an alarm (for|at) {v}
3? (are there|do I have) any (alarms|reminders) for {fd}
3? (what|which) (alarms|reminders) (do I have|are set|are there|did I set) for {fd}
3? what did I ask you to remind me of {d}
2? what (should|must) I not forget {d}
2? what (do I have to|should I) remember {d}
2? is (my|the) {v} alarm (set|on|still on|still set)
2? when (do|will) you wake me [up] {d}
2? (what|when) is my alarm for {fd}
2? when do I (have to|need to) get up {d}
? will you wake me [up] {at}
? are you going to wake me [up] {at}
? what time (is my alarm|does my alarm go off|will you wake me) {d}
! (list|tell me|show me|read me) my (alarms|reminders) for {fd}
! (tell me|check) (if|whether) (I have|there is|I set) an alarm (for|at) {v}
. (alarms|reminders) for {fd} please
? did I ask you to remind me of (something|anything) {d}
""")
_STATUS_NAMED = Grammar("""
3? when is (the|my) {n} (alarm|reminder)
2? is the {n} (alarm|reminder) [still] set
2? (do I have|is there|did I set) a reminder (for|about) [the|my] {n}
2? when (does|will) the {n} (alarm|reminder) (go off|ring)
2? when (do|will|are) you (remind|reminding) me (of|about) [the|my] {n}
! (check|tell me about) (the|my) {n} (alarm|reminder)
""")
ALARM_NAMES = (
    "airport", "gym", "school", "work", "flight", "train", "meeting", "interview", "exam", "yoga",
    "swimming", "medicine", "church", "early shift", "night shift", "marathon", "fishing trip", "dentist",
    "school run", "conference call", "football match", "baby feed", "choir", "market", "ferry", "dog walk",
    "rehearsal", "job interview", "maths test", "rowing", "morning run", "bus", "hike", "night feed",
    "wedding", "delivery", "bakery shift", "training", "piano lesson",
)  # fmt: skip
# What somebody is reminded of, with its article.
_MATTERS = (
    "the dentist", "the meeting", "the bins", "my pills", "the rubbish", "the parents evening", "the cake",
    "the school play", "the laundry", "my appointment", "the vet", "the car inspection", "the birthday",
    "the rent", "the parcel", "the plumber", "the concert", "my medication", "the call with the bank",
    "the library books", "the football match", "the tickets", "the invoice", "grandma's birthday",
    "the oven", "the cat", "the hairdresser", "the exam", "the tax return", "the eye drops",
    "the washing", "our anniversary", "the swimming lesson", "the gas bill", "the sourdough",
)  # fmt: skip


def _name(speaker: Speaker) -> str:
    return speaker.pick(ALARM_NAMES) if speaker.chance(0.8) else vocabulary.rare_word(speaker.rng)


def _times(when: Moment) -> dict[str, str]:
    return {"v": when.text, "at": when.placed}


def _slipped(speaker: Speaker, right: Moment) -> Moment:
    """The time, now and then behind a wrong one: the last word counts."""
    text = speaker.slip(hour(speaker.rng), right.text)
    return right if text == right.text else Moment(text, "at")


def set_alarm(speaker: Speaker) -> Request:
    when = moment(speaker.rng)
    shown = _slipped(speaker, when)
    if speaker.chance(0.24):
        name = _name(speaker)
        calls = (home_call("set_alarm", time=when.text, name=name),)
        return make_request(speaker, _ALARM_NAMED, calls, n=name, an=article(name), **_times(shown))
    plain = hour(speaker.rng)
    made = make_request(speaker, _ALARM, (), **_times(shown), h=plain)
    time = plain if made.text.endswith(f"sleep past {plain}") else when.text
    return Request(made.form, made.text, (home_call("set_alarm", time=time),))


def set_reminder(speaker: Speaker) -> Request:
    is_matter = speaker.chance(0.2)
    if speaker.chance(0.2):
        if is_matter:
            matter = speaker.pick(_MATTERS)
            calls = (home_call("set_reminder", task=_without_article(matter)),)
            return make_request(speaker, _ABOUT, calls, g=matter)
        task = errand(speaker.rng)
        if task.startswith(("buy ", "get ", "pick up ")):  # without a time, it is for the shopping list
            task = f"ring {speaker.pick(PEOPLE)}"
        return make_request(speaker, _REMIND, (home_call("set_reminder", task=task),), k=task)
    when = in_a_while(speaker.rng, speaker.numbers) if speaker.chance(0.2) else moment(speaker.rng, needs_hour=False)
    shown = _slipped(speaker, when) if when.preposition == "at" else when
    if is_matter:
        matter = speaker.pick(_MATTERS)
        calls = (home_call("set_reminder", task=_without_article(matter), time=when.text),)
        return make_request(speaker, _ABOUT_AT, calls, g=matter, **_times(shown))
    task = errand(speaker.rng)
    calls = (home_call("set_reminder", task=task, time=when.text),)
    pattern = _REMIND_AT.draw(speaker.rng)
    while "v" in pattern.places and when.text.startswith("in "):
        pattern = _REMIND_AT.draw(speaker.rng)
    return Request(pattern.form, pattern.say(speaker.rng, {"k": task, **_times(shown)}), calls)


def _without_article(matter: str) -> str:
    return matter.removeprefix("the ").removeprefix("my ").removeprefix("our ")


def has_panel(speaker: Speaker) -> bool:
    """True where the home lists something that "the alarm" may mean."""
    known = speaker.known
    return "alarm_control_panel" in known.by_domain or any("alarm" in name for name in known.names)


def cancel(speaker: Speaker) -> Request:
    way = speaker.rng.random()
    if way < 0.3:
        return make_request(speaker, _CANCEL, (home_call("cancel_alarm"),))
    if way < 0.38 and speaker.known.house is not None and not has_panel(speaker):
        return make_request(speaker, _CANCEL_THE, (home_call("cancel_alarm"),))
    if way < 0.62:
        name = _name(speaker)
        return make_request(speaker, _CANCEL_NAMED, (home_call("cancel_alarm", name=name),), n=name)
    return _about_time(speaker, "cancel_alarm", _CANCEL_AT)


def status(speaker: Speaker) -> Request:
    way = speaker.rng.random()
    if way < 0.4:
        return make_request(speaker, _STATUS, (home_call("alarm_status"),))
    if way < 0.58:
        name = _name(speaker)
        return make_request(speaker, _STATUS_NAMED, (home_call("alarm_status", name=name),), n=name)
    return _about_time(speaker, "alarm_status", _STATUS_AT)


def _about_time(speaker: Speaker, tool: str, grammar: Grammar) -> Request:
    """An alarm by its time, or all of a day."""
    when = Moment(hour(speaker.rng), "at") if speaker.chance(0.7) else moment(speaker.rng)
    on_day = day(speaker.rng)
    pattern = grammar.draw(speaker.rng)
    time = when if pattern.places.isdisjoint(("d", "fd")) else on_day
    fill = {"v": when.text, "at": when.placed, "d": on_day.placed, "fd": on_day.text}
    return Request(pattern.form, pattern.say(speaker.rng, fill), (home_call(tool, time=time.text),))


BUILDERS: tuple[tuple[float, Callable[[Speaker], Request]], ...] = (
    (3.2, set_alarm),
    (3.6, set_reminder),
    (1.9, cancel),
    (1.7, status),
)


# {i} is a thing to buy, {b} a verb of buying.
_WANTED = Grammar("""
4: remind me to {b} [some|more|some more|] {i}
4: don't let me forget to {b} [some|more|] {i}
3: (make sure I|make sure we|see that I) (remember to|don't forget to) {b} [some|more|] {i}
2: (help me|I have to|I must|I should|we should|we must) remember to {b} [some|more|] {i}
2: I (mustn't|must not|can't|shouldn't) forget to {b} [some|more|] {i}
2: (remember|don't forget) to {b} [some|more|] {i}
3: (I|we) (need to|have to|must|should|ought to|had better) {b} [some|more|] {i}
2: (I've|we've) got to {b} [some|more|] {i}
2: (I'd|we'd) better {b} [some|more|] {i}
: (somebody|someone) (needs to|has to|should) {b} [some|more|] {i}
: (set|make|create) a reminder to {b} {i}
: I (want|would like|need) to {b} [some|more|] {i}
: (I|we) (could use|could do with|can't do without|would like) [some|more|some more|] {i}
: (next thing to buy is|put me down for|what we need is|what's missing is) {i}
2. (we're|we are|I'm) (out of|all out of|fresh out of|clean out of|running out of|nearly out of|almost out \
    of|low on|short of|short on|down to the last of the) {i}
2. (we've|I've) (run out of|used up the|used up all the|finished the|emptied the last of the|got hardly any|\
    got no) {i}
2. (somebody|someone|Tom|the dog|my brother) (ate|finished|used up|had|took) (the last of the|all the|the \
    last) {i}
2. there's (no|hardly any|almost no|barely any|not much) {i} (left|in the house|in the cupboard|in the \
    fridge)
. there (isn't|aren't) any {i} (left|in the house|in the cupboard|any more)
. the {i} (is|are) (all gone|gone|finished|used up|nearly gone|running low|almost empty|getting low)
. {i} (is|are) (running low|running out|getting low|nearly finished|all gone)
. no (more {i}|{i} left) (in the house|again|at all|)
. (I|we) forgot [to buy|to get|] {i} (again|)
. don't let me (come home|leave the shop|do the shopping) without {i}
? (can|could|would|will) you remind me to {b} [some|more|] {i}
? (can|could) you make sure I {b} [some|] {i}
""")
_BUYING = ("buy", "buy", "buy", "get", "get", "pick up", "pick up", "grab", "fetch", "stock up on", "purchase")
# {k} is what is to be done, {at} when.
_TIMED = Grammar("""
5! remind me to {k} {at}
4: remind me {at} to {k}
3! don't let me forget to {k} {at}
2: {at} remind me to {k}
2! (make sure I|see that I) (remember to|don't forget to) {k} {at}
2! help me remember to {k} {at}
2! (set|make|create|add) a reminder to {k} {at}
: (set|make|create|add) a reminder {at} to {k}
! (nudge|ping|tell|poke|prompt|nag) me to {k} {at}
: (nudge|ping|tell|poke|prompt|nag) me {at} to {k}
. I (need|have|want) to {k} {at}, (remind me|don't let me forget)
. I (mustn't|can't) forget to {k} {at}, remind me
. I want to be reminded to {k} {at}
: {at} I (have|need) to {k}, remind me
? (can|could|would|will) you remind me to {k} {at}
""")
_UNTIMED = Grammar("""
5: remind me to {k}
4: don't let me forget to {k}
2: (make sure I|see that I) (remember to|don't forget to) {k}
2: help me remember to {k}
2: (set|make|create|add) a reminder to {k}
: I need a reminder to {k}
: remind me that I (have|need) to {k}
? (can|could|would|will) you remind me to {k}
""")
_SHOPS = wordings(
    "(at|from) the (bakery|butcher's|chemist|pharmacy|market|farm shop|corner shop|petrol station|garden "
    "centre|supermarket|deli|pet shop|hardware store|fishmonger|kiosk|bottle shop|post office|station)"
)
# Got and picked up, but never bought.
_NO_GOODS = (
    "pick up {w}", "pick up {w} from the station", "pick up the dry cleaning",
    "pick up the parcel next door", "pick {w} up from judo", "pick up the kids", "pick up my prescription",
    "pick up the hire car", "get a haircut", "get the car washed", "get the boiler looked at",
    "get {w} to sign the form", "get the bins out", "get off the phone early", "get my eyes tested",
    "get the {r} repaired", "get up from this desk", "get back to {w}", "get changed before dinner",
    "get the washing in", "grab my charger from {w}'s desk", "fetch {w} from football",
    "fetch the ladder from next door", "fetch the {r} from the cellar", "pick out a photo for the frame",
    "pick the last beans", "return the {r} we bought", "sell the {r}", "thank {w} for the shopping",
    "take {w} shopping", "buy into the office lottery", "buy {w} a drink", "get rid of the old {r}",
    "pay {w} back for the groceries",
)  # fmt: skip


def wanted(speaker: Speaker) -> Request:
    """ "Don't let me forget to grab lemons", "the oats are all gone": one entry for the shopping list."""
    speaker.slips = False
    item = speaker.pick(LACKING)
    pattern = _WANTED.draw(speaker.rng)
    text = pattern.say(speaker.rng, {"i": item, "b": speaker.pick(_BUYING)})
    if item.endswith("s"):
        text = text.replace(f"{item} is ", f"{item} are ")
    else:
        text = text.replace(f"{item} are ", f"{item} is ")
    return Request(pattern.form, text, (home_call("shopping_list_add_item", item=item),))


def reminded(speaker: Speaker) -> Request:
    """ "Don't let me forget to grab lemons on friday": a reminder, as something is said beside the goods."""
    speaker.slips = False
    way = speaker.rng.random()
    verb, item = speaker.pick(_BUYING), speaker.pick(GROCERIES)
    task = f"{verb} {item}"
    if way < 0.2:
        task = f"{task} and {speaker.pick(LACKING)}"
    elif way < 0.4:
        task = f"{task} {_SHOPS.say(speaker.rng, {})}"
    elif way < 0.7:
        who = speaker.somebody(rare_share=0.3)
        task = speaker.pick(_NO_GOODS).replace("{w}", who).replace("{r}", vocabulary.rare_word(speaker.rng))
        if speaker.chance(0.55):
            return make_request(speaker, _UNTIMED, (home_call("set_reminder", task=task),), k=task)
    if 0.2 <= way < 0.4 and speaker.chance(0.4):
        return make_request(speaker, _UNTIMED, (home_call("set_reminder", task=task),), k=task)
    when = in_a_while(speaker.rng, speaker.numbers) if speaker.chance(0.25) else moment(speaker.rng, needs_hour=False)
    calls = (home_call("set_reminder", task=task, time=when.text),)
    return make_request(speaker, _TIMED, calls, k=task, at=when.placed)


RESTOCK_BUILDERS: tuple[tuple[float, Callable[[Speaker], Request]], ...] = ((1.3, wanted), (1, reminded))


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
        name = spoken_name(speaker.pick((panel.name, panel.name, *panel.aliases)))
        full = with_article(name)
        return Phrase(speaker.pick((full, full, full, name, f"my {name}")), {"name": name}, entity=panel)
    if speaker.chance(0.15):
        name = speaker.pick(NAMES["alarm_control_panel"][-2:])
        return Phrase(with_article(name), {"name": name})
    noun = speaker.pick(ALARM.singular)
    slots = {"name": noun} if speaker.is_listed(noun) else dict(ALARM.slots)
    return Phrase(f"the {noun}" if speaker.chance(0.85) else noun, slots)


def arm(speaker: Speaker) -> Request:
    return _done_to(speaker, "turn_on", _ARM, _SET)


def disarm(speaker: Speaker) -> Request:
    return _done_to(speaker, "turn_off", _DISARM, _UNSET)


def _done_to(speaker: Speaker, tool: str, plain: Grammar, like_a_clock: Grammar) -> Request:
    target = _panel(speaker)
    # "Turn off the alarm" where no panel is listed may be meant for one that rings.
    is_clear = has_panel(speaker) or target.text not in ("the alarm", "alarm")
    grammar = like_a_clock if is_clear and speaker.chance(0.5) else plain
    return make_request(speaker, grammar, (home_call(tool, **target.slots),), t=target.text)


def armed(speaker: Speaker) -> Request:
    """Whether the panel is armed."""
    target = _panel(speaker)
    is_armed = speaker.chance(0.65)
    words = (_ARMED_OR_SET if has_panel(speaker) else _ARMED) if is_armed else _DISARMED
    calls = (home_call("get_state", **target.slots, state="armed" if is_armed else "disarmed"),)
    return make_request(speaker, OF_ONE, calls, t=target.text, w=words.say(speaker.rng, {}), **{"is": "is"})
