"""Things to buy, said as wishes and as reminders: for the shopping list, unless a time or a shop is said.

As in `alarms` and `listing`: "remind me to buy eggs" is an entry for the list; at six, or at the market, it
is a reminder, and so is everything that nobody buys.
"""

from __future__ import annotations

from collections.abc import Callable

from training.home import rare
from training.home.clock import in_a_while, moment
from training.home.contents import GROCERIES
from training.home.listing import LACKING
from training.home.ordering import home_call
from training.home.patterns import Grammar, wordings
from training.home.speaker import Said, Speaker, said

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
_BUYING = (
    "buy",
    "buy",
    "buy",
    "get",
    "get",
    "pick up",
    "pick up",
    "grab",
    "fetch",
    "stock up on",
    "purchase",
)
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


def wanted(speaker: Speaker) -> Said:
    """ "Don't let me forget to grab lemons", "the oats are all gone": one entry for the shopping list."""
    speaker.slips = False
    item = speaker.pick(LACKING)
    pattern = _WANTED.draw(speaker.rng)
    text = pattern.say(speaker.rng, {"i": item, "b": speaker.pick(_BUYING)})
    if item.endswith("s"):
        text = text.replace(f"{item} is ", f"{item} are ")
    else:
        text = text.replace(f"{item} are ", f"{item} is ")
    return Said(pattern.form, text, (home_call("shopping_list_add_item", item=item),))


def reminded(speaker: Speaker) -> Said:
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
        task = speaker.pick(_NO_GOODS).replace("{w}", who).replace("{r}", rare.word(speaker.rng))
        if speaker.chance(0.55):
            return said(speaker, _UNTIMED, (home_call("set_reminder", task=task),), k=task)
    if 0.2 <= way < 0.4 and speaker.chance(0.4):
        return said(speaker, _UNTIMED, (home_call("set_reminder", task=task),), k=task)
    when = (
        in_a_while(speaker.rng, speaker.numbers)
        if speaker.chance(0.25)
        else moment(speaker.rng, needs_hour=False)
    )
    calls = (home_call("set_reminder", task=task, time=when.text),)
    return said(speaker, _TIMED, calls, k=task, at=when.placed)


BUILDERS: tuple[tuple[float, Callable[[Speaker], Said]], ...] = ((1.3, wanted), (1, reminded))
