"""Shopping and to-do lists: add, complete, delete.

Checked, ticked, crossed or marked off is completed; taken, struck, pulled or dropped is deleted. Groceries
that are ticked off on an unnamed list are on the shopping list; otherwise the list is called "list".
"""

from __future__ import annotations

from collections.abc import Callable

from training.home.lexicon import vocabulary
from training.home.lexicon.vocabulary import ERRANDS, GROCERIES, LISTS, ROTAS, TASKS, errand
from training.home.speaker import Request, Speaker, make_request
from training.home.templates import Grammar, home_call

_BUY = Grammar(
    """
8! (add|put) {i} (to|on) {s}
3! (put|write|note|stick|throw|get) {i} on {s}
3! add {i} (to|onto) {s}
2! (place|include) {i} (on|in) {s}
2! (update|extend) {s} with {i}
2. {i} (on|to|onto) {s}
. {i} (should|needs to|must) (go|be) on {s}
. I (need|want) {i} on {s}
. I'd like {i} on {s}
: put on {s} {i}
: (add|put) (to|on) {s} {i}
? (can|could) {i} go on {s}
3: {s}(,|:) (add|put|put down|note|write) {i}
3: {s} add {i}
2: {s}(,|:) {i}
: (on|for) {s}, {i}
: for {s}, (add|put down|note) {i}
: we need [to buy|to get|some|more] {i}
: (we are|we're) out of {i}
: I need to (buy|get) [some|more] {i}
: remind me to (buy|get|pick up) {i}
: don't let me forget to buy {i}
. we've run out of {i}
. there's no (more {i}|{i} left)
. we (have no|don't have any) {i} left
. we ran out of {i}
"""
)
_BOUGHT = Grammar(
    """
4! (check|tick|cross|mark) off {i} (on|from) {s}
4! (check|tick|cross) {i} off {s}
3! (check|tick|cross) {i} off [of] {s}
3! mark {i} [as] (done|complete|completed|bought|checked|finished|checked off|got) (on|in|from) {s}
2! mark {i} off (on|from|) {s}
! put a (tick|check|check mark) (next to|beside|by|against) {i} on {s}
! complete the (item|entry) {i} on {s}
. {i} (on|from) {s} (is|are) (done|bought|sorted|taken care of)
2! (complete|finish) {i} (on|from) {s}
2! mark {i} on {s} [as] (done|bought|complete|completed)
2! (check|tick|cross) off {i}, (I|we) (got|bought) it
! set {i} on {s} to (done|completed)
: I (bought|got|have bought|already bought|already got|picked up|already have) [the] {i}
: I've (bought|got|already bought|already got|picked up) [the] {i}
: we (bought|got|already have) [the] {i}
. {i} (is|are) (bought|done|in the cart|checked) on {s}
. (I|we) (got|bought) {i}, (tick|check|cross) it off {s}
. I have [the] {i}, (tick|check|cross) it off
. {i} done on {s}
. got the {i}
3. I've (got|bought|picked up) [the] {i} so (check|tick|cross) (that one|that|it|those) off
2. (got|bought) [the] {i}, (check|tick|cross) (that one|that|it) off
2. (I|we) (have|bought|got) [the] {i} [now|already], (cross|check|tick) (that one|that|it|them) off {s}
. {i} (is|are) in the (trolley|basket|bag|fridge), (cross|check|tick) (that|it|that one) off {s}
2! {s}, (check|tick|cross) off {i}
"""
)
_ADD = Grammar("""
8! (add|put) {i} (to|on) {l}
3! (put|write|note|stick|get) {i} on {l}
2! add {i} (to|onto) {l}
2! (place|include) {i} (on|in) {l}
2. {i} (on|to|onto) {l}
. I (need|want) {i} on {l}
. I'd like {i} on {l}
. {i} (should|needs to|must) (go|be) on {l}
: put on {l} {i}
: (add|put) (to|on) {l} {i}
! create [a new] (entry|item|task) {i} (on|in) {l}
! add the (item|task|entry) {i} to {l}
! remember {i} on {l}
? (can|could) {i} go on {l}
4: {l}(,|:) (add|put|put down|note|write) {i}
4: {l} add {i}
2: {l}(,|:) {i}
: (on|for) {l}, {i}
: for {l}, (add|put down|note) {i}
: new (task|entry|item) for {l}, {i}
""")
_TICK = Grammar(
    """
5! (check|tick|cross|mark) off {i} (on|from|in) {l}
5! (check|tick|cross) {i} off {l}
2! (check|tick) {i} off [of|from] {l}
4! mark {i} [as] (done|complete|completed|finished) (on|in|from) {l}
3! (complete|finish) {i} (on|from|in) {l}
2! mark {i} (on|in) {l} as (done|complete|completed|finished)
2. {i} is (done|finished|complete), (tick|check|cross) it off {l}
2. I (did|finished|have done|completed) {i}, (tick|check|cross|mark) it off {l}
. {i} (done|completed) on {l}
. {i} is (done|complete|finished) on {l}
. I'm done with {i} on {l}
! set {i} (on|in) {l} (to|as) (done|completed)
. I've (done|finished) {i} (on|from) {l}
! (check|tick) {i} (on|in) {l}
3. I've (done|finished|managed to do) {i} so (check|tick|cross) (that one|that|it) off {l}
2. {i} is (done|sorted|out of the way) so (check|tick|cross) (that one|that|it) off {l}
2. on {l}, {i} is (done|finished)
2! {l}, (check|tick|cross) off {i}
! {l}, mark {i} [as] (done|complete)
"""
)
# The same items on the same lists, ticked off or deleted: the verb alone tells which. Whatever is checked,
# crossed, ticked or marked off was done; whatever is taken, got, pulled or dropped off is to be forgotten.
_TICKED = Grammar("""
6! (check|tick|cross) {i} off {l}
5! (check|tick|cross|mark) off {i} (on|from|in) {l}
3! (check|tick|cross|mark) {i} off (of|on|from) {l}
5! mark {i} [as] (done|complete|completed|finished|checked|checked off|ticked|ticked off) (on|in|from) {l}
4! mark {i} (on|in|from) {l} [as] (done|complete|completed|finished|checked off)
4! (complete|finish) {i} (on|in|from) {l}
2! (complete|finish|check off|tick off) the (item|entry|task) {i} (on|in|from) {l}
2! (put a tick|put a check|put a check mark|set a tick) (next to|beside|by|against) {i} (on|in) {l}
2! (set|flag|record|log|count|show) {i} (on|in) {l} as (done|complete|completed|finished)
2: (on|from) {l}, (check|tick|cross|mark) off {i}
2: (on|from) {l} (complete|finish) {i}
: {l}(,|:) (check off|tick off|cross off|complete) {i}
! {l}(,|:) mark {i} [as] (done|complete|completed|finished)
3. {i} (is|are) (done|complete|completed|finished|sorted|dealt with|taken care of) on {l}
2. {i} (on|from) {l} (is|are) (done|complete|completed|finished|taken care of)
2. I'm (done|finished|through) with {i} (on|from) {l}
. that's {i} (done|finished|completed|ticked off) (on|from) {l}
. consider {i} (done|completed|finished) on {l}
? (can|could) {i} be (checked|ticked|crossed|marked) off (on|from|) {l}
""")
_STRUCK = Grammar("""
6! (remove|delete|erase|scrap|drop) {i} from {l}
5! (take|get|pull|drop|knock|kick) {i} off {l}
3! (take|get|pull|drop) {i} off (of|from) {l}
3! take {i} (from|out of) {l}
3! (remove|delete|take out|take off|erase|scrap) {i} (on|from) {l}
2! (remove|delete|erase|scrap|drop) the (item|entry|task) {i} from {l}
2! (cut|dump|bin|ditch|lose|purge|clear|eliminate) {i} from {l}
2! (get rid of|throw out|do away with) {i} (on|from) {l}
2: (on|from) {l}, (remove|delete|take off|drop|erase|scrap) {i}
2: (on|from) {l} (remove|delete|drop|erase) {i}
: {l}(,|:) (remove|delete|take off|drop|scrap) {i}
3. {i} (should|can|must|has to|needs to) (come off|go off|be taken off|be removed from|be deleted from) {l}
2. I (don't|no longer) (want|need) {i} on {l} [any more|anymore|any longer]
2. {i} (is|are) not (needed|wanted) on {l} [any more|anymore]
. {i} (shouldn't|doesn't have to|doesn't need to) be on {l}
? (can|could) {i} be (removed|deleted|taken off|erased) from {l}
""")
# Things that were got, on a list that is not the shopping list.
_GOT = Grammar("""
3. I (got|bought|picked up|found) {i} (on|from) {l}
3. I've (got|bought|picked up|already got) {i} (on|from) {l}
3! mark {i} [as] (bought|purchased|got) (on|in|from) {l}
2. {i} (is|are) (bought|in the basket|in the trolley|in the cart), (check|tick|cross|mark) (it|that) off {l}
. (got|bought) {i}, (check|tick|cross) (it|that) off {l}
""")
_DELETE = Grammar(
    """
6! (remove|delete|erase) {i} from {l}
3! take {i} (off|from|off of) {l}
2! (drop|strike|scratch|clear|wipe|scrub|scrap|pull) {i} from {l}
2! (take|get|pull|drop) {i} off [of] {l}
2! (get rid of|throw out|discard) {i} (on|from) {l}
: (remove|delete) from {l} {i}
! (remove|delete|take) {i} (out of|off) {l}
. I don't need {i} on {l} (any more|anymore)
. {i} (should|can|must) (go|come) off {l}
! (remove|delete) the (item|task|entry) {i} from {l}
. {i} doesn't belong on {l}
? (can|could) {i} come off {l}
2! {l}, (remove|delete|take off|drop) {i}
2! {l} (remove|delete) {i}
. on {l}, (delete|remove|scratch) {i}
. {i} isn't needed any more, (take it|take that one|get it) off {l}
"""
)


def shopping_words(speaker: Speaker) -> str:
    return speaker.pick(("the shopping list", "my shopping list", "the shopping list",
    "my shopping list", "our shopping list",
                         "shopping list", "the grocery list", "my grocery list", "grocery list",
                         "the groceries list",
                         "the shopping", "the groceries", "the supermarket list", "my supermarket list",
                         "the shop list", "groceries list", "the food list",
                         "our groceries list"))  # fmt: skip


def buy(speaker: Speaker) -> Request:
    item = _bought(speaker)
    return make_request(
        speaker,
        _BUY,
        (home_call("shopping_list_add_item", item=item),),
        i=speaker.slip(speaker.pick(GROCERIES), item),
        s=shopping_words(speaker),
    )


def bought(speaker: Speaker) -> Request:
    item = _bought(speaker)
    return make_request(
        speaker, _BOUGHT, (home_call("shopping_list_complete_item", item=item),), i=item, s=shopping_words(speaker)
    )


def list_words(speaker: Speaker) -> tuple[str, str]:
    if speaker.chance(0.14):
        rota = speaker.pick(ROTAS)
        return f"{speaker.pick(('my', 'the', 'the', 'our'))} {rota}", rota
    if speaker.chance(0.09):
        return _shop_list(speaker)
    name = speaker.pick(LISTS)
    if speaker.chance(0.17):
        name = " ".join(vocabulary.rare_word(speaker.rng) for _ in range(1 if speaker.chance(0.6) else 2))
    for todo in speaker.known.by_domain.get("todo", ()):
        listed = todo.name.casefold().removesuffix(" list")
        if speaker.chance(0.35) and listed not in ("shopping", "groceries"):
            name = listed
    if name.endswith("'s"):
        return f"{name} list", name
    if name in ("chores", "tasks", "projects", "errands", "ideas", "gifts") and speaker.chance(0.5):
        return f"{speaker.pick(('my', 'the', 'our'))} {name}", name
    return f"{speaker.pick(('my', 'my', 'the', 'the', 'our', ''))} {name} list".strip(), name


# A list that is called by the name of a shop is a list of its own, and never the shopping list.
_SHOPS = (
    "Aldi", "Lidl", "Tesco", "Sainsbury's", "Asda", "Morrisons", "Waitrose", "Walmart", "Target", "Kroger",
    "Publix", "Safeway", "Trader Joe's", "Whole Foods", "Ikea", "Boots", "Walgreens", "Home Depot", "Lowe's",
    "Costco", "Rewe", "Carrefour", "Coop", "Amazon", "B and Q", "Ace Hardware", "Migros", "Wilko",
    "butcher", "baker", "bakery", "farm shop", "corner shop", "chemist", "drugstore", "garden centre",
    "greengrocer", "market", "farmers market", "fishmonger", "deli", "pet store", "stationer", "bottle shop",
)  # fmt: skip
_SHOP_ENDS = ("mart", "'s", " market", " foods", " stores", " and sons", "")


def _shop_list(speaker: Speaker) -> tuple[str, str]:
    shop = speaker.pick(_SHOPS)
    if speaker.chance(0.4):
        name = vocabulary.invented_word(speaker.rng) if speaker.chance(0.7) else vocabulary.rare_word(speaker.rng)
        shop = name.capitalize() + speaker.pick(_SHOP_ENDS)
    return f"{speaker.pick(('my', 'my', 'the', 'the', 'our', ''))} {shop} list".strip(), shop


def _item(speaker: Speaker) -> str:
    way = speaker.rng.random()
    item = errand(speaker.rng)
    # "Switch of", as `heard` may write it, would no longer be the item's own words.
    while "turn off" in item or "switch off" in item:
        item = errand(speaker.rng)
    return item if way < 0.5 else speaker.pick(TASKS) if way < 0.87 else speaker.pick(GROCERIES)


def _bought(speaker: Speaker) -> str:
    """A thing to buy, rarely a strange one."""
    if not speaker.chance(0.1):
        return speaker.pick(GROCERIES)
    thing = vocabulary.rare_word(speaker.rng)
    return thing if speaker.chance(0.5) else f"{speaker.pick(_FOR)} {thing}"


_FOR = ("a new", "a tin of", "a jar of", "two packets of", "something for the", "paint for the")


def add(speaker: Speaker) -> Request:
    item, (shown, name) = _item(speaker), list_words(speaker)
    return make_request(
        speaker,
        _ADD,
        (home_call("list_add_item", item=item, name=name),),
        i=speaker.slip(speaker.pick(TASKS), item),
        l=shown,
    )


def tick(speaker: Speaker) -> Request:
    item, (shown, name) = _item(speaker), list_words(speaker)
    return make_request(speaker, _TICK, (home_call("list_complete_item", item=item, name=name),), i=item, l=shown)


def delete(speaker: Speaker) -> Request:
    item, (shown, name) = _item(speaker), list_words(speaker)
    if speaker.chance(0.3):
        item = speaker.pick(GROCERIES)
        word = speaker.pick(("shopping", "shopping", "shopping", "grocery", "groceries", "supermarket"))
        shown, name = f"{speaker.pick(('the', 'my', 'our', ''))} {word} list".strip(), word
    return make_request(speaker, _DELETE, (home_call("list_remove_item", item=item, name=name),), i=item, l=shown)


def ticked_or_deleted(speaker: Speaker) -> Request:
    """The same items and lists in both tools, as often in one as in the other."""
    speaker.slips = False
    ticks = speaker.chance(0.5)
    way = speaker.rng.random()
    item = _bought(speaker) if way < 0.62 or speaker.chance(0.25) else _item(speaker)
    if speaker.chance(0.15):
        item = f"{vocabulary.rare_word(speaker.rng)} {vocabulary.rare_word(speaker.rng)}"
    if way < 0.34:
        word = speaker.pick(("shopping", "shopping", "shopping", "grocery", "groceries", "supermarket"))
        shown, name = f"{speaker.pick(('the', 'the', 'my', 'our', ''))} {word} list".strip(), word
    else:
        shown, name = _shop_list(speaker) if way < 0.62 else list_words(speaker)
    if not ticks:
        return make_request(speaker, _STRUCK, (home_call("list_remove_item", item=item, name=name),), i=item, l=shown)
    if way < 0.34:
        calls = (home_call("shopping_list_complete_item", item=item),)
    else:
        calls = (home_call("list_complete_item", item=item, name=name),)
    grammar = _GOT if way < 0.62 and speaker.chance(0.2) else _TICKED
    return make_request(speaker, grammar, calls, i=item, l=shown)


# The item in one clause, the list in the next; {them} stands for the item.
_LACKED = Grammar("""
3. (we're|we are|I'm) (out of|running out of|nearly out of|low on) {i}, (add|put) {them} (to|on) {l}
3. we've (run out of|got no more) {i}(,| so|, so) (add|put|stick|write) {them} (on|to) {l}
2. there's no more {i}, (put|add) {them} (on|to) {l}
2. I (need|want|could do with) {i}(,| so) (put|pop|stick) {them} on {l}
2. {i} (again|next time), (add|put) {them} (to|on) {l} please
. somebody finished the {i}, (stick|put|get) {them} on {l}
. don't let me forget {i}, (put|note) {them} on {l}
""")
_DONE = Grammar("""
4. {i} is (done|finished|over|sorted|out of the way), (cross|tick|check|mark) it off {l}
3. (finished|done with|that was) {i}, (cross|tick|check) it off {l}
2. {i} is done so (cross|tick|check) it off {l}
2. I'm (done|through|finished) with {i}, (tick|cross|check) it off [of|] {l}
. {i}, done, (tick|cross|check) it off {l}
. we've had {i}, (cross|tick) that off {l}
""")
_DROPPED = Grammar("""
3. {i} is (cancelled|off|no longer needed|not happening), (take|delete|remove) it (from|off) {l}
2. we (don't need|won't need|have enough) {i}, (remove|take|delete) {them} (from|off) {l}
2. forget about {i}, (take|remove|delete) {them} (off|from) {l}
""")
_COUNTED = frozenset({"a", "two", "three", "six", "half", "some", "2", "10"})
# Nobody is out of two litres of milk.
LACKING = (
    *(item for item in GROCERIES if item.split()[0] not in _COUNTED),
    "staples", "printer ink", "paper clips", "sticky tape", "envelopes", "wood screws", "sandpaper",
    "masking tape",
    "brown paint", "hay", "chicken feed", "lamp oil", "guitar strings", "whiteboard markers", "blue biros",
)  # fmt: skip
_EVENTS = (
    *TASKS[len(ERRANDS) :],
    "spelling test", "the spelling test", "maths test", "geography project", "book report", "the school play",
    "swimming lesson", "times tables", "reading log", "chapter four", "the boiler service", "eye test",
    "the car wash", "poem about autumn", "science fair poster", "clarinet scales", "the tax form",
)  # fmt: skip
_SUPPLIES = ("supplies", "office supplies", "workshop", "homework", "craft box", "stationery", "feed store", "school")


def in_clauses(speaker: Speaker) -> Request:
    """ "We're out of staples, add them to supplies": the whole item, that list."""
    speaker.slips = False
    shown, name = list_words(speaker)
    if speaker.chance(0.5):
        name = speaker.pick(_SUPPLIES)
        shown = speaker.pick((name, name, f"the {name}", f"the {name} list", f"my {name} list"))
    way = speaker.rng.random()
    if way < 0.45:
        item, grammar, tool = speaker.pick(LACKING), _LACKED, "list_add_item"
    elif way < 0.8:
        item, grammar, tool = speaker.pick(_EVENTS), _DONE, "list_complete_item"
    else:
        item, grammar, tool = speaker.pick(_EVENTS), _DROPPED, "list_remove_item"
    if tool != "list_remove_item" and item in GROCERIES and speaker.chance(0.4):
        calls = (home_call("shopping_list_add_item", item=item),)
        shown = shopping_words(speaker)
    else:
        calls = (home_call(tool, item=item.removeprefix("the "), name=name),)
    them = speaker.pick(("them", "those", "some")) if item.endswith("s") else "it"
    them = "it" if grammar is not _LACKED and them == "some" else them
    return make_request(speaker, grammar, calls, i=item, l=shown, them=them)


BUILDERS: tuple[tuple[float, Callable[[Speaker], Request]], ...] = (
    (3.4, buy),
    (3.2, bought),
    (3.2, add),
    (3.4, tick),
    (3.6, delete),
    (1.8, in_clauses),
    (4.6, ticked_or_deleted),
)


_COMPLETION_TICK = Grammar("""
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


def _completion_item(speaker: Speaker) -> str:
    if speaker.chance(0.25):
        item = errand(speaker.rng)
        while "turn off" in item or "switch off" in item:
            item = errand(speaker.rng)
        return item
    who = speaker.somebody()
    return speaker.pick(_ITEMS).replace("{w}", who).replace("{r}", vocabulary.rare_word(speaker.rng))


def ticked_or_taken(speaker: Speaker) -> Request:
    """ "Scratch check the tyres off my car list", "check off scratch the wax off the table on chores"."""
    speaker.slips = False
    ticks = speaker.chance(0.54)
    grammar = _COMPLETION_TICK if ticks else _TAKE_AWAY
    way = speaker.rng.random()
    if way < 0.3:
        item, word = speaker.pick(GROCERIES), speaker.pick(_SHOPPING)
        shown = f"{speaker.pick(('the', 'the', 'my', 'our', ''))} {word} list".strip()
        if way < 0.1:
            shown, word = speaker.pick(_UNNAMED), "list"
        name = word
        if ticks:
            calls = (home_call("shopping_list_complete_item", item=item),)
            return make_request(speaker, grammar, calls, i=item, l=shown)
    else:
        item, (shown, name) = _completion_item(speaker), list_words(speaker)
        if way < 0.42:
            shown, name = speaker.pick(_UNNAMED), "list"
    tool = "list_complete_item" if ticks else "list_remove_item"
    return make_request(speaker, grammar, (home_call(tool, item=item, name=name),), i=item, l=shown)


COMPLETION_BUILDERS: tuple[tuple[float, Callable[[Speaker], Request]], ...] = ((1, ticked_or_taken),)
