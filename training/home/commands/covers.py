"""Opening and closing in the verbs of one kind of cover: an awning is unfurled, a hatch heaved up.

As in `switching`: open turns on, close turns off; an awning that is out is open, a drawn curtain is closed.
A sheet over a pool is closed where it covers the water. Verbs that may mean either way are left out.
"""

from __future__ import annotations

from collections.abc import Callable

from training.home.houses import spoken_name
from training.home.lexicon import vocabulary
from training.home.lexicon.devices import COVERS
from training.home.lexicon.vocabulary import with_article
from training.home.speaker import Phrase, Request, Speaker, make_request
from training.home.templates import Grammar, home_call

# Which sort a name means, the telling words first: a skylight blind is a blind, a shade sail an awning.
_SORTS = (
    ("loft hatch", ""), ("attic hatch", ""), ("screen", ""), ("louv", ""), ("pool cover", "sheet"),
    ("tarp", "sheet"), ("tub cover", "sheet"), ("sail", "awning"), ("awning", "awning"),
    ("canopy", "awning"), ("parasol", "parasol"), ("sunbrella", "parasol"), ("blind", "blind"),
    ("shutter", "blind"), ("shade", "blind"), ("curtain", "curtain"), ("drape", "curtain"),
    ("skylight", "skylight"), ("roof window", "skylight"), ("velux", "skylight"), ("hatch", "hatch"),
    ("trapdoor", "hatch"), ("coop flap", "hatch"), ("cellar flap", "hatch"), ("garage", "garage"),
    ("gate", "gate"), ("window", "window"), ("cat door", ""), ("dog door", ""), ("door", "door"),
)  # fmt: skip
_NAMES = {
    "sheet": ("pool cover", "pool cover", "tarp", "hot tub cover", "boat tarp", "woodpile tarp"),
    "awning": ("terrace awning", "patio awning", "caravan awning", "canopy", "shade sail", "sun sail"),
    "parasol": ("parasol", "big parasol", "garden parasol", "sunbrella"),
    "blind": ("roller blind", "left blind", "bay blind", "blackout blind", "roman shade", "street shutter"),
    "curtain": ("left curtain", "velvet curtain", "blackout curtain", "long curtain", "stage curtain"),
    "skylight": ("skylight", "roof window", "landing skylight", "studio skylight", "velux"),
    "hatch": ("serving hatch", "trapdoor", "hatch", "cellar hatch", "coop flap", "kitchen hatch"),
    "garage": ("big garage door", "left garage door", "double garage door"),
    "gate": ("driveway gate", "back gate", "paddock gate", "side gate", "yard gate"),
    "window": ("dormer window", "bay window", "pantry window", "landing window"),
    "door": ("patio door", "sliding door", "balcony door", "barn door", "conservatory door"),
}
_KINDS = {
    "awning": ("awning",), "blind": ("blind", "shutter", "shade"), "curtain": ("curtain",),
    "gate": ("gate",), "garage": ("garage",), "window": ("window",), "door": ("door",),
}  # fmt: skip
_OPEN = {
    "sheet": Grammar("""
3! (roll|peel|pull|wind|draw|slide|fold|crank|reel|haul) {t} back
3! (roll back|peel back|pull back|wind back|draw back|fold back|slide back|reel in|roll up|haul in) {t}
2! (roll|wind|crank|fold) {t} (up|away)
! (draw|pull|fold) {t} aside
. {t} (rolled back|pulled back|folded back) please
"""),
    "awning": Grammar("""
3! (unfurl|extend|spread|spread out|stretch out|roll out|wind out|crank out|push out|let out|run out|slide \
    out) {t}
3! (wind|crank|roll|push|let|run|spread|stretch|slide|send|fold|draw|swing) {t} out
2! (pull|bring|spread|stretch|draw|roll) {t} (over|out over|across) the (table|terrace|deck|loungers|seats|\
    patio)
2. (give us|we need|we could use|I'd like) some shade, {t} out
. {t} (all the way out|fully out|out again|extended|out for the guests) please
"""),
    "parasol": Grammar("""
3! (put up|open out|spread|spread out|unfurl|unfold|fan out|pop up|pop open) {t}
2! (put|pop|get|crank) {t} up
. (too much sun|we're frying out here|the ice cream is melting), {t} up
"""),
    "blind": Grammar("""
3! (lift|lift up|hoist|haul up|reel up|tug up|roll up|wind up|crank up|send up|fold up|whisk up|zip up) {t}
3! (lift|hoist|haul|reel|tug|roll|wind|crank|send|fold|run|whisk|wheel|pull) {t} (up|right up|all the way \
    up)
2. let (the day|the morning|the sun|some daylight) in, {t} (up|right up)
. {t} (hoisted|rolled up|wound up|lifted) please
"""),
    "curtain": Grammar("""
3! (sweep|tug|push|fling|whisk|swish|shove|tie|pull|draw|gather) {t} (back|aside|apart|to the side)
3! (tie back|sweep aside|fling back|push back|whisk back|draw aside|part|push apart|gather back) {t}
2. let (the day|the morning|the sun|some daylight) in, {t} (back|apart)
. {t} (tied back|pulled back|drawn back|parted) please
"""),
    "skylight": Grammar("""
3! (crank up|push up|prop open|lift|tip up|pop up|pop open|tilt|wind up|tip open|crack open|raise) {t}
3! (crank|push|prop|lift|tip|pop|wind|swing) {t} (up|open)
. {t} (propped open|tipped open|cranked open|ajar) please
"""),
    "hatch": Grammar("""
3! (heave up|lift|lift up|pop up|pop open|flip up|swing up|prop open|flip open|haul up|raise|throw open) {t}
3! (heave|lift|flip|swing|haul|prop|pop|throw|fling) {t} (up|open)
. {t} (propped open|flipped up|wide open) please
"""),
    "garage": Grammar("""
3! (lift|hoist|wind up|crank up|roll up|send up|run up|haul up|bring up|winch up|reel up) {t}
3! (lift|hoist|wind|crank|roll|send|run|haul|winch|bring|get) {t} (up|right up|all the way up)
. (I'm pulling in|here comes the car|I'm turning into the drive), {t} up
"""),
    "gate": Grammar("""
3! (swing|roll|slide|pull|draw|wheel|push|throw|fling) {t} (back|aside|wide|wide open|open)
2! (roll back|slide back|pull back|throw wide|swing back|wheel back|draw back) {t}
. (the van is here|the delivery is coming in|let the postman in|{w} is driving up), {t} (wide open|open)
"""),
    "window": Grammar("""
3! (crank|crank out|push out|tilt|tip|throw wide|fling wide|crack|prop open|push open|swing out|ease open) \
    {t}
3! (crank|push|swing|throw|fling|tip|prop|slide|pull) {t} (open|wide|wide open)
. (it's stuffy|we need air|I burnt the toast), {t} (wide open|open a crack|ajar)
"""),
    "door": Grammar("""
3! (swing|slide|push|throw|fling|pull|prop|roll|fold) {t} (open|wide|wide open|back)
2! (throw wide|fling wide|slide back|prop open|fold back|swing wide|push back) {t}
. (let the dog out|let the cat in|my hands are full), {t} open
"""),
}
_CLOSE = {
    "sheet": Grammar("""
4! (pull|draw|roll|spread|slide|stretch|lay|haul|tug|drag|throw) {t} (over|across) [the water|the top|the \
    lot]
3! (pull over|draw over|draw across|pull across|spread out|roll out|roll over|stretch over|lay out) {t}
2! cover (it|everything|the lot|the water) [up] with {t}
2! (wind|roll|crank|run|slide) {t} (shut|closed|all the way over|all the way across)
. {t} (over|across|pulled over|drawn across) please
"""),
    "awning": Grammar("""
3! (furl|tuck away|tuck in|stow|stow away|put away|pack away|reel in|reel back|wind back in|draw in|fold in|\
    pull in|crank in|retract|haul in) {t}
3! (furl|tuck|fold|reel|wind|crank|roll|haul|draw|pull|pack) {t} (away|in|back in)
2. (it's getting windy|a storm is coming|here comes the rain|it's blowing a gale), {t} (in|away|back in)
. {t} (furled|tucked away|all the way in|in for the night) please
"""),
    "parasol": Grammar("""
3! (furl|fold up|fold down|fold away|take down|put down|collapse|tuck away|pack away|let down) {t}
2! (fold|take|put|tuck|let|crank) {t} (down|away)
. (it's blowing a gale|the wind is picking up), {t} down
"""),
    "blind": Grammar("""
3! (let down|roll down|wind down|crank down|send down|drop|reel down|run down|tug down|bring down|pull \
    down) {t}
3! (let|roll|wind|crank|send|tug|run|reel|drop|whisk) {t} (down|right down|all the way down)
2! (pull|draw|bring|let) {t} (over the window|down over the window|down over the glass|across the window)
2! cover (up the window|the window|the glass) with {t}
. {t} (let down|rolled down|wound down|pulled down|lowered) please
"""),
    "curtain": Grammar("""
3! (tug|whisk|swish|pull|draw|bring|slide|sweep|push) {t} (across|together|to|over|closed|over the window)
3! (draw across|pull across|bring together|pull to|draw over|sweep together|pull over|draw to) {t}
2! cover (up the window|the window|the glass) with {t}
. (the neighbours can see in|I'm getting undressed|there's glare on the screen), {t} (together|across)
. {t} (drawn|pulled across|drawn across|pulled to) please
"""),
    "skylight": Grammar("""
3! (crank down|let down|pull down|drop|lower|wind down|pull shut|ease down|push shut|bring down) {t}
3! (crank|let|pull|wind|drop|ease|bring) {t} (down|shut)
. (it's raining in|it's starting to drip|here comes the rain), {t} (down|shut)
"""),
    "hatch": Grammar("""
3! (drop|lower|let down|flip down|push down|slam down|ease down|bang shut|pull shut|push shut) {t}
3! (drop|let|flip|push|ease|slam|bang) {t} (down|shut)
. {t} (down|down again|back down|shut tight) please
"""),
    "garage": Grammar("""
3! (wind down|crank down|roll down|send down|run down|let down|bring down|pull down|drop|winch down|lower) \
    {t}
3! (wind|crank|roll|send|run|let|bring|pull|winch|drop) {t} (down|right down|all the way down)
. (the car's in|I'm parked|we're all in), {t} down
"""),
    "gate": Grammar("""
3! (swing|roll|slide|pull|push|wheel|draw|bring|bang) {t} (to|shut|closed|back across)
2! (pull to|push to|swing to|roll shut|slide shut|roll across|slide across|draw shut) {t}
. (the van has left|before the dog gets out|that was the last guest|{w} is through), {t} (shut|closed)
"""),
    "window": Grammar("""
3! (pull to|push to|crank in|crank shut|pull shut|seal up|slide shut|swing shut|bang shut|wind shut|ease \
    shut) {t}
3! (pull|push|crank|slide|swing|bang|ease|wind) {t} (to|shut|closed)
. (it's raining in|there's a draught|it's freezing in here|the wasps are getting in), {t} shut
"""),
    "door": Grammar("""
3! (pull|push|slide|swing|roll|bang|ease|fold) {t} (to|shut|closed)
2! (pull to|push to|swing to|slide shut|roll shut|slide across|ease shut|fold shut) {t}
. (there's a draught|we're not heating the street|the cat is about to escape), {t} shut
"""),
}


def _sort(name: str) -> str:
    return next((sort for word, sort in _SORTS if word in name), "")


def _target(speaker: Speaker) -> tuple[Phrase, str]:
    listed = [spoken_name(thing.name) for thing in speaker.known.by_domain.get("cover", ())]
    listed = [name for name in listed if _sort(name) and not speaker.is_kind_in_plural(name)]
    way = speaker.rng.random()
    if listed and way < 0.55:
        return _named(speaker, speaker.pick(listed))
    sort = speaker.pick(tuple(_OPEN))
    if sort in _KINDS and way > 0.7:
        kind = COVERS[speaker.pick(_KINDS[sort])]
        if sort == "garage":
            return speaker.kind(kind, nowhere=1.0, single=0.7), sort
        return speaker.kind(kind, nowhere=0.3, single=0.25), sort
    name = speaker.pick(_NAMES[sort])
    if speaker.chance(0.15):
        name = f"{vocabulary.rare_word(speaker.rng)} {name.rpartition(' ')[2]}"
        name = name.replace(" cover", " pool cover").replace(" flap", " coop flap")
    return _named(speaker, name)


def _named(speaker: Speaker, name: str) -> tuple[Phrase, str]:
    name = name.removeprefix("the ")
    full = with_article(name)
    text = speaker.pick((full, full, full, full, name, name if full == name else f"our {name}"))
    return Phrase(text, {"name": name}), _sort(name)


def moved_cover(speaker: Speaker) -> Request:
    """ "Tuck the awning away", "heave up the trapdoor", "draw the pool cover across"."""
    speaker.slips = False
    target, sort = _target(speaker)
    # An invented word may sound like a sort that has no verbs here ("flouvob").
    while not sort or (" garage" in f" {target.text}" and "name" not in target.slots and sort != "garage"):
        target, sort = _target(speaker)
    on = speaker.chance(0.5)
    grammar = (_OPEN if on else _CLOSE)[sort]
    calls = (home_call("turn_on" if on else "turn_off", **target.slots),)
    return make_request(speaker, grammar, calls, t=target.text, w=speaker.pick(("Anna", "Tom", "the plumber", "mum")))


BUILDERS: tuple[tuple[float, Callable[[Speaker], Request]], ...] = ((1, moved_cover),)
