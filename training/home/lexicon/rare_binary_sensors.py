"""Rarely asked binary sensors (heat, safety, vibration, tampering), and temperatures of things.

Many of them are outside, or sound like the weather or the temperature of a room.
"""

from __future__ import annotations

from dataclasses import dataclass

from edgevox.core.languages import plural
from training.home.lexicon.devices import NAMES
from training.home.lexicon.vocabulary import ROOMS
from training.home.templates import Pattern, every_wording, wordings


@dataclass(frozen=True, slots=True)
class RareBinarySensor:
    """A class of binary sensor.

    `things` are names; `kinds` are what such things and `sensors` what the sensors are called (singular,
    plural). `on` and `off` are words behind "is", `area_on` and `area_off` those that a room may be.
    """

    things: tuple[str, ...]
    kinds: tuple[tuple[str, str], ...]
    sensors: tuple[tuple[str, str], ...]
    on: Pattern
    off: Pattern
    area_on: Pattern | None = None
    area_off: Pattern | None = None
    fits_anything: bool = True


def _split(text: str) -> tuple[str, ...]:
    return tuple(" ".join(name.split()) for name in text.split("|") if name.strip())


def _watched(things: str, kinds: str, sensors: str, on: str, off: str, *, area: tuple[str, str] |
None = None,
             fits_anything: bool = True) -> RareBinarySensor:  # fmt: skip
    area_on, area_off = map(_words, area or ("", ""))
    return RareBinarySensor(
        _split(things), _nouns(kinds), _nouns(sensors), wordings(f"({on})"), wordings(f"({off})"),
        area_on, area_off, fits_anything,
    )  # fmt: skip


def _nouns(text: str) -> tuple[tuple[str, str], ...]:
    return tuple((one, plural(one)) for one in _split(text))


def _words(text: str) -> Pattern | None:
    return wordings(f"({text})") if text else None


RARE_BINARY_SENSORS: dict[str, RareBinarySensor] = {
    "heat": _watched(
        """playground slide|sandpit|tin roof|car bonnet|dashboard|kiln|barbecue lid|flue|iron|
        hair straightener|hob|
        toaster|charger brick|server rack|inverter box|fuse board|compost heap|haystack|dryer vent|
        soldering iron|
        waffle iron|trampoline mat|garden bench|tarmac|pizza stone|fire pit|tandoor|smoker|bike battery|
        pan handle|
        deep fryer|exhaust pipe|tractor engine|projector lamp|wallbox|motor housing|glue gun|griddle|
        log stack|
        extension reel|heating mat|raclette grill|chip pan|oven door glass|ash bucket""",
        "appliance|machine|oven|battery|cable|gadget|grill|pan|motor|surface|charger|engine",
        "heat sensor|heat detector|heat alarm",
        "hot|hot|too hot|overheating|very hot|burning hot|running hot|dangerously hot",
        "not hot|not overheating|no longer hot|cooled down|not too hot",
    ),
    "cold": _watched(
        """bird bath|water butt|garden tap|rabbit hutch|tortoise table|fig tree|lemon tub|roof gutter|
        windscreen|
        footbridge|swimming pond|ice box|picnic cooler|beehive|paddling pool|meter box|water meter|
        caravan tank|
        horse trough|hosepipe|fish pond|dahlia bed|vegetable drawer|bait fridge|vaccine box|
        flower cooler|loft tank|
        condensate pipe|car battery|baby bath|guinea pig run|greenhouse bench|cheese drawer|
        seedling tray|kennel floor|
        outdoor shower pipe|dog kennel|olive tree|sprinkler main|washing line pole|front step|
        potato store""",
        "pipe|tap|plant|fridge|freezer|tank|cold store|cool box|water line|pond",
        "cold sensor|frost sensor|freeze sensor|frost alarm",
        "cold|cold|too cold|freezing|freezing cold|frozen|icy|ice cold",
        "not cold|not freezing|no longer cold|frost free|not frozen|not too cold",
    ),
    "safety": _watched(
        """swing set|climbing frame|pool cover|balcony railing|back step|garden path|rope bridge|
        zip line|
        scaffolding|chimney|gas bottle|bouncy castle|sauna stove|well cover|roof hatch|electric fence|
        bunk bed|
        baby gate|jetty|cliff path|footpath|hot tub cover|log pile|extension lead|tap water|
        drinking water|
        well water|ice rink|pond ice|driveway ramp|crossing|deep end|beach|school route|paddling pool|
        quarry road|
        cellar step|conveyor belt|table saw|chainsaw|wood chipper|go kart|hammock|diving board|
        septic lid|lake ice|
        slope|mountain trail|harbour wall|fire escape|laser cutter|bonfire""",
        "machine|path|toy|ladder|tool|step|appliance|railing|heater",
        "safety sensor|safety switch|safety detector",
        "unsafe|unsafe|dangerous|not safe|hazardous|not safe to use",
        "safe|safe|safe to use|secure|out of danger|not dangerous",
        area=("unsafe|dangerous|not safe|hazardous", "safe|safe|secure|out of danger"),
    ),
    "problem": _watched(
        """stairlift|pond filter|smoker|irrigation|treadmill|septic pump|bread maker|cat feeder|
        ice maker|intercom|
        electric gate|wind turbine|rain pump|hot tub|freezer compressor|satellite dish|piano humidifier|
        kiln|
        milking robot|chicken door|e-bike|solar string|pellet feeder|garage opener|water filter|
        air handler|
        ventilation|lift|mesh network|alarm line|battery bank|ink head|koi pump|weather mast|roof fan""",
        "appliance|machine|pump|device|system|camera|motor|printer|heater",
        "problem sensor|fault sensor|error sensor",
        "faulty|broken|playing up|acting up|in trouble|having a problem|having issues|out of order|"
        "reporting a fault",
        "ok|okay|fine|working properly|trouble free|all right|in working order|free of problems",
    ),
    "tamper": _watched(
        """meter box|garage keypad|cellar hatch|bike chain|cash drawer|beehive|chicken coop|gun cabinet|
        trail camera|
        water main cover|key safe|fuel cap|boat cover|vending machine|medicine locker|thermostat cover|
        network cabinet|
        gate motor|post box|server rack|caravan hitch|roof box|token meter|wine cellar lock|siren housing|
        evidence box|money box|drone case|hydrant|solar cable""",
        "camera|lock|keypad|meter|detector|alarm|box|panel|cabinet|siren",
        "tamper sensor|tamper switch|tamper contact|tamper alarm",
        "tampered with|tampered with|being tampered with|messed with|interfered with|fiddled with",
        "untouched|not tampered with|intact|undisturbed|not messed with|untampered",
    ),
    "vibration": _watched(
        """extractor hood|spin dryer|subwoofer|attic floor|shop window|greenhouse pane|flagpole|
        tool chest|
        aquarium stand|bass amp|gearbox|water hammer pipe|antenna mast|cot|trampoline|gate post|
        display case|
        bridge|bicycle rack|jewellery box|pump house|centrifuge|wine rack|bookshelf|chandelier|treehouse|
        hull|wheel rim|glass cabinet|chimney pot""",
        "machine|appliance|window|pipe|pump|wall|pane|cabinet|motor",
        "vibration sensor|shock sensor|vibration detector",
        "vibrating|vibrating|shaking|rattling|wobbling|trembling",
        "not vibrating|not shaking|steady|no longer shaking|not rattling",
    ),
    "sound": _watched(
        """dog kennel|hen house|cot|band room mic|street mic|neighbour wall|aviary|bedroom mic|
        wine cellar mic|
        bird table mic|beehive mic|pub next door|building site mic|party wall|schoolyard|parrot cage|
        washing line mic|
        night market|crib monitor|workshop mic|stable mic|hedge mic|guitar amp|motorway side|puppy pen""",
        "mic|microphone|monitor|device|camera|speaker",
        "sound sensor|noise sensor|sound detector|noise detector",
        "noisy|loud|making noise|making a noise|detecting sound|too loud|making a racket",
        "quiet|silent|not making noise|not noisy|not loud|not making any noise",
        area=("noisy|loud|too loud|too noisy", "quiet|silent|not noisy|not loud"),
    ),
    "occupancy": _watched(
        """swing seat|bench|picnic table|charging bay|bike stand|loading bay|tennis court|paddock|kennel|
        nest box|
        phone booth|laundry slot|treatment chair|drum stool|high chair|window seat|beanbag|sun lounger|
        changing table|
        visitor parking|lower bunk|rabbit hutch|beach hut|gym mat|ping pong table|boat berth|
        campsite pitch|
        reading nook|tractor seat|barber chair|standing desk""",
        "room|seat|chair|bed|parking space|desk|bay|table|toilet|bench",
        "occupancy sensor|seat sensor|bed sensor|occupancy detector",
        "occupied|occupied|taken|in use|busy|being used",
        "free|empty|vacant|available|unoccupied|not in use",
        area=("occupied|in use|taken|being used|busy", "empty|vacant|unoccupied|free|not in use"),
        fits_anything=False,
    ),
    "presence": _watched(
        """dog|cat|postman|window cleaner|night nurse|au pair|tortoise|pony|school bag|car key|work van|
        grandad's stick|nurse's badge|carer's phone|builder's van|lodger's phone|Ella's key fob|
        Omar's badge|
        Freya's skateboard|Marco's moped|Priya's handbag|Tim's wallet|neighbour's cat|delivery robot""",
        "phone|tag|pet|key fob|badge|bike|watch",
        "presence sensor|presence detector",
        "home|at home|here|around|present|back|nearby",
        "away|out|gone|not home|not here|not present|missing",
        fits_anything=False,
    ),
    "plug": _watched(
        """electric blanket|bread maker|curling iron|boat|motorhome|mobility scooter|drill|vacuum|
        fondue set|
        heat mat|sewing machine|tower speaker|sun lamp|breast pump|electric fence|wheelchair|camper|
        hedge trimmer|
        pressure washer|guitar amp|milk frother|hearing aid case|golf trolley|extension lead|
        night light""",
        "car|charger|appliance|tool|device|gadget|heater|vehicle",
        "plug sensor|plug contact",
        "plugged in|plugged in|connected to the mains|plugged into the wall",
        "unplugged|not plugged in|pulled out|not connected to the mains",
    ),
    "power": _watched(
        """summer house|bait freezer|koi pump|alarm panel|stairlift|hen house|boat shed|caravan hookup|
        electric gate|borehole|server rack|greenhouse circuit|insulin fridge|oxygen machine|
        workshop circuit|
        pond filter|barn circuit|phone line|mesh node|guest cabin|cooker circuit|lift motor""",
        "circuit|appliance|socket|pump|freezer|device|machine",
        "power sensor|mains sensor|power detector",
        "powered|getting power|supplied with power|receiving power|under power",
        "without power|not powered|unpowered|dead|not getting power|cut off from power",
        area=("powered|supplied with power|getting power", "without power|not getting power|unpowered"),
    ),
    "running": _watched(
        """sump pump|bilge pump|milk cooler|water feature|laser cutter|bottle steriliser|rock tumbler|
        egg turner|
        mash tun|lathe|grain dryer|render farm|wood chipper|cement mixer|nappy washer|
        ice cream maker|
        borehole pump|conveyor|vacuum pump|kiln program|aquarium filter|pond skimmer|defrost cycle|
        wind turbine|
        projector fan|slush machine|dough mixer|robot arm|filter pump""",
        "machine|appliance|pump|motor|fan|engine|compressor|program",
        "",
        "running|running|still running|in operation|going",
        "not running|stopped|idle|finished|no longer running",
    ),
    "update": _watched(
        """e-reader|mesh node|dashcam|wallbox|soundbar|smart lock|mower|air fryer|baby monitor|
        photo frame|heat pump|
        garage opener|drone|satnav|inverter|intercom|energy meter|fish feeder|vr headset|door station|
        firewall""",
        "device|gadget|appliance|camera|phone|speaker|computer|lock",
        "",
        "out of date|outdated|not up to date|behind on updates|due for an update|waiting for an update",
        "up to date|current|on the latest version|fully updated|not outdated",
    ),
    "connectivity": _watched(
        """mesh node|bird box camera|gate intercom|e-reader|boat tracker|dashcam|rain gauge|wallbox|
        meter gateway|
        pond camera|alarm line|baby monitor|soundbar|sat receiver|van router|beehive scale|stable camera|
        photo frame|
        ups card|barn repeater|parcel locker|irrigation box|cloud link|backup line|garden speaker""",
        "camera|device|sensor|speaker|repeater|phone|hub|gadget|lock",
        "connectivity sensor|connection sensor",
        "connected|online|reachable|on the network|connected to the wifi",
        "offline|disconnected|unreachable|not connected|off the network|not online",
    ),
    "moisture": _watched(
        """tent floor|boat bilge|skylight frame|cushion box|bike saddle|clothes line|sandpit|
        hay barn floor|garden chair|
        lawn|playing field|deck board|bread bin|cellar step|fish tank stand|window sill|loft beam|
        camper roof|
        wall behind the shower|under the boiler|dog bed|nappy|bed sheet|carport floor|letterbox|
        washing pile|
        flat roof|chimney breast|gutter joint|kitchen plinth""",
        "floor|wall|carpet|pipe|plant pot|tap|window sill|towel",
        "leak sensor|flood sensor|water alarm|damp sensor",
        "wet|wet|damp|soaked|leaking|flooded|dripping wet",
        "dry|dry|not wet|bone dry|not damp|not leaking",
        area=("wet|damp|flooded|soaked|under water", "dry|not wet|not damp|not flooded"),
    ),
    "gas": _watched(
        """hob|gas bottle|caravan stove|meter cupboard|gas fire|bunsen burner|boat galley|camping stove|
        patio burner|
        gas pipe|lpg tank|brewery burner|gas fridge|biogas dome|kiln burner""",
        "stove|burner|gas pipe|heater|gas bottle|appliance",
        "gas sensor|gas alarm|gas detector|gas sniffer",
        "leaking gas|leaking gas|detecting gas|giving off gas",
        "not leaking gas|free of gas|gas free|not detecting gas",
        area=("full of gas|filled with gas", "free of gas|gas free|clear of gas"),
    ),
    "smoke": _watched(
        """toaster|bonfire|fire pit|barbecue|chimney pot|smokehouse|pizza oven|candle shelf|ashtray|
        laser cutter|
        hay barn|tumble dryer|kiln|fuse board|frying pan|engine bay|log burner flue|fog machine|
        compost heap""",
        "appliance|oven|pan|machine|chimney|stove",
        "smoke sensor|smoke alarm|smoke detector|fire detector",
        "smoking|giving off smoke|detecting smoke|producing smoke",
        "not smoking|smoke free|free of smoke|not detecting smoke",
        area=("smoky|full of smoke|filled with smoke", "smoke free|free of smoke|clear of smoke"),
    ),
    "light": _watched(
        """nest box|mailbox eye|bat box|photo tray|mushroom bed|chick brooder|fridge eye|solar eye|
        window eye|
        aquarium eye|moth trap|dark tent|roof photocell|sky sensor|garden photocell|bird hide|
        cellar eye""",
        "light sensor|photocell|dusk sensor",
        "light sensor|light detector|daylight sensor",
        "detecting light|seeing light|picking up light|sensing light|getting light|detecting daylight",
        "in the dark|not detecting light|not seeing any light|not getting any light",
    ),
    "moving": _watched(
        """cable car|sailing boat|pram|tractor|cattle trailer|school bus|rocking chair|weather vane|
        cat wheel|dumbwaiter|
        garden swing|hamster wheel|delivery van|horse box|rowing boat|ferry|stairlift|wheelchair|
        suitcase|drone|
        conveyor belt|pond boat|caravan|motorbike|gate arm|pendulum|cradle|carousel|skip lorry|
        wind chime""",
        "vehicle|car|boat|trailer|machine|bike|gate",
        "",
        "moving|moving|in motion|on the move|moving about",
        "stationary|not moving|standing still|motionless|parked up",
    ),
    "battery_charging": _watched(
        """hearing aid|wheelchair|golf trolley|walkie talkie|headlamp|camera grip|cordless drill|
        vape pen|e-reader|
        trail camera|electric shaver|home battery|mobility scooter|toy car|game controller|smart ring|
        hoverboard|
        bike light|camper battery|baby monitor|vacuum stick|jump starter|pond robot|boat battery|
        van battery""",
        "phone|battery|car|bike|gadget|tablet|power tool|scooter",
        "charging sensor|charge sensor",
        "charging|charging|being charged|on charge|still charging",
        "not charging|done charging|discharging|not being charged|off the charger",
    ),
}  # fmt: skip

# Things with a thermometer of their own: neither rooms nor what heats them.
_WARM = """
    (kombucha|sourdough|yoghurt|cheese|kimchi|tempeh|ginger beer|cider|mead|sauerkraut) (jar|vat|crock|
    fermenter);
    (left|top|bottom|chest|beer|bait|vaccine|medicine|garage|camper|baby milk|guest) (fridge|freezer|
    cool box);
    (koi|fish|turtle|shrimp|axolotl|reef|quarantine|tadpole|goldfish) (tank|pond|bowl);
    (foot|baby|dog|ice|bird|paraffin) bath;
    (brew|soup|stock|glue|wax|jam|preserving|copper|candle|dye) (kettle|pot|pan|vat);
    (pottery|glass|enamel|annealing|brick) kiln;
    (pork|brisket|chicken|turkey|meat|lamb|roast|oven|grill|smoker) (probe|thermometer);
    (egg|reptile|chick|quail|snake|gecko|lizard) (incubator|brooder|vivarium|terrarium|hatcher);
    (graphics card|processor|hard disk|solid state drive|network switch|raspberry pi|amplifier|
    projector lamp|led driver|
    modem|games console|laptop|phone|dashcam|mini pc|power supply|mainboard|home server|server rack|
    camera sensor);
    (inverter|battery pack|wallbox|transformer|gearbox|compressor|generator|alternator|tractor engine|
    car engine|boat engine|
    engine block|gear motor|hydraulic oil|brake disc|charging cable|fuse box|solar panel|
    wind turbine hub);
    (buffer|cold water|rain|expansion|solar|header|milk|mash) (tank|cylinder|loop|coil|manifold|tun);
    (flow|return|supply|steam|brine|glycol) (pipe|line|circuit);
    (milk|wine|beer|cheese|cigar|flower|cake|champagne|chocolate|salami) (cooler|cabinet|chiller|case|
    cupboard);
    (coffee|tea|cocoa|mulled wine) (urn|pot|mug|machine|flask);
    (lake|sea|pond|well|river|tap|aquarium|pool|shower|dish|jacuzzi|spring|canal|bore|footbath) water;
    (extruder|print bed|nozzle|heated bed|laser tube|resin vat|hot end|soldering tip|glue gun|heat press);
    (compost|manure|hay|mulch|leaf|silage) (heap|pile|bale|clamp);
    (bee|bumblebee|observation) hive;
    (soil|tomato|raised|asparagus|strawberry|cold|worm) (bed|bin|frame);
    (bike|car|van|trailer|tractor) (tyre|battery|cabin);
    (iron|griddle|deep fryer|raclette|wok|bread maker|pizza stone|flue|exhaust|tarmac|tin roof|
    playground slide|sandpit|
    heat lamp|mattress|electric blanket|hot plate|toaster|air fryer|rice cooker|slow cooker|waffle iron|
    fondue pot|tandoor|
    barbecue|fire pit|chip pan|sous vide stick|chocolate fountain|hot water bottle|dishwasher|
    tumble dryer|ice rink|igloo|
    hen nest|cat bed|dog crate|rabbit hutch|nest box|baby bottle|bottle warmer|wax melter|hot stone|
    steam iron|crucible|
    blast chiller|ice cream maker|ice bucket|hammam stone|paddling pool|swim spa|plunge pool|ice tub|
    cold plunge)
"""  # fmt: skip
_ROOMS_AND_HEATERS = frozenset((*ROOMS, *NAMES["climate"]))
WARM = tuple(
    name
    for line in _WARM.split(";")
    for words in every_wording(" ".join(line.split()))
    if (name := " ".join(words.split())) not in _ROOMS_AND_HEATERS
)
