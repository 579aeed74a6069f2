"""Rooms, floors, people, list items, titles, messages and errands, with rare and invented names."""

from __future__ import annotations

import random
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


def _split(lines: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in lines.replace("\n", " ").split("|"))


GROCERIES = _split(
    """milk|eggs|bread|butter|cheese|apples|bananas|oranges|tomatoes|potatoes|onions|garlic|carrots|rice|pasta|flour|sugar|
    salt|pepper|olive oil|coffee|tea|juice|orange juice|water|sparkling water|beer|red wine|yoghurt|
    greek yogurt|
    cereal|oats|honey|jam|peanut butter|chocolate|biscuits|cookies|crisps|chips|nuts|almonds|chicken|
    chicken breast|
    ground beef|minced meat|bacon|ham|salmon|tuna|shrimp|tofu|lettuce|spinach|cucumber|broccoli|
    mushrooms|peppers|
    bell peppers|avocados|lemons|limes|grapes|strawberries|blueberries|frozen peas|frozen pizza|ice cream|
    toilet paper|paper towels|kitchen roll|dish soap|washing powder|laundry detergent|
    dishwasher tablets|shampoo|
    toothpaste|soap|deodorant|razor blades|nappies|diapers|baby wipes|cat food|dog food|cat litter|bird seed|
    light bulbs|batteries|aa batteries|bin bags|trash bags|cling film|aluminium foil|baking powder|
    yeast|vanilla|
    cinnamon|soy sauce|ketchup|mustard|mayonnaise|vinegar|basil|parsley|ginger|chili flakes|stock cubes|
    coconut milk|oat milk|almond milk|soy milk|cream|sour cream|cream cheese|mozzarella|parmesan|feta|
    hummus|tortillas|
    wraps|bagels|croissants|birthday candles|napkins|wrapping paper|stamps|sunscreen|aspirin|plasters|
    vitamins|
    two litres of milk|a dozen eggs|three avocados|2 bottles of wine|a bag of potatoes|six bananas|
    a loaf of bread|
    a kilo of flour|10 lemons|some fresh basil|half a pound of butter|a pack of gum|gluten free bread|
    decaf coffee|brown sugar|maple syrup|pickles|popcorn|lentils|chickpeas|kidney beans|quinoa|couscous|
    noodles|
    fish fingers|sausages|steak|turkey|duct tape|charcoal|firewood|compost bags|tea towels|sponges|bleach"""
)
ERRANDS = _split(
    """call the plumber|call mom|call the dentist|water the plants|feed the cat|walk the dog|
    take out the trash|take out the bins|mow the lawn|clean the windows|wash the car|do the laundry|
    fold the laundry|iron the shirts|pay the rent|pay the electricity bill|book the flights|book a hotel|
    renew the passport|send the invoice|write the report|finish the presentation|email Sarah|text Dave|
    buy a birthday present|wrap the presents|pick up the dry cleaning|return the library books|
    fix the bike|fix the leaky tap|paint the fence|clean the gutters|change the bed sheets|
    vacuum the stairs|clean the oven|defrost the freezer|order new filters|cancel the gym membership|
    schedule a haircut|backup the laptop|update the website|bake a cake|plan the party|
    invite the neighbours|hang the picture|sort the photos|clean the garage|tidy the shed|prune the roses|
    plant the tomatoes|rake the leaves|sweep the chimney|sharpen the knives|check the smoke alarm|
    replace the light bulb|descale the kettle|charge the camera|print the tickets|sign the form|
    visit grandma"""
)
TASKS = ERRANDS + _split(
    """dentist appointment|oil change|tax return|homework|math homework|violin practice|piano lesson|
    grocery run|meal prep|babysit on friday|gym|yoga|run 5 k|read a book|learn spanish|sunglasses|
    passport|tent|sleeping bag|toothbrush|socks|swimsuit|hiking boots|headlamp|sun hat|charger|
    first aid kit|new headphones|a red scarf|board game|lego set|dune|a new kettle|running shoes|
    wool blanket"""
)
# Of their own kind: nobody says "list" behind them.
ROTAS = _split(
    """cleaning rota|chore chart|jobs board|wish board|meal plan|reading pile|garden jobs|weekend jobs|
    house jobs|shed projects|film backlog|kids jobs|packing plan|repair sheet|watering rota|school things|
    book club picks|party plan|holiday plans|allotment jobs|craft ideas|boat jobs|spring tasks|
    washing up rota|    dog walking rota|travel notes|morning tasks|workshop jobs|paint colours|date ideas"""
)
LISTS = _split(
    """book club|guest room|loft conversion|car boot|charity shop|craft fair|garden centre|stag do|ski trip|
    road trip|night shift|first aid|back to school|paint shop|new house|birthday party|beach house|pet shop|
    to do|to-do|todo|chores|tasks|packing|camping|work|holiday|christmas|wish|birthday|party|weekend|
    cleaning|garden|
    home improvement|household|reading|books|movie|watch|gift|gifts|family|kids|school|homework|travel|
    vacation|
    ideas|hardware store|pharmacy|diy|project|projects|bucket|moving|wedding|baby|dinner|recipes|
    errands|honey do|
    Anna's|Tom's|mom's|spring cleaning|costco|maintenance|daily|monday|weekly|office supplies|inventory|
    workout"""
)
TIMER_NAMES = _split(
    """pizza|pasta|egg|eggs|tea|rice|bread|cake|cookies|chicken|roast|potatoes|oven|laundry|washing|dryer|nap|workout|
    meditation|homework|break|study|lunch|dinner|breakfast|steak|soup|noodles|lasagna|pie|turkey|beans|broccoli|
    coffee|dishes|plank|yoga|reading|screen time|shower|bath|sprinkler|charging|parking|game|chess|quiz|dough|
    sauce|barbecue|grill|hair dye|face mask|medicine|baby bottle|bottle|piano practice|guitar|brownies|
    muffins|
    fish|salmon|popcorn|focus|pomodoro|cooking|stretching|spaghetti|green tea"""
)
QUERIES = _split(
    """jazz|classical|rock|some blues|country|hip hop|techno|reggae|salsa|lo-fi beats|chill out|
    christmas songs|
    relaxing piano|rain sounds|white noise|whale sounds|nature sounds|eighties hits|nineties rock|party hits|
    disco|soul classics|acoustic covers|smooth jazz|deep house|kids songs|nursery rhymes|opera|
    bossa nova|flamenco|
    Miles Davis|Queen|Adele|Taylor Swift|David Bowie|Nina Simone|Johnny Cash|Daft Punk|Radiohead|
    Coldplay|Björk|
    Bob Marley|Ella Fitzgerald|Fleetwood Mac|Pink Floyd|Led Zeppelin|Metallica|Nirvana|Abba|Madonna|Prince|
    Bach|Mozart|Beethoven|Vivaldi|Chopin|Norah Jones|Amy Winehouse|Frank Sinatra|Louis Armstrong|
    Stevie Wonder|
    the news|the news|the morning news|the evening news|the headlines|the radio|the sports news|
    local radio|BBC Radio 4|KEXP|classic FM|jazz FM|the weather channel|
    sports radio|
    Bohemian Rhapsody|Imagine|Yesterday|Thriller|Billie Jean|Hotel California|Stairway to Heaven|
    Smooth Criminal|
    La Vie en Rose|Für Elise|Clair de Lune|Despacito|99 Luftballons|Bella Ciao|Sigur Rós|Édith Piaf|Rammstein|
    Tinariwen|Buena Vista Social Club|Ladysmith Black Mambazo|Cesária Évora|Khruangbin|Fela Kuti|
    Gnawa music|klezmer|fado|qawwali|zydeco|bluegrass|
    Hallelujah|Africa|Wonderwall|Clocks|Creep|Dancing Queen|Purple Rain|Take Five|So What|Jolene|Hurt|
    Respect"""
)
# A class that is said, what it is called, and things of that class.
CLASSES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "album": (("album", "record"), _split("""Abbey Road|Thriller|Kind of Blue|Rumours|
    Dark Side of the Moon|Nevermind|Back to Black|
        Blue Train|Discovery|Graceland|Parachutes|Hounds of Love|Purple Rain|Tapestry|OK Computer|21|
        Born to Run""")),
    "track": (("song", "track", "song", "tune"), _split("""Imagine|Yesterday|Hurt|Jolene|Wonderwall|
    Clocks|Africa|Happy|Let It Be|Hey Jude|
        Billie Jean|Respect|Take Five|Here Comes the Sun|Dancing Queen|Perfect Day|Summertime|Blackbird|
        Heroes|Nightswimming""")),
    "artist": (("artist", "band", "artist"), _split("""Queen|Coldplay|Adele|Nirvana|Abba|Radiohead|
    Daft Punk|Metallica|Fleetwood Mac|Blur|
        Nina Simone|Bob Dylan|Kraftwerk|Massive Attack|Norah Jones""")),
    "playlist": (("playlist",), _split("""workout|party|chill|road trip|dinner|focus|sleep|morning|
    christmas|summer hits|cooking|gym|
        running|kids|sunday|jazz classics|favourites|eighties|coffee shop|deep sleep|cleaning|my mix|
        date night""")),
    "movie": (("movie", "film", "movie"), _split("""Casablanca|The Matrix|Frozen|Toy Story|Finding Nemo|
    Amelie|Jaws|Inception|Alien|Up|
        Home Alone|Star Wars|Jurassic Park|Titanic|Paddington|Ratatouille|Spirited Away|
        Singin in the Rain""")),
    "podcast": (("podcast", "podcast", "podcasts"), _split("""Radiolab|The Daily|Serial|Planet Money|
    This American Life|Science Weekly|history of rome|
        99% Invisible|football weekly|In Our Time|Ologies|Song Exploder""")),
    "tv_show": (("show", "tv show", "series"), _split("""Friends|The Office|Sherlock|Seinfeld|
    Breaking Bad|The Crown|Planet Earth|Doctor Who|
        Bluey|Peppa Pig|Stranger Things|Columbo|Twin Peaks|Fawlty Towers""")),
    "genre": (("genre",), _split("""jazz|rock|blues|reggae|techno|folk|soul|indie|punk|ambient|funk|
    country""")),
    "channel": (("channel", "radio station", "station"), _split("""radio one|jazz radio|classic FM|
    BBC World Service|KEXP|CNN|Discovery|
        Eurosport|radio paradise|NPR""")),
    "episode": (("episode",), _split("the pilot of Friends|blink|ozymandias|the contest|pine barrens")),
}  # fmt: skip
MAKERS = _split(
    """Michael Jackson|the Beatles|John Lennon|Johnny Cash|Dolly Parton|Oasis|Miles Davis|Bowie|
    Aretha Franklin|Toto|Prince|
    Amy Winehouse|Carole King|REM|Dave Brubeck|Lou Reed|Kate Bush|Bruce Springsteen|Paul Simon|Pharrell|
    Etta James"""
)
MESSAGES = _split(
    """
    dinner is ready|lunch is ready|breakfast is on the table|food's ready|it's time to go|
    we are leaving in five minutes|it's bedtime|time for bed|I'm home|I'm on my way|the pizza is here|
    the movie is starting|come downstairs|please be quiet|the taxi is here|the guests are here|
    the laundry is done|wake up|time to get up|the school bus is here|put your shoes on|
    the game starts in ten minutes|don't forget your keys|the dog needs a walk|
    I need help in the kitchen|grandma is on the phone|the cake is in the oven|turn off your computers|
    homework time|everybody come to the kitchen|there is someone at the door|the bathroom is free|
    we're out of hot water|happy birthday Emma|the train leaves at six|it's snowing|coffee is ready|
    who wants ice cream|clean up your rooms|time to brush your teeth|the bins go out tonight|
    please come to the living room|the wifi will be off for a minute|no shoes in the house|
    I'm going to the shop|the car is packed|set the table please|the baby is asleep|
    practice starts at four|tea is served|lights out in ten minutes"""
)
CITIES = (
    "London", "Paris", "New York", "Berlin", "Tokyo", "Rome", "Madrid", "Amsterdam", "Boston", "Chicago",
    "Sydney", "Oslo", "Lisbon", "Vienna", "Dublin", "Toronto", "Denver", "Seattle", "Munich", "Zurich",
    "Barcelona", "Prague", "Helsinki", "Edinburgh", "San Francisco", "Cape Town", "Mumbai", "Singapore",
    "Reykjavik", "Ljubljana", "Thessaloniki", "Gdansk", "Ulaanbaatar", "Antananarivo", "Llanelli",
    "Worcester", "Albuquerque", "Tegucigalpa", "Aberystwyth", "Guadalajara", "Bydgoszcz", "Knoxville",
    "Timbuktu", "Poughkeepsie", "Nizhny Novgorod", "Saint-Malo", "Kuala Lumpur", "Addis Ababa",
    "Great Yarmouth", "Baden-Baden",
)  # fmt: skip
ZONES = ("work", "school", "the gym", "the office", "university", "kindergarten", "the cabin", "grandma's")


RARE_WORDS = (
    "hassock", "trowel", "lighthouse", "walrus", "pelican", "thimble", "gazebo", "gondola",
    "accordion", "ukulele", "banjo", "harmonica", "oboe", "bassoon", "cello", "marimba",
    "telescope", "microscope", "abacus", "anvil", "bellows", "loom", "spindle", "trellis", "arbor",
    "pagoda", "igloo", "yurt", "teepee", "tipi", "bivouac", "kayak", "canoe", "dinghy", "schooner",
    "galleon", "trawler", "zeppelin", "glider", "biplane", "rickshaw", "unicycle", "tandem",
    "sidecar", "caboose", "trolley", "turnstile", "obelisk", "gargoyle", "totem", "sphinx",
    "pharaoh", "samurai", "viking", "wizard", "goblin", "gnome", "pixie", "phoenix", "kraken",
    "griffin", "dragon", "yeti", "badger", "otter", "hedgehog", "ferret", "weasel", "lynx",
    "ocelot", "tapir", "okapi", "gibbon", "lemur", "sloth", "armadillo", "pangolin", "iguana",
    "gecko", "axolotl", "newt", "terrapin", "mantis", "cicada", "beetle", "ladybird", "moth",
    "heron", "egret", "puffin", "kestrel", "osprey", "magpie", "jackdaw", "wren", "finch", "toucan",
    "macaw", "quail", "pheasant", "marigold", "begonia", "dahlia", "peony", "zinnia", "fuchsia",
    "magnolia", "wisteria", "juniper", "hemlock", "sycamore", "rowan", "hawthorn", "acacia",
    "baobab", "bamboo", "cactus", "agave", "thistle", "nettle", "clover", "saffron", "cardamom",
    "turmeric", "fennel", "sorrel", "quince", "papaya", "lychee", "guava", "kumquat", "pomelo",
    "persimmon", "rhubarb", "artichoke", "parsnip", "turnip", "celeriac", "kohlrabi", "pretzel",
    "strudel", "bagpipe", "waffle", "crumpet", "scone", "brioche", "falafel", "pierogi", "gnocchi",
    "ravioli", "wasabi", "kimchi", "nougat", "truffle", "praline", "marzipan", "comet", "nebula",
    "quasar", "pulsar", "meteor", "eclipse", "aurora", "zenith", "saturn", "neptune", "pluto",
    "orion", "vega", "rigel", "granite", "basalt", "marble", "slate", "quartz", "opal", "topaz",
    "jasper", "onyx", "cobalt", "copper", "pewter", "velvet", "corduroy", "tweed", "tartan",
    "gingham", "paisley", "origami", "mosaic", "fresco", "collage", "doodle", "pottery", "kiln",
    "lathe", "forge", "smithy", "apiary", "aviary", "orangery", "belfry", "turret", "rampart",
    "drawbridge", "moat", "dungeon", "crypt", "cloister", "rotunda", "alcove", "veranda", "lagoon",
    "fjord", "tundra", "prairie", "savanna", "volcano", "glacier", "canyon", "archipelago",
    "boomerang", "didgeridoo", "tambourine", "kazoo", "zither", "dulcimer", "metronome", "sextant",
    "compass", "barometer", "hourglass", "sundial", "pendulum", "gyroscope", "periscope", "tripod",
    "monocle", "bowler", "fedora", "beret", "sombrero", "poncho", "kimono", "sari", "moccasin",
    "galosh", "mitten",
)  # fmt: skip
RARE_PEOPLE = (
    "Tadeusz", "Agnieszka", "Siobhan", "Niamh", "Eoin", "Saoirse", "Nguyen", "Thuy", "Xiomara", "Joaquin",
    "Zbigniew", "Bronwyn", "Llewellyn", "Gwendolyn", "Anneliese", "Hildegard", "Wolfgang", "Ottilie",
    "Bjorn", "Astrid", "Ingeborg", "Sven", "Aoife", "Padraig", "Kwame", "Adaeze", "Chidi", "Ngozi", "Thabo",
    "Zanele", "Aiko", "Haruto", "Sakura", "Takeshi", "Minjun", "Soojin", "Xiaoming", "Meiling", "Arjun",
    "Lakshmi", "Deepika", "Vikram", "Farid", "Leila", "Yasmin", "Tariq", "Nasrin", "Dmitri", "Svetlana",
    "Oksana", "Bogdan", "Ilinca", "Mirela", "Zoltan", "Eszter", "Matyas", "Vaclav", "Ludmila", "Giovanni",
    "Chiara", "Fiammetta", "Beatriz", "Thiago", "Guilherme", "Iker", "Nerea", "Jorge", "Ximena", "Quentin",
    "Solene", "Mathilde", "Thibault", "Euan", "Morag", "Hamish", "Cosmo", "Ptolemy", "Ursula", "Dashiell",
    "Ferdinand", "Clementine", "Peregrine", "Rhiannon", "Emrys",
)  # fmt: skip
_ONSETS = ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "br", "dr", "fl", "gl", "kr",
           "pl", "qu", "sk", "sn", "st", "tr", "tw", "w", "y", "sh", "ch", "th", "bl", "j", "h")  # fmt: skip
_VOWELS = ("a", "e", "i", "o", "u", "a", "e", "o", "oo", "ee", "ai", "ou", "y")
_CODAS = ("", "", "", "", "n", "r", "l", "m", "s", "t", "k", "x", "nd", "rp", "sk", "mp", "zz", "ck", "b", "g")
# What a thing of a domain may be called, behind a rare word; nothing where the word alone will do.
_NOUNS: dict[str, tuple[str, ...]] = {
    "light": ("lamp", "lamp", "light", "light", "spot", "strip", "bulb", "lantern", ""),
    "switch": ("plug", "machine", "pump", "heater", "switch", "charger", "cooker", "", ""),
    "fan": ("fan", "fan", "vent", "blower"),
    "cover": ("blind", "curtain", "shutter", "shade", "awning", "gate", "garage door", "window", "door"),
    "lock": ("door", "door", "lock", "gate", "cabinet", "safe"),
    "media_player": ("speaker", "speaker", "tv", "radio", "stereo", "player", "soundbar", ""),
    "climate": ("heater", "radiator", "thermostat", "stove", "fire", "ac", "boiler", "heating", "furnace"),
    "scene": ("", "", "time", "night", "evening", "party", "mood"),
    "script": ("", "routine", "run", "check"),
    "automation": ("alert", "reminder", "schedule", "watch"),
    "valve": ("valve", "tap", "sprinkler valve"),
    "humidifier": ("humidifier", "mister"),
    "siren": ("siren", "horn"),
    "alarm_control_panel": ("alarm", "alarm", "security"),
    "input_boolean": ("mode", "mode", "toggle"),
    "weather": ("weather", "weather station", "weather", "forecast"),
}
ROOM_NOUNS = ("room", "room", "corner", "nook", "wing", "hut", "house", "lodge", "suite", "cabin", "den")


def invented_word(rng: random.Random) -> str:
    """A word of two or three syllables that nobody knows."""
    parts = [rng.choice(_ONSETS) + rng.choice(_VOWELS) for _ in range(2 if rng.random() < 0.75 else 3)]
    return "".join(parts) + rng.choice(_CODAS)


def rare_word(rng: random.Random) -> str:
    return rng.choice(RARE_WORDS) if rng.random() < 0.7 else invented_word(rng)


def rare_device_name(rng: random.Random, domain: str) -> str:
    """ "hassock lamp", "zorbel speaker"; two rare words now and then."""
    nouns = _NOUNS.get(domain, ("",))
    first = rare_word(rng)
    if rng.random() < 0.12:
        first = f"{first} {rare_word(rng)}"
    return f"{first} {rng.choice(nouns)}".strip()


def rare_room(rng: random.Random, *, is_listed: bool = False) -> str:
    """ "hassock nook"; the bare word only where a list says that it is a room."""
    if is_listed and rng.random() < 0.2:
        return rare_word(rng)
    return f"{rare_word(rng)} {rng.choice(ROOM_NOUNS)}"


_TITLE_LINKS = ("", "", "of the", "and the", "in", "for a", "on", "without")
_FAMILIES = (
    "Okonkwo",
    "Szymborska",
    "Wyrzykowski",
    "Ibarra",
    "Nakamura",
    "Papadakis",
    "Vandersteen",
    "Oyelaran",
    "Lindqvist",
    "Kaczmarek",
    "Bhattacharya",
    "Delacroix",
    "Mbeki",
    "Quispe",
    "Thorvald",
    "Eszterhazy",
    "Yildiz",
    "Castellanos",
    "Achterberg",
    "Ferreira",
    "Halloran",
    "Zielinski",
    "Tanaka",
    "Adeyemi",
    "Kowalczyk",
    "Brannigan",
)


def rare_artist(rng: random.Random) -> str:
    """A musician or a band that nobody has heard of."""
    way = rng.random()
    if way < 0.5:
        first = rare_person(rng)
        last = rng.choice(_FAMILIES) if rng.random() < 0.7 else invented_word(rng).capitalize()
        return f"{first} {last}"
    name = rare_word(rng).capitalize()
    if way < 0.8:
        return f"{name} {rare_word(rng).capitalize()}"
    return f"the {name}s" if way < 0.9 else name


def rare_title(rng: random.Random) -> str:
    """A song, a film or a book that does not exist."""
    link = rng.choice(_TITLE_LINKS)
    return " ".join(part for part in (rare_word(rng).capitalize(), link, rare_word(rng).capitalize()) if part)


def rare_person(rng: random.Random) -> str:
    return rng.choice(RARE_PEOPLE) if rng.random() < 0.75 else invented_word(rng).capitalize()


# {w} is a person, {r} a rare word, {i} and {j} groceries.
_DOINGS = (
    "call mum", "call {w}", "ring {w}", "text {w}", "email {w}", "write to {w}", "phone {w} back",
    "pick up {w}", "meet {w}", "pick {w} up from the station", "congratulate {w}", "visit {w}",
    "check the oven", "take my pills", "take the medicine", "take out the rubbish", "put the bins out",
    "turn the roast", "take the cake out", "feed the cat", "feed the {r}", "walk the dog",
    "hang up the washing", "empty the dishwasher", "move the car", "charge the car", "lock the shed",
    "close the windows", "turn off the sprinkler", "switch off the oven", "water the {r}",
    "check the mail", "pay the gas bill", "book the hotel", "renew my passport", "buy {i}",
    "buy {i} and {j}", "get {i}", "pick up {i}", "order {i}", "bring the {r}", "clean the {r}",
    "return the {r} to {w}", "ring the dentist", "see the doctor", "go to the bank", "leave for the airport",
    "leave for work", "go to bed", "stretch", "drink some water", "stand up", "do my exercises",
    "practise the {r}", "send {w} the {r}", "ask {w} about the {r}", "tell {w} that the {r} is broken",
    "sign the permission slip", "change the filter", "check on the baby", "start the dishwasher",
    "thank {w} for the {r}", "vote", "cancel the subscription", "turn the compost", "defrost the chicken",
)  # fmt: skip
_CLAUSES = (
    "ask {w} whether the {r} still works", "call the man about the broken {r}",
    "find out when the {r} is delivered", "tell {w} we are not coming",
    "see if the shop by the station sells {i}", "look for the {r} that {w} lost",
    "check that the back gate is shut before the dog goes out", "get {w} something for the party",
    "take the {r} back to the shop with the receipt", "write down what {w} said about the {r}",
    "make room in the freezer for {i}", "fix the drawer that sticks", "measure the window for the new blind",
    "put the winter coats in the attic", "see whether the {r} fits behind the sofa",
    "replace the bulb over the stove", "ask the neighbours to water the plants while we are away",
    "swap the {r} for the one in the garage", "bring {w} the keys to the {r}",
    "turn the mattress in the guest room", "compare prices for a new {r}", "find a home for the old {r}",
    "teach {w} how to use the {r}", "clean behind the washing machine", "get the {r} out of the shed",
    "find a plumber who works at weekends", "collect the parcel from {w} next door",
)  # fmt: skip


def errand(rng: random.Random) -> str:
    """Something to do, beginning with its verb."""
    way = rng.random()
    if way < 0.28:
        return rng.choice(ERRANDS)
    text = rng.choice(_DOINGS if way < 0.8 else _CLAUSES)
    if "{" not in text:
        return text
    who = rare_person(rng) if rng.random() < 0.4 else rng.choice((*PEOPLE, *FAMILY))
    text = text.replace("{w}", who).replace("{r}", rare_word(rng))
    return text.replace("{i}", rng.choice(GROCERIES)).replace("{j}", rng.choice(GROCERIES))
