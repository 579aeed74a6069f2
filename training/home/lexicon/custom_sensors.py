"""Custom sensors with free names and values: dates, prices, counts, places.

A family of names shares the questions that fit its value. {t} is the name with its article, {n} without.
The whole name is said, and asked for with a question word (when, how many, where).
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from training.home.lexicon import vocabulary
from training.home.lexicon.vocabulary import PEOPLE
from training.home.templates import Grammar, every_wording


@dataclass(frozen=True, slots=True)
class Family:
    """Names of one kind of value.

    `stems` are the names that go behind a rare word too. `listed_only` are those that would be another
    tool's business, or nobody's, in a home that does not list them.
    """

    names: tuple[str, ...]
    stems: tuple[str, ...]
    asked: Grammar
    device_class: str | None = None
    listed_only: bool = False
    is_count: bool = False


def _family(names: str, asked: str, *, stems: str = "", device_class: str | None = None,
            listed_only: bool = False, is_count: bool = False) -> Family:  # fmt: skip
    people = f"({'|'.join(PEOPLE)})"
    lines = (" ".join(line.split()).replace("WHO", people) for line in names.split(";"))
    return Family(
        tuple(dict.fromkeys(" ".join(name.split()) for line in lines for name in every_wording(line))),
        every_wording(" ".join(stems.split())) if stems else (),
        Grammar(asked), device_class, listed_only, is_count,
    )  # fmt: skip


_WHEN = """
5? (when is|when's) {t} [due|again|supposed to be|meant to be]
3? (what|which) day is {t} [on]
2? on (what|which) day is {t}
2? (what|which) date is {t} [on]
2? how (long|many days) (until|till|before) {t}
? how (soon|far off|far away) is {t}
2! (tell me|check|look up|find out) when {t} is
2? (can|could) you (tell me|check|look up) when {t} is
? do you (know|remember) when {t} is
. (I forgot|I can't remember|I need to know|I'd like to know) when {t} is
? any idea when {t} is
? when do (we|I) have {t}
? is there a date for {t}
"""
_WHAT_TIME = """
6? (when is|when's) {t} [today|then|going to be]
4? (what time|at what time|around what time) is {t}
2? how (long|many minutes|many hours|much longer) (until|till) {t}
? how soon is {t}
2! (tell me|check|find out) (when|what time) {t} is
2? (can|could) you (tell me|check) (when|what time) {t} is
? do you know (when|what time) {t} is
. (I want|I need|I'd like) to know when {t} is
? how much time (is there|do we have) (until|before) {t}
"""
_WHEN_WAS = """
6? when was {t}
3? how long ago was {t}
2? (what|which) day was {t}
2? (what time|at what time) was {t}
2? how (long|many days|many hours) is it since {t}
2! (tell me|check|look up) when {t} was
2? (can|could) you (tell me|check|look up) when {t} was
? do you (know|remember) when {t} was
. (I want|I need|I'd like) to know when {t} was
"""
_HOW_MUCH = """
5? how much is {t} [right now|now|today|at the moment|currently]
3? how (high|low|expensive|cheap) is {t} [right now|now|today|at the moment]
2? (what's|what is) {t} (at|sitting at|up to|down to) [right now|now|today]
2! (tell me|check|find out) how (much|high) {t} is
2? (can|could) you (tell me|check) how (much|high) {t} is
? do you know how (much|high) {t} is
? how has {t} changed
"""
_HOW_MANY = """
7? how many {n} (are there|do we have|do I have|have there been|have we had|were there)
3? how many {n}
2! (tell me|check|count|find out) how many {n} (there are|we have|there were|I have)
2? (can|could) you (tell me|check) how many {n} (there are|we have|we had)
2? (what's|what is) the (number|count|total) of {n}
? do you know how many {n} (there are|we have|there have been)
. (I want|I need|I'd like) to know how many {n} (there are|we have)
? have we got a count of {n}
"""
_HOW_LONG = """
6? how long is {t} [right now|now|today|at the moment]
3? how (long|much time) does {t} take [right now|today|at the moment|]
2? how many minutes is {t}
2? how long (will|would) {t} take [me|us] [now|today|]
2! (tell me|check|find out) how long {t} is
2? (can|could) you (tell me|check) how long {t} is
? do you know how long {t} is
. (I want|I need|I'd like) to know how long {t} is
"""
_HOW_FULL = """
5? how (full|empty) is {t}
5? how much is [still|] (left|remaining|) in {t}
3? how much (is|do we have) left in {t}
2! (tell me|check|see) how (full|empty) {t} is
2? (can|could) you (tell me|check) how (full|empty) {t} is
? do you know how (full {t} is|much is left in {t})
? how many percent is {t} at
? what percentage is {t} at
? how close to (empty|full) is {t}
"""
_HOW_HIGH = """
5? how (high|low) is {t} [right now|now|today|at the moment]
2? how (bad|good|strong) is {t} [today|right now|at the moment|this morning]
2? (what's|what is) {t} (at|looking like|sitting at) [right now|now|today]
2! (tell me|check|see) how (high|low|bad) {t} is
2? (can|could) you (tell me|check) how (high|low) {t} is
? do you know how high {t} is
. (I want|I need|I'd like) to know how high {t} is
? where does {t} stand [today|now|]
"""
_LEVEL = """
5? how (high|low) is {t} [right now|now|today|at the moment]
2? how much {n} (is left|is there|do we have|have we got)
2! (tell me|check|see) how (high|low) {t} is
2? (can|could) you (tell me|check) how (high|low) {t} is
? do you know how (high|low) {t} is
2? how's {t} [doing|looking|holding up]
. (I want|I need|I'd like) to know how high {t} is
? (is there a reading for|what are we at with) {t}
"""
_SCORE = """
5? how (high|good) is {t} [right now|now|today|at the moment]
2? (what's|what is) {t} (at|up to|sitting at) [right now|now|today]
2! (tell me|check|see) how (high|good) {t} is
2? (can|could) you (tell me|check) how (high|good) {t} is
2? how's {t} [doing|looking|coming along]
. (I want|I need|I'd like) to know how high {t} is
? where does {t} stand [today|now|]
"""
_WHERE = """
5? (where is|where's) {t} [right now|now|at the moment]
2? (what|which) (zone|street|place|spot) is {t} in
2! (tell me|check|find out|show me) where {t} is
2? (can|could) you (tell me|check|see) where {t} is
2? do you know where {t} is
? where did {t} last (show up|report|go)
? where (was|is) {t} (last seen|last)
! (find|locate) {t}
. (I want|I need|I'd like) to know where {t} is
"""
_WHICH = """
4? (which|what) one is {t} [today|this week|]
5? (what's|what is) {t} (today|this week|tonight|right now|for today)
2? what does {t} say [today|]
2! (tell me|read me|look up) what {t} is
2? (can|could) you (tell me|look up|read me) what {t} is
? do you know what {t} is
? what have we got (for|as|down for) {t}
. (I forgot|I'd like to know|I can't remember) what {t} is
"""
_WHO = """
6? (who is|who's) {t} [today|this week|tonight|right now|]
2! (tell me|check|look up) who {t} is
2? (can|could) you (tell me|check|look up) who {t} is
? do you (know|remember) who {t} is
? which (one|person) is {t} [this week|today|]
. I (forgot|can't remember|need to know) who {t} is
"""

# A line of names ends with a semicolon; WHO is anybody.
FAMILIES: dict[str, Family] = {
    "collections": _family(
        """(next|) (green|black|brown|blue|grey|purple|paper|glass|cardboard|food waste|garden waste|
        bulky waste|
        plastics|metal|textile|yellow bag|nappy|battery|electronics|christmas tree|organic|residual waste)
        (bin collection|pickup|bin pickup|round|collection day|bin day);
        (street sweeping|leaf pickup|hedge cutting crew|chimney sweep visit|gritting round|
        skip collection|
        meter reading visit|window cleaner visit|gardener visit|cleaner visit|milkman round)""",
        _WHEN, stems="(collection day|pickup|bin pickup|visit)", device_class="date",
    ),
    "services": _family(
        """(boiler|furnace|car|van|motorbike|stairlift|chimney|septic tank|water softener|
        fire extinguisher|piano|
        solar panel|heat pump|gutter|lift|pool pump|sewing machine|caravan|wood burner|smoke alarm|
        mower blade|
        vacuum filter|bike chain|cooker hood filter|pond filter)
        (service|inspection|checkup|service date|replacement|warranty end|maintenance|due date)""",
        _WHEN, stems="(service|inspection|warranty end)", device_class="date", listed_only=True,
    ),
    "paperwork": _family(
        """(car|home|pet|travel|bike|boat|phone|dental) (insurance renewal|insurance end|policy renewal);
        (passport|driving licence|fishing permit|parking permit|library card|gym membership|rail card|
        domain name|
        rent|tax return|school fees|council tax|season ticket|museum pass|road tax|mortgage)
        (renewal|expiry|deadline|due date|payment);
        WHO's (passport expiry|visa expiry|library deadline|membership renewal|season ticket expiry)""",
        _WHEN, device_class="date", listed_only=True,
    ),
    "appointments": _family(
        """next (vet|dentist|doctor|hairdresser|physio|optician|tennis|swimming|piano|yoga|ballet|judo|
        choir|
        football|speech therapy|driving) (appointment|lesson|session|practice|visit);
        WHO's (next lesson|next shift|next appointment|swimming class|next match|recital|
        training session);
        (school play|parents evening|sports day|half term start|school run start|first school bell|
        book club|
        band rehearsal|street party|house viewing|next day off|next bank holiday|next school holiday)""",
        _WHEN, device_class="timestamp", listed_only=True,
    ),
    "sky": _family(
        """(next|today's|tomorrow's) (sunrise|sunset|dawn|dusk|moonrise|moonset|high tide|low tide|
        golden hour|
        blue hour|solar noon|midnight sun|first light|last light|nautical dusk);
        next (full moon|new moon|meteor shower|eclipse|space station pass|solstice|equinox|rocket launch|
        spring tide|clock change)""",
        _WHAT_TIME, device_class="timestamp", listed_only=True,
    ),
    "departures": _family(
        """next (tram|bus|ferry|school bus|night bus|airport coach|shuttle|metro|water taxi|
        park and ride bus|train)
        [to town|to the city|to the harbour|to work|from the corner];
        (tram|bus) (2|5|9|12|17|44|61) departure""",
        _WHAT_TIME, device_class="timestamp", listed_only=True,
    ),
    "routines": _family(
        """next (watering|feeding|cat meal|dog meal|vacuum run|mowing run|backup|pool cleaning|
        irrigation run|
        legionella cycle|chlorine dose|defrost cycle|fish feeding|water change|medication|hay delivery|
        litter change|nap|nappy change|bottle feed|charging slot|cheap power hour|boost slot)""",
        _WHAT_TIME, stems="(next run|next dose|next slot)", device_class="timestamp", listed_only=True,
    ),
    "lasts": _family(
        """last (watering|feeding|cat meal|dog walk|vacuum run|mowing run|backup|doorbell ring|
        smoke test|litter change|
        filter rinse|oil change|pool test|nappy change|bath night|power cut|fridge clean|hoof trim|
        worming|
        flea treatment|chicken feed|sheet change|descaling|mouse catch|parcel drop|post delivery|
        hot wash|bottle feed|medicine dose|plant food|gate opening|intruder alert|full charge|
        hive check)""",
        _WHEN_WAS, stems="(last run|last reset|last refill|last clean)", device_class="timestamp",
    ),
    "tariffs": _family(
        """(electricity|gas|power|night|day|off peak|peak|feed in|diesel|petrol|heating oil|pellet|
        firewood|ev charging|
        district heating|water|sewage|lpg|hydrogen|biogas)
        (price|tariff|rate|unit cost|unit price|standing charge|cost per unit)
        [now|next hour|today|tomorrow|this month|]""",
        _HOW_MUCH, stems="(price|tariff|unit cost)", device_class="monetary",
    ),
    "money": _family(
        """(canteen|laundry card|prepaid meter|toll account|transit card|coffee club|swear jar|
        holiday fund|
        parking account|kids club|library|tuck shop|print room|household kitty|cinema card|
        pocket money) (balance|credit|total|
        debt|spending) [this month|this week|];
        WHO's (pocket money|allowance|savings|lunch money|tab|chore money|bus fare);
        (grocery|heating|power|pet food|fuel|streaming|takeaway|garden|vet|phone) (budget|spend|
        costs so far|bill so far)
        [this month|this week|]""",
        _HOW_MUCH, stems="(balance|budget|credit)", device_class="monetary", listed_only=True,
    ),
    "post": _family(
        """(parcels|packages|letters|deliveries|grocery orders|registered letters|catalogues|postcards|
        returns)
        (in transit|arriving today|due tomorrow|waiting|at the depot|delivered today|in the locker|
        on the way|this week)""",
        _HOW_MANY, is_count=True,
    ),
    "chores": _family(
        """(laundry loads|wash cycles|dishwasher runs|doorbell rings|garage openings|fridge openings|
        espressos|
        coffees|toilet flushes|showers|vacuum runs|mowing runs|charge cycles|print jobs|pages printed|
        stairs climbed|
        visitors|cars passed|squirrel visits|cat flap exits|blocked ads|reboots|
        power cuts|eggs laid|bee flights|dog walks|cat meals|dog treats|hamster wheel turns|pushups|
        pool lengths|
        glasses of water|cups of tea|bottle feeds|nappies|night wakings|sneezes|books read|chapters read|
        homework tasks|
        chores done|light switches|heating starts|pump starts|lightning strikes|hedgehog sightings)
        (today|this week|this month|since midnight|yesterday|so far|this year)""",
        _HOW_MANY, stems="(runs today|visits this week|openings today|starts this month)", is_count=True,
    ),
    "stocks": _family(
        """(eggs|nappies|coffee pods|dishwasher tablets|toilet rolls|cat food tins|filter bags|
        vacuum bags|light bulbs|
        frozen pizzas|wine bottles|beer crates|firewood bags|printer sheets|pellet sacks|jam jars|
        batteries|
        water bottles|contact lenses|vitamin tablets|tea bags|bin bags|rabbit pellets|dog poo bags)
        (left|in stock|remaining|in the cupboard|in the pantry|in reserve)""",
        _HOW_MANY, is_count=True,
    ),
    "digital": _family(
        """(unread emails|open tasks|overdue chores|pending updates|connected guests|network clients|
        zigbee devices|free hotspots|open tickets|unwatched episodes|new voicemails|vacation days left|
        gym visits left|print credits left|missed calls|failed logins|unpaid bills|library loans)""",
        _HOW_MANY, is_count=True, listed_only=True,
    ),
    "places_free": _family(
        """(free spaces|free spots|free chargers|free seats|free lanes|free lockers|bikes|scooters|
        people|people waiting|
        cars waiting|open tables) at the (station|library|pool|tip|gym|car park|supermarket|harbour|
        school|clinic|ice rink|
        office|laundrette|ski lift|market|garage|garden centre)""",
        _HOW_MANY, is_count=True, listed_only=True,
    ),
    "countdowns": _family(
        """(days|sleeps|weeks|school days|working days) (until|to|till) (the holidays|our trip|
        the wedding|the big move|
        halloween|easter|the marathon|the due date|grandma's visit|the exam|summer|payday|the reunion|
        the concert|
        WHO's birthday)""",
        """
        7? how many {n} [are there|is it|now|exactly|]
        2! (tell me|check|count) how many {n} [there are|it is|]
        2? (can|could) you tell me how many {n} [there are|it is|]
        ? do you know how many {n} [there are|]
        ? how many {n} do we have left
        """,
        listed_only=True, is_count=True,
    ),
    "travel": _family(
        """(commute|drive|ride|cycle ride|train ride|bus ride|walk|trip) (to work|to school|home|
        to the office|
        to the airport|to the nursery|to grandma's|to the station|to the lake|to the gym|to town|
        to the stables);
        (school run|morning commute|evening commute|motorway queue|border queue|tunnel queue|
        bridge delay|ferry delay|
        tram delay|ski lift queue|car wash queue|school traffic);
        WHO's (commute|drive home|way to school|bus ride)""",
        _HOW_LONG, stems="(queue|delay|commute)", listed_only=True,
    ),
    "waits": _family(
        """(tip|post office|bakery|passport office|clinic|barber|airport security|car wash|canteen|
        pharmacy|town hall|
        vaccination|swimming pool|ski lift|emergency room|recycling centre|helpline)
        (queue|waiting time|wait|line)""",
        _HOW_LONG, listed_only=True,
    ),
    "spans": _family(
        """(screen|practice|reading|play|gaming|tv|nap|outdoor|homework|sleep|focus|standing|sunbathing|
        heating|
        irrigation|sauna|charging|freezer open|shower|workout|tummy) time (today|this week|yesterday);
        WHO's (screen time|practice time|sleep time|gaming time|reading time|nap|bath time|working time|
        piano time|reading streak|running streak|chess streak|no sugar streak|spelling streak);
        (language|meditation|running|no smoking|no alcohol|flossing|writing|cold shower|reading|
        vegetable) streak;
        (longest shower|filter run|power cut|heat wave|dry spell|current outage|washing program|
        bread program)""",
        """
        6? how long is {t} [now|so far|by now|today|]
        3? how long (was {t}|has {t} been)
        2? how many (minutes|hours|days) is {t} [now|so far|]
        2! (tell me|check|find out) how long {t} is
        2? (can|could) you (tell me|check) how long {t} is
        2? how much is {t} [so far|]
        ? do you know how long {t} is
        """,
        stems="(streak|run time|screen time)",
    ),
    "vessels": _family(
        """(oil tank|rain barrel|salt hopper|dog food bin|cat litter box|cyan cartridge|
        magenta cartridge|black cartridge|
        yellow toner|soap dispenser|descaler bottle|bean hopper|pellet hopper|wood store|septic tank|
        rinse aid tank|
        chlorine feeder|bird feeder|propane bottle|beer keg|adblue tank|washer fluid tank|
        detergent drawer|compost bin|
        ash pan|vacuum bin|fish feeder|water bowl|milk frother tank|mop water tank|dirty water tank|
        grease trap|
        freezer drawer|wine rack|coal bunker|log basket|fertiliser tank|grey water tank|water jug|
        ink tank|resin vat|
        wax tank|recycling crate|laundry basket|mailbox|grain silo|honey super|feed hopper|drip tray|
        humidifier tank|
        ice tray|coffee grounds tray|hand sanitizer|shampoo dispenser|co2 bottle|helium bottle|
        pantry shelf|bread bin)""",
        _HOW_FULL, stems="(tank|hopper|tray|bottle|bin|cartridge)",
    ),
    "levels": _family(
        """(oil|salt|dog food|cat litter|cyan ink|magenta ink|black ink|toner|soap|coffee bean|pellet|
        firewood|rinse aid|
        chlorine|bird seed|propane|beer|washer fluid|detergent|compost|fish food|cistern|well|pond|
        bromine|
        fertiliser|grey water|brake fluid|engine oil|coolant|wiper fluid|resin|filament|wax|hay|straw|
        grain|honey|
        milk|hot water|antifreeze|sump|moat|fountain)
        (level|supply|reserve|stock|percentage)""",
        _LEVEL, stems="(level|supply|reserve)",
    ),
    "nature": _family(
        """(birch|grass|hazel|alder|ragweed|oak|olive|mugwort|cedar|ash|plantain|nettle) pollen [level|
        count|today|];
        (mosquito|tick|wasp|midge|fire|avalanche|frost|flood|landslide|ice|algae|jellyfish|rip current|
        smog|allergy|
        sunburn|thunder|hay fever|mould|slug|blight|migraine) (risk|index|level|danger|warning level|
        score);
        (river|lake|reservoir|stream|harbour|groundwater|canal) (level|height);
        (surf|wave|swell|snow base|fresh snow|grass|hedge|slope) height;
        (uv|smog|noise|ozone|aurora|geomagnetic|sunspot) (index|forecast|score)""",
        _HOW_HIGH, stems="(risk|index|danger)", listed_only=True,
    ),
    "scores": _family(
        """WHO's (spelling score|chore points|sleep score|resting pulse|step count|water intake|
        step goal|chess rating|
        maths average|fitness age|shoe size|height mark|golf handicap|reading level|step average|
        belt grade|star count|
        team ranking|quiz score|tooth brushing score|mood score);
        (house|eco|driving|energy|tidiness|recycling|carbon|air|sleep|noise|garden|comfort|water|
        security|posture|bike|
        family quiz|darts|table football|fantasy league) (score|rating|points|ranking|index)""",
        _SCORE, stems="(score|rating|points)",
    ),
    "notes": _family(
        """(dish|bathroom|dog walking|laundry|cooking|recycling|kitchen|plant watering|car pool|garden|
        hoovering)
        (rota|roster|duty|turn);
        (tonight's dinner|tomorrow's lunch|school lunch|canteen menu|soup of the day|word of the day|
        dinner plan|
        quote of the day|bin of the week|colour of the week|plant of the month|lesson one|homework topic|
        first lesson|
        bedtime book|current chapter|film night pick|board game pick|cheese of the week|dress code|
        school motto|
        guest password|wifi name|gate phrase|alarm reason|last caller|last visitor|fish of the day|
        printer job|
        print file|washer program|oven recipe|mower zone|vacuum room|car software|heating reason|
        router model);
        WHO's (homework|lunch choice|packed lunch|club today|mood|chore|outfit|seat number|first lesson|
        reading book)""",
        _WHICH, stems="(rota|roster|plan|program|menu)", listed_only=True,
    ),
    "people": _family(
        """(on call|duty|emergency|weekend|night) (plumber|doctor|pharmacist|nurse|vet|electrician|
        caretaker|janitor|
        carer|babysitter|dog walker|locksmith|midwife|warden|dentist);
        (cook|dishwasher|dog walker|bin person|driver|reader|table setter|dj|line leader) of the (day|
        week|night)""",
        _WHO, listed_only=True,
    ),
    "whereabouts": _family(
        """(car|van|bike|cargo bike|dog|cat|suitcase|scooter|school bus|drone|rucksack|camper|boat|
        trailer|
        tractor|motorbike|tortoise|horse|guitar case|tool box|handbag|wallet|mail van|ice cream van|
        lorry|canoe|
        camera bag|pushchair|wheelchair|keyring|umbrella|lawn robot)
        (tracker|tag|locator|finder|location|position|parking spot|whereabouts|beacon|gps)""",
        _WHERE, stems="(tracker|tag|locator|location|whereabouts)",
    ),
}  # fmt: skip

_NAMES = tuple(FAMILIES)
_FREE = tuple(key for key, family in FAMILIES.items() if not family.listed_only)
_FAMILY_OF = {name.casefold(): key for key, family in FAMILIES.items() for name in family.names}
_FAMILY_OF_STEM = {stem: key for key, family in FAMILIES.items() for stem in family.stems}
_STEM_SHARE = 0.12
_CLASS_SHARE = 0.3


def own_name(rng: random.Random, *, is_listed: bool = True) -> tuple[str, str | None]:
    """A sensor's name and its class, if it has one; what a home does not list is what any home has."""
    key = rng.choice(_NAMES if is_listed else _FREE)
    family = FAMILIES[key]
    if family.stems and rng.random() < _STEM_SHARE:
        name = f"{vocabulary.rare_word(rng)} {rng.choice(family.stems)}"
    else:
        name = rng.choice(family.names)
    return name, family.device_class if rng.random() < _CLASS_SHARE else None


def family_of(name: str) -> Family | None:
    """The family of a sensor that somebody has called so; None for other sensors."""
    key = _FAMILY_OF.get(name.casefold()) or _FAMILY_OF_STEM.get(name.partition(" ")[2].casefold())
    return FAMILIES[key] if key else None


def is_own(name: str, device_class: str | None) -> bool:
    """True for a listed sensor of a family; another class measures something else of a thing called so."""
    family = family_of(name)
    return family is not None and device_class in (None, family.device_class)
