"""Sensors of device classes that get_state does not accept: speeds, data sizes, durations, money, gases.

A home lists them with Home Assistant's class, which must not be copied into the slot. Some names say what
is measured in other words than the class.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from training.home.lexicon import vocabulary
from training.home.lexicon.vocabulary import PEOPLE
from training.home.templates import Grammar, Pattern, wordings


@dataclass(frozen=True, slots=True)
class Gauge:
    """A class of sensor: devices that have one, words behind a device's name, and what is asked about {t}.

    `said` are the words that make a name of their own behind a device's; `words` are what people call the
    value, and `asked` are sentences that ask for it without such a word.
    """

    devices: tuple[str, ...]
    said: tuple[str, ...]
    words: Pattern
    asked: Grammar | None = None


def _split(text: str) -> tuple[str, ...]:
    return tuple(" ".join(name.split()) for name in text.split("|"))


def _gauge(devices: str, said: str, words: str, asked: str = "") -> Gauge:
    return Gauge(_split(devices), _split(said), wordings(f"({words})"), Grammar(asked) if asked else None)


_CLEAN = """
? how (clean|good|bad) is the air (at|around|near|by) {t}
"""
_HOW_MUCH_GAS = "? how much {g} (does {t} measure|is there at {t}|does {t} see|is {t} picking up)"

GAUGES: dict[str, Gauge] = {
    "aqi": _gauge(
        "air purifier|air monitor|awair|smog box|window sensor|rooftop station|netatmo|air cube|breather",
        "air quality|aqi|air index|air score",
        "air quality|air quality index|air quality|aqi|air quality reading|pollution level", _CLEAN,
    ),
    "data_rate": _gauge(
        "torrent box|router|modem|nas|media server|backup server|fibre line|starlink|seedbox|switch rack|vpn|"
        "phone mast|mesh point|camera recorder|download client",
        "throughput|download|upload|traffic|bandwidth|downlink|uplink",
        "download speed|upload speed|data rate|throughput|bandwidth|transfer rate|connection speed|"
        "network speed|bit rate",
        """
        3? how fast is {t} [right now|at the moment|downloading|uploading|transferring]
        ? how fast does {t} (download|upload|transfer)
        ? how (quick|fast) is the (connection|download|upload|transfer) (on|of|at) {t}
        ? how many (megabits|megabytes) (a|per) second is {t} (doing|getting)
        """,
    ),
    "data_size": _gauge(
        "nas|backup disk|backup|photo library|memory card|dashcam|cloud drive|server|recorder|plex library|"
        "hard drive|time machine|game drive|mailbox",
        "free space|used space|storage|size|disk use|data",
        "free space|used space|disk space|storage|size|storage use|data use|data volume|file size",
        """
        2? how (full|big|large) is {t}
        2? how much (space|storage|room|data) is (left|free|used) on {t}
        2? how much (space|storage|data) does {t} (use|have|take up) [up]
        ? how many gigabytes are (left|used|stored) on {t}
        """,
    ),
    "duration": _gauge(
        "tumble dryer|tumble dryer program|washing machine|dishwasher cycle|oven program|3d print|"
        "rice cooker|sauna session|laundry|wash cycle|charging session|workout|tv recording|mowing job|"
        "commute|screen time|pool filter run|sleep",
        "time left|remaining time|runtime|duration|time to go|cycle time|uptime",
        "remaining time|time left|running time|runtime|duration|time to go|length|uptime|remaining duration",
        """
        4? how long is left on {t}
        3? how (long|much longer) (does {t} take|will {t} take|does {t} need|is {t} going to take)
        2? how much time is left (on|for) {t}
        2? how (long|much longer) (until|till|before) {t} (is done|is finished|finishes|ends|is over)
        ? how many minutes (are left|to go) on {t}
        ? how long (has {t} been going|has {t} been running|did {t} last|did {t} take)
        ? when will {t} (finish|be done|be over)
        """,
    ),
    "distance": _gauge(
        "car|van|parking sensor|oil tank gauge|water butt|bike computer|treadmill|robot dog|storm|iss|"
        "running watch|cistern|snow pole|river gauge|bus|school bus",
        "distance|range|mileage|odometer|depth|height|trip",
        "distance|range|mileage|remaining range|height|depth|odometer reading|distance travelled",
        """
        3? how far (is {t}|away is {t}|can {t} go|did {t} go|has {t} gone|has {t} driven)
        ? how far (will {t} get|has {t} travelled)
        ? how many (miles|kilometres|kilometers) (has {t} done|has {t} got left|did {t} do|are on {t})
        ? how (deep|high) is {t}
        """,
    ),
    "speed": _gauge(
        "treadmill|car|exercise bike|train set|boat|drone|bike|conveyor|rowing machine|kids scooter|sled",
        "speed|pace|velocity",
        "speed|pace|current speed|velocity|top speed",
        """
        4? how fast is {t} (going|moving|driving|)
        ? how fast does {t} go
        """,
    ),
    "wind_speed": _gauge(
        "anemometer|weather mast|roof station|weather vane|garden station|wind gauge|flagpole|marina buoy|"
        "balcony station|wind turbine|allotment station",
        "wind|wind speed|gusts|gust speed|breeze",
        "wind speed|wind|gust speed|gusts|wind strength|wind reading",
        """
        3? how windy is it (at|by|near) {t}
        2? how (strong|fast) is the wind (at|by|on|according to) {t}
        ? how hard is (it blowing|the wind blowing) at {t}
        """,
    ),
    "weight": _gauge(
        "bathroom scale|kitchen scale|cat scale|bee hive|beer keg|gas bottle|dog bowl|letter scale|"
        "bird feeder|pellet store|baby scale|coffee hopper|feed bin",
        "weight|mass|load",
        "weight|mass|weight reading|load|net weight",
        """
        4? how heavy is {t}
        3? how much does {t} weigh
        2? how many (kilos|pounds|grams|kilograms|stone) (does {t} weigh|is {t}|does {t} show)
        ? what does {t} weigh
        """,
    ),
    "volume": _gauge(
        "rain barrel|water butt|hot water tank|fuel tank|wine tank|milk tank|oil tank|shower|garden hose|"
        "septic tank|aquarium tank|propane tank|coffee tank",
        "volume|contents|litres|fill volume|gallons",
        "volume|contents|fill volume|amount|stored volume",
        """
        3? how many (litres|liters|gallons|pints) (are in {t}|does {t} hold|are left in {t}|does {t} have)
        2? how much (is|is left|water is|liquid is) in {t}
        """,
    ),
    "water": _gauge(
        "shower|water main|garden tap|washing machine|irrigation|dishwasher|pool filler|bathroom tap|toilet|"
        "sprinkler line|greenhouse tap|guest shower|allotment pipe",
        "water use|water usage|water consumption|water meter|water",
        "water consumption|water usage|water use|water consumption|water total|water meter reading",
        """
        3? how much water (did {t} use|has {t} used|does {t} use|is {t} using|went through {t})
        2? how many (litres|liters|gallons|cubic metres) of water (did {t} use|has {t} used)
        """,
    ),
    "precipitation": _gauge(
        "rain gauge|rain bucket|garden station|weather station|roof gauge|rain collector|field station|"
        "allotment gauge|snow gauge",
        "rain|rainfall|rain today|precipitation|snowfall",
        "precipitation|rainfall|rain|amount of rain|rain total|rain today|snowfall",
        """
        3? how much (rain|precipitation|snow) (did {t} get|has {t} collected|did {t} measure|is in {t})
        2? how much did it rain (at|according to) {t}
        ? how many (millimetres|inches|millimeters) (did {t} catch|are in {t}|did {t} measure)
        """,
    ),
    "precipitation_intensity": _gauge(
        "rain radar|drizzle sensor|weather mast|roof rain sensor|rain cloud", "rain rate|rain intensity",
        "rain rate|rain intensity|precipitation intensity|rate of rain",
        "? how hard is it raining (at|by|according to) {t}",
    ),
    "frequency": _gauge(
        "mains|grid|generator|inverter|ham radio|tuning fork|ups|wind turbine|power line|processor",
        "frequency|hertz|clock",
        "frequency|mains frequency|grid frequency|frequency|clock rate|clock speed",
        "2? how many (hertz|megahertz|cycles) (is {t} at|does {t} run at|is {t} running at|does {t} have)",
    ),
    "ozone": _gauge(
        "copier sensor|balcony air sensor|sky station|air lab|sniffer|smog station", "ozone|ozone level|o3",
        "ozone|ozone level|ozone concentration|ozone reading", _HOW_MUCH_GAS.replace("{g}", "ozone"),
    ),
    "nitrogen_dioxide": _gauge(
        "street sensor|garage sniffer|traffic sensor|kerb station|stove hood sensor", "no2|nitrogen dioxide",
        "nitrogen dioxide|nitrogen dioxide level|no2 level|nitrogen dioxide concentration",
        _HOW_MUCH_GAS.replace("{g}", "nitrogen dioxide"),
    ),
    "sulphur_dioxide": _gauge(
        "chimney sensor|volcano station|harbour sensor|flue probe", "so2|sulphur dioxide",
        "sulphur dioxide|sulphur dioxide level|sulfur dioxide level|so2 level",
        _HOW_MUCH_GAS.replace("{g}", "sulphur dioxide"),
    ),
    "volatile_organic_compounds": _gauge(
        "paint room sensor|print room sensor|air cube|nursery air sensor|foobot|new carpet sensor",
        "voc|voc level|vocs|fumes",
        "voc level|voc|volatile organic compounds|voc reading|fumes",
        _HOW_MUCH_GAS.replace("{g}", "voc"),
    ),
    "nitrous_oxide": _gauge(
        "dental lab sensor|barn sensor|slurry sensor", "n2o|nitrous oxide",
        "nitrous oxide|nitrous oxide level",
    ),
    "pm10": _gauge(
        "dust sensor|saw dust sensor|street dust sensor|pollen box|air cube", "pm10|coarse dust|dust",
        "pm10|pm 10|pm10 level|coarse dust level|dust level",
    ),
    "pm1": _gauge("soot sensor|candle sensor|exhaust sensor", "pm1|soot", "pm1|pm 1 level|soot level"),
    "signal_strength": _gauge(
        "wifi|doorbell|garden camera|lte modem|mesh point|attic repeater|zigbee stick|tv antenna|phone mast|"
        "water meter radio|bedroom tablet|gate intercom|tracker|mailbox sensor",
        "signal|signal strength|reception|rssi|wifi signal|link quality",
        "signal strength|signal|wifi signal|reception|signal level|rssi|link quality|signal quality",
        """
        3? how (strong|good|weak|bad) is the (signal|reception|wifi|connection) (of|on|at|for) {t}
        2? how (good|strong) is {t's} (signal|reception)
        ? how many bars does {t} have
        """,
    ),
    "monetary": _gauge(
        "power bill|savings jar|electricity tariff|bitcoin wallet|petrol station|share portfolio|piggy bank|"
        "heating bill|water bill|charging session|toll box|phone plan|feed in tariff|heating oil",
        "cost|price|balance|costs|bill|amount due",
        "cost|price|costs|balance|value|current price|total cost|amount",
        """
        3? how (expensive|cheap|much) is {t} [right now|today|]
        2? how much (does {t} cost|did {t} cost|do we owe on {t}|have we spent on {t})
        ? how much (money|cash) (is in|is on|is left in) {t}
        """,
    ),
    "current": _gauge(
        "fuse 3|wallbox|ev charger|main breaker|pool pump circuit|welder|solar string|battery bank|"
        "oven circuit|"
        "phase one|phase 2|well pump|caravan hookup|induction hob",
        "current|amps|amperage",
        "current|electric current|amperage|amps|current draw|electrical current",
        """
        4? how many (amps|amperes) (is {t} drawing|is {t} pulling|does {t} draw|is {t} at|does {t} use)
        2? how much current (is {t} drawing|does {t} draw|flows through {t}|is on {t})
        """,
    ),
    "sound_pressure": _gauge(
        "noise meter|baby room mic|terrace mic|neighbour sensor|band room meter|street mic|party meter|"
        "decibel box",
        "noise|noise level|loudness|decibels|sound level",
        "sound pressure|noise level|loudness|decibel level|sound level|volume of noise|sound pressure level",
        """
        3? how loud is it (at|by|near|according to) {t}
        2? how many decibels (does {t} show|is {t} at|does {t} measure|are there at {t})
        ? how (loud|noisy) is {t}
        """,
    ),
    "irradiance": _gauge(
        "sun sensor|roof pyranometer|solar sensor|weather mast|greenhouse roof|south roof|pv reference cell",
        "irradiance|sun strength|solar radiation|sun intensity",
        "irradiance|solar radiation|solar irradiance|sun strength|sun intensity|radiation",
        """
        2? how (strong|intense) is the (sun|sunshine|sunlight) (at|on|according to) {t}
        ? how much sun (is {t} getting|does {t} get|hits {t})
        """,
    ),
    "date": _gauge(
        "bin day|recycling|paper bin|garden waste|boiler service|mot|insurance|milk carton|passport|"
        "filter change|"
        "chimney sweep|dentist|glass collection|rent|dog vaccination",
        "date|due date|day|expiry|collection",
        "date|due date|expiry date|next date|day|collection date|deadline",
        """
        4? when is {t} [due|next|]
        2? (what|which) (day|date) is {t} [due|on|]
        2? when (does {t} expire|is {t} up|do we have {t})
        ? how many days (until|till|to) {t}
        """,
    ),
    "timestamp": _gauge(
        "last backup|last watering|next alarm clock|next bus|sunrise clock|last motion|next feeding|parcel|"
        "last boot|next ferry|last ring|router restart|next irrigation|next prayer|last delivery",
        "time|timestamp|time stamp",
        "time|timestamp|date and time|exact time",
        """
        4? when (was|is) {t}
        2? (what time|at what time) (was|is) {t}
        ? how long ago was {t}
        """,
    ),
    "power_factor": _gauge(
        "main meter|workshop feed|lathe|inverter|pump house", "power factor|cos phi",
        "power factor|power factor value|cosine phi",
    ),
    "apparent_power": _gauge(
        "ups|generator|inverter|main meter|rack", "apparent power|va load", "apparent power|volt amps"
    ),
    "ph": _gauge(
        "pool|hot tub|aquarium|fish pond|hydroponics|swimming pond|soil probe|compost tea|brewery kettle",
        "ph|ph value|acidity|ph level",
        "ph|ph value|ph level|acidity",
        "2? how (acidic|acid|alkaline) is {t}",
    ),
    "conductivity": _gauge(
        "orchid pot|fern pot|tomato bed|hydroponics|chilli plant|soil probe|reverse osmosis",
        "conductivity|fertility|ec",
        "conductivity|soil conductivity|electrical conductivity|fertility",
    ),
    "volume_flow_rate": _gauge(
        "pool pump|water main|shower head|irrigation line|heating loop|fountain|well|osmosis filter",
        "flow|flow rate",
        "flow rate|flow|water flow|rate of flow",
        """
        2? how (fast|quickly) is (the water flowing|water running) (in|through) {t}
        ? how many litres (a|per) (minute|hour) (go through|run through) {t}
        """,
    ),
    "energy_storage": _gauge(
        "powerwall|home battery|battery bank|e-bike pack|solar store|camper battery", "stored energy|reserve",
        "stored energy|energy reserve|energy stored", "2? how much energy is (left|stored) in {t}",
    ),
    "blood_glucose_concentration": _gauge(
        "glucose monitor|dexcom|libre sensor|sugar patch", "glucose|blood sugar|sugar",
        "blood sugar|glucose|blood glucose|sugar level|glucose level",
        "2? how high is the (sugar|blood sugar) on {t}",
    ),
    "wind_direction": _gauge(
        "weather vane|roof station|anemometer|flagpole|marina buoy", "wind direction|wind bearing",
        "wind direction|direction of the wind|wind bearing",
        "3? (where|which direction|which way) is the wind (coming from|blowing) at {t}",
    ),
    "enum": _gauge(
        "washing machine|dishwasher|3d printer|tumble dryer|oven|boiler|car charger|coffee machine|"
        "heat pump|alarm "
        "system|cat feeder|inverter",
        "program|phase|stage|step|job|mode",
        "program|phase|stage|current step|programme|current mode|job",
        "2? (which|what) (program|programme|phase|stage|step|mode) is {t} (in|on|at)",
    ),
}  # fmt: skip

CLASSES = tuple(GAUGES)

# Names that say what is measured in other words than a class that the tool knows: asked for by name alone.
SAID_MEASURES: dict[str, tuple[str, ...]] = {
    "power": ("output", "draw", "load", "wattage", "power use", "consumption"),
    "energy": ("yield", "usage today", "kilowatt hours", "energy use", "energy today"),
    "humidity": ("humidity", "dampness", "air humidity"),
    "pressure": ("pressure", "tyre pressure", "tire pressure", "line pressure", "water pressure"),
    "battery": ("charge", "battery level", "battery", "charge level"),
    "voltage": ("volts", "voltage", "cell voltage"),
    "illuminance": ("brightness", "lux", "light level", "daylight"),
    "moisture": ("moisture", "soil moisture", "wetness"),
    "carbon_dioxide": ("co2", "co2 level", "carbon dioxide"),
    "pm25": ("fine dust", "particulates", "pm2.5"),
    "temperature": ("water temperature", "core temperature", "flow temperature", "oil temperature"),
}
_SAID_OF = _split(
    "attic|van|solar|roof|caravan|e-bike|camper|shed|cellar|studio|tractor|trailer|boiler|heat pump|"
    "greenhouse|hot tub|pond|orchard|well|heating|garage roof|balcony panel|balcony|car|motorbike|"
    "left wheel|rear|tank|cold store|inverter|wallbox|orchid|lemon tree|hedge|boat|darkroom|wine rack|"
    "stable|smoker|grill"
)
SAID_ENDS = tuple({f" {end}" for ends in SAID_MEASURES.values() for end in ends})


def gauge_name(rng: random.Random, device_class: str) -> str:
    """ "torrent box", "nas free space", "hassock gauge", "Anna's car": what such a sensor is called."""
    gauge = GAUGES[device_class]
    way = rng.random()
    device = rng.choice(gauge.devices)
    if way < 0.52:
        return device
    if way < 0.66:
        return f"{vocabulary.rare_word(rng)} {device.rpartition(' ')[2]}"
    if way < 0.72:
        return f"{rng.choice(PEOPLE)}'s {device.rpartition(' ')[2]}"
    return f"{device if way < 0.9 else vocabulary.rare_word(rng)} {rng.choice(gauge.said)}"


def said_name(rng: random.Random) -> tuple[str, str]:
    """ "van tyre pressure", "solar output", and the class that the home lists it with."""
    device_class = rng.choice(tuple(SAID_MEASURES))
    first = rng.choice(_SAID_OF) if rng.random() < 0.7 else vocabulary.rare_word(rng)
    return f"{first} {rng.choice(SAID_MEASURES[device_class])}", device_class


def says_measure(name: str, device_class: str) -> bool:
    """True for "nas free space": the name of its own says what is measured."""
    return name.endswith(tuple(f" {end}" for end in GAUGES[device_class].said))
