"""What was done against what is to be forgotten: items that are whole errands and have verbs of their own.

As in `listing`: checked, ticked, crossed or marked off is done; taken, struck, pulled or dropped is deleted.
Groceries ticked off on a list without any name are on the shopping list; it is called "list" otherwise.
"""

from __future__ import annotations

from collections.abc import Callable

from training.home import rare
from training.home.contents import GROCERIES
from training.home.listing import list_words
from training.home.ordering import home_call
from training.home.patterns import Grammar
from training.home.speaker import Said, Speaker, said
from training.home.tasks import errand

_TICK = Grammar("""
6! (check|tick|cross|mark) {i} off {l}
6! (check|tick|cross|mark) off {i} (on|from|in|off) {l}
3: (check|tick|cross|mark) off {l} {i}
3! (check|tick|cross|mark) {i} off (on|from|of) {l}
2! (check|tick) (the box|the little box|the checkbox) (next to|for|beside|by) {i} (on|in) {l}
2! (put|make|set|leave) a (tick|check|check mark|checkmark|cross) (next to|beside|behind|against|by|at) {i} \
    (on|in) {l}
2! mark {i} (on|in) {l} (done|as done|as finished|as complete|off|as ticked off)
2! (mark|log|record|count|register|note) {i} as (done|finished|completed|accomplished|sorted) (on|in) {l}
2! (call|consider|declare) {i} (done|finished|complete|completed) on {l}
2! (complete|finish|finish off|tick off|check off) {i} (on|in|from) {l}
: (on|from|in) {l} (check|tick|cross|mark) off {i}
: (on|in) {l}(,|) (check|tick|complete) {i}
2! {l}(,|:|) (check|tick|cross|mark) {i} off
2. {i}(,|:|) (check|tick|done|finished) (on|in) {l}
2. {i} (got|has been|was|is) (done|finished|sorted|taken care of) [today|at last|finally|], (check|tick|\
    cross|mark) (it|that|that one) off {l}
2. (I|we) (managed|got round to|took care of|dealt with|got through) {i}, (check|tick|cross|mark) (it|that|\
    that one) off {l}
2. (that's|there goes|so that's|well that's) {i} (done|finished|out of the way|sorted), (check|tick|cross) \
    it off {l}
. {i} can be (checked|ticked|crossed|marked) off (on|from|) {l}
. I (want|need|would like) {i} (checked|ticked|crossed|marked) off (on|from|) {l}
. one (tick|check) for {i} on {l} please
? (can|could|would) you (check|tick|cross|mark) {i} off (on|from|) {l}
? (can|could|would) you (check|tick|cross|mark) off {i} (on|from|in) {l}
""")
_TAKE_AWAY = Grammar("""
6! (take|get|pull|strike|scratch|knock|bump|drop|throw|wipe|yank|scrub) {i} off {l}
4! (take off|strike off|scratch off|pull off|knock off) {i} (from|off) {l}
4! (remove|delete|erase|drop|scrap|strike|scratch|wipe|cut|clear|pull|axe|scrub|dump|bin|lose) {i} from {l}
3! (take|pull|throw|kick|leave|toss|chuck) {i} (out of|off of) {l}
3: (take off|strike off|scratch off) {l} {i}
2! (take|get|pull|strike|scratch) {i} (away from|off of|from) {l}
2! (get rid of|throw away|throw out|do away with|ditch|forget about|lose) {i} (on|from) {l}
2! (make|let) {i} (disappear|vanish|go away) from {l}
2! (remove|delete|erase|take off|scrap|drop) the (line|entry|item|point|thing) {i} (on|from) {l}
: (on|from) {l} (remove|delete|take off|scratch|strike|erase|drop) {i}
: {l}(,|:|) (remove|delete|take off|scratch|strike|get rid of) {i}
2! {l}(,|:|) (take|get|strike|scratch) {i} off
2. I've (changed my mind about|given up on|decided against) {i}, (take|get|strike|scratch) (it|that|that \
    one) off {l}
2. {i} is (no longer necessary|not going to happen|pointless now|somebody else's job), (take|get|drop|\
    strike) (it|that|that one) off {l}
2. (I won't|we won't|nobody will|I'm not going to) get round to {i}, (take|get|strike|delete) it (off|from) \
    {l}
2. {i} (can|should|may|must) (go|disappear|vanish|be removed|be deleted|be struck|be scratched) from {l}
. I (want|need|would like) {i} (off|gone from|removed from|deleted from|taken off) {l}
. no more {i} on {l}
. {i} (has|have) no place on {l} (any more|anymore)
? (can|could|would) you (take|get|strike|scratch|pull) {i} off {l}
? (can|could|would) you (remove|delete|erase|strike|drop) {i} from {l}
""")
# The verbs of both tables, and off and out, stand in the items as well.
_ITEMS = (
    "check the tyres", "check the oil", "check out the new gym", "mark the essays",
    "mark the height on the door", "cross out the old names in the address book", "finish the quilt",
    "finish off the shed roof", "drop off the parcel", "drop the keys off at {w}'s", "take back the drill",
    "take {w} to the dentist", "take the screens down", "take off the storm windows", "cut the hedge",
    "cut back the ivy", "pull the weeds", "pull out the old carpet", "clear out the loft",
    "clear the gutters before winter", "remove the stickers from the fridge", "delete the old photos",
    "scrub the grout", "scrub down the deck", "wipe down the shelves", "get the bike out of storage",
    "get a quote for the fence", "get {w}'s jumper mended", "put the skis away", "put up the shelves",
    "hang up the bunting", "strike a deal with the builder", "scratch the wax off the table",
    "throw out the broken chairs", "sell the old {r}", "lend {w} the {r}", "ask {w} for the recipe",
    "complete the insurance form", "tick spray for the dog", "book the boat for the {r} trip",
    "sand and paint the bench", "wash and iron the curtains", "call the vet about the {r}",
    "sew on the missing button", "sign off the plans", "write to aunt {w} and the twins",
    "knock through the pantry wall", "dig over the vegetable bed", "set up the new printer",
    "tidy up under the stairs", "fill in the school form", "unblock the shower drain",
    "bleed the radiators", "oil the hinges on the back gate", "return {w}'s {r}", "bring the cushions in",
    "order more gravel", "change the locks", "look up train times to the coast",
    "clean out the rabbit hutch", "wrap {w}'s present", "swap out the smoke alarm battery",
    "back up the family photos", "read through the contract", "repot the {r}", "tune the {r}",
    "mend the {r}", "learn the second verse",
)  # fmt: skip
_UNNAMED = ("my list", "my list", "my list", "the list", "the list", "our list", "that list", "this list")
_SHOPPING = ("shopping", "shopping", "shopping", "grocery", "groceries")


def _item(speaker: Speaker) -> str:
    if speaker.chance(0.25):
        item = errand(speaker.rng)
        while "turn off" in item or "switch off" in item:
            item = errand(speaker.rng)
        return item
    who = speaker.somebody()
    return speaker.pick(_ITEMS).replace("{w}", who).replace("{r}", rare.word(speaker.rng))


def ticked_or_taken(speaker: Speaker) -> Said:
    """ "Scratch check the tyres off my car list", "check off scratch the wax off the table on chores"."""
    speaker.slips = False
    ticks = speaker.chance(0.54)
    grammar = _TICK if ticks else _TAKE_AWAY
    way = speaker.rng.random()
    if way < 0.3:
        item, word = speaker.pick(GROCERIES), speaker.pick(_SHOPPING)
        shown = f"{speaker.pick(('the', 'the', 'my', 'our', ''))} {word} list".strip()
        if way < 0.1:
            shown, word = speaker.pick(_UNNAMED), "list"
        name = word
        if ticks:
            calls = (home_call("shopping_list_complete_item", item=item),)
            return said(speaker, grammar, calls, i=item, l=shown)
    else:
        item, (shown, name) = _item(speaker), list_words(speaker)
        if way < 0.42:
            shown, name = speaker.pick(_UNNAMED), "list"
    tool = "list_complete_item" if ticks else "list_remove_item"
    return said(speaker, grammar, (home_call(tool, item=item, name=name),), i=item, l=shown)


BUILDERS: tuple[tuple[float, Callable[[Speaker], Said]], ...] = ((1, ticked_or_taken),)
