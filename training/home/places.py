"""Rooms, places outside, and floors, as people call them."""

from __future__ import annotations

import re

OUTDOOR = re.compile(r"\b(garden|(back)?yard|greenhouse|patio|terrace|balcony|deck|veranda|courtyard)$")
"""Where things grow."""

ROOMS = tuple(
    room.strip()
    for room in """
    kitchen|living room|bedroom|bathroom|hallway|office|study|dining room|guest room|
    guest bedroom|master bedroom|main bedroom|kids room|kids' room|kids bedroom|children's room|
    nursery|playroom|family room|laundry room|utility room|mud room|pantry|closet|
    walk-in closet|storage room|cellar|wine cellar|workshop|garage|carport|porch|front porch|
    back porch|patio|terrace|balcony|deck|garden|back garden|front garden|yard|backyard|
    front yard|driveway|pool|pool house|greenhouse|conservatory|sunroom|winter garden|shed|
    garden shed|barn|entrance|entryway|entry|foyer|hall|front hall|landing|stairs|staircase|
    stairwell|corridor|library|music room|game room|games room|media room|home theater|cinema|
    gym|home gym|sauna|spa|guest bathroom|master bathroom|ensuite|en suite|toilet|powder room|
    shower|shower room|washroom|lounge|den|sitting room|parlor|snug|breakfast room|
    kitchenette|bar|studio|craft room|sewing room|server room|boiler room|
    spare room|small bedroom|blue room|yellow room|back room|
    front room|office two|bedroom 2|second bedroom|baby room|teen room|tv room|dressing room|
    wardrobe|veranda|roof terrace|courtyard|stable|chicken coop|dog house|workroom|
    homework room|meditation room|reception|lobby|meeting room|conference room|cabin|annex|
    guest house|granny flat|bike shed|computer room|piano room|hobby room|cloakroom|scullery|
    larder|box room|fireplace room|bunk room""".replace("\n", " ").split("|")
)
# Corners of a room: a light's name in one home, an area of its own in another; the list decides.
_NOOK_USES = (
    "reading", "breakfast", "craft", "bar", "coffee", "tea", "vinyl", "gaming", "homework", "sewing", "music",
    "plant", "wine", "toy", "knitting", "puzzle", "piano", "cocktail", "study", "yoga", "writing", "drawing",
    "snack", "dining", "window", "fireside", "prayer", "chess", "workout", "pet", "lego", "makeup", "podcast",
)  # fmt: skip
_NOOKS = (
    "nook", "nook", "corner", "corner", "corner", "spot", "alcove", "niche", "bay", "island", "bench",
    "station", "table", "zone", "seat", "counter", "side", "retreat", "hideaway", "ledge", "space", "booth",
)  # fmt: skip
NOOKS = tuple(dict.fromkeys(f"{use} {nook}" for use in _NOOK_USES for nook in _NOOKS))
PEOPLE = (
    "Anna", "Ben", "Clara", "David", "Emma", "Felix", "Grace", "Henry", "Isla", "Jack", "Kate", "Liam", "Mia",
    "Noah", "Olivia", "Paul", "Rosa", "Sam", "Tom", "Zoe", "Leo", "Lucy", "Max", "Nina", "Oscar", "Peter",
    "Ruby", "Sophie", "Theo", "Alice", "Bob", "Carol", "Daniel", "Ella", "Frank", "George", "Hannah", "Ivan",
    "Julia", "Kevin", "Laura", "Marco", "Nora", "Omar", "Priya", "Quinn", "Rahul", "Sara", "Tim", "Uma",
    "Victor", "Wendy", "Yuki", "Mateo", "Freya", "Jonas", "Elena", "Chris", "Alex", "Robin", "Megan", "Jamie",
)  # fmt: skip
# Robots that are called like people: the list says what they are.
ROBOT_PEOPLE = (
    "Henry", "Shaun", "Doris", "Gerald", "Hetty", "Norman", "Mabel", "Reggie", "Trevor", "Nigel", "Gladys",
    "Harold", "Betty", "Steve", "Barry", "Agnes", "Walter", "Edith", "Herbert", "Stanley", "Wilma",
    "Brenda", "Kenny", "Olaf", "Winston", "Maude", "Igor", "Fergus", "Dolores", "Archie", "Molly", "Percy",
    "Ernie", "Greta", "Basil", "Monty", "Ethel", "Rupert", "Frida", "Gus", "Hilda", "Marvin", "Nelly",
)  # fmt: skip
FAMILY = ("mum", "mom", "dad", "grandma", "grandpa", "the nanny", "the babysitter", "my wife", "my husband")
OWNED_ROOMS = ("room", "bedroom", "office", "bathroom", "study", "playroom", "closet", "workshop", "studio")

FLOORS = (
    "ground floor", "first floor", "second floor", "third floor", "top floor", "main floor", "upper floor",
    "lower floor", "upper level", "lower level", "main level", "basement", "attic", "loft",
    "mezzanine", "cellar", "annexe",
    "bottom floor", "garden level", "penthouse", "middle floor", "1st floor", "2nd floor",
)  # fmt: skip
# Where no list says otherwise, a basement or an attic is a room like any other.
UNLISTED_FLOORS = tuple(floor for floor in FLOORS if "floor" in floor or "level" in floor)
BARE_FLOORS = ("upstairs", "downstairs")
_INSIDE = frozenset({"basement", "attic", "loft", "penthouse", "cellar", "annexe"})


def on_floor(floor: str) -> str:
    """The preposition and article that a floor takes: "on the first floor", "in the attic", "upstairs"."""
    if floor.lower() in BARE_FLOORS:
        return floor
    return f"{'in' if floor.lower() in _INSIDE else 'on'} the {floor}"


_ON = frozenset(
    [
        "porch",
        "front porch",
        "back porch",
        "patio",
        "terrace",
        "balcony",
        "deck",
        "landing",
        "driveway",
        "stairs",
        "staircase",
        "veranda",
        "roof terrace",
    ]
)
_BY = frozenset({"pool", "driveway"})


_PEOPLE = frozenset((*PEOPLE, *ROBOT_PEOPLE))


def in_area(area: str) -> str:
    """ "in the kitchen", "on the patio", "in Anna's room"."""
    if area.lower() in (*BARE_FLOORS, "outside"):
        return area
    word = (
        "on"
        if area.lower() in _ON or area.lower().endswith((" floor", " level"))
        else "by"
        if area.lower() in _BY
        else "in"
    )
    return f"{word} {with_article(area)}"


def with_article(name: str) -> str:
    """ "the kitchen"; "Anna's room" has its own, and people have none."""
    if name in _PEOPLE:
        return name
    first = name.split(" ", 1)[0].lower()
    if first in (*BARE_FLOORS, "outside") and " " not in name:
        return name
    if first.endswith(("'s", "s'")) and not first.startswith(("kids", "children")):
        return name
    return f"the {name}"
