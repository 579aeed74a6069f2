"""Device names by domain, the words for each kind of device, and what sensors measure."""

from __future__ import annotations

from dataclasses import dataclass


def _names(lines: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in lines.replace("\n", " ").split("|"))


NAMES: dict[str, tuple[str, ...]] = {
    "light": _names("""desk lamp|floor lamp|bedside lamp|table lamp|standing lamp|reading lamp|
    night light|tv lamp|
        ceiling light|ceiling lamp|wall light|wall lamp|counter light|cabinet lights|
        under cabinet light|island light|
        pendant|pendant light|chandelier|spotlights|left spot|right spot|led strip|light strip|tv backlight|
        mirror light|vanity light|shower light|closet light|porch light|flood light|floodlight|path lights|
        string lights|fairy lights|christmas lights|christmas tree|lava lamp|salt lamp|moon lamp|star lamp|
        corner lamp|arc lamp|piano lamp|aquarium light|fish tank light|plant light|grow light|workbench light|
        garage floods|doorway light|stair light|stairs led|bed light|left bedside lamp|
        right bedside lamp|big lamp|
        small lamp|old lamp|paper lamp|globe|sunset lamp|ring light|monitor light|sofa lamp|couch light|
        fireplace light|picture light|art light|bookshelf light|shelf lights|hue go|hue bloom|lightbulb one|
        bulb 2|light 3|lamp|lantern|patio lantern|dining table lamp|kitchen island lamp|main light|
        overhead light|
        ambient light|mood light|accent lights|headboard light|crib light|dino lamp|unicorn lamp|
        mushroom lamp|
        neon sign|bar sign|disco ball|snowman|santa|reindeer|halloween pumpkin|window star|candle light|
        hobby lamp|sewing lamp|drawing table lamp|bathroom mirror|strip under the bed|light above the stove|
        hood light|extractor light|oven light|door lamp|bollard|pool lights|tree lights|hedge lights|
        garden spots"""),
    "switch": _names("""coffee machine|coffee maker|kettle|toaster|heater plug|printer|router|modem|
    washing machine|washer|
        dryer|dishwasher|iron|hair dryer|electric blanket|heated blanket|space heater|dehumidifier plug|
        christmas tree plug|outdoor plug|outdoor plug 2|outdoor plug one|garden plug|left plug|right plug|
        desk plug|tv plug|plug 1|plug two|smart plug|socket 3|power strip|fountain|pond pump|pool pump|
        water pump|well pump|pump|irrigation|sprinkler|sprinklers|garden sprinkler|lawn sprinkler|drip line|
        aquarium pump|aquarium heater|fish tank|terrarium|fridge|freezer|wine fridge|rice cooker|slow cooker|
        air fryer|microwave|charger|car charger|ev charger|bike charger|phone charger|laptop charger|
        games console|xbox|playstation|projector plug|subwoofer|amplifier|computer|workstation|pc|monitor|
        3d printer|soldering iron|air compressor|table saw|water heater|boiler|immersion heater|hot tub|
        jacuzzi|
        sauna stove|towel rail|towel warmer|mirror heater|bug zapper|mosquito lamp|holiday lights|
        doorbell chime|
        guest wifi|wifi|vpn|camera|nvr|nas|media server|popcorn machine|ice maker|massage chair|
        treadmill|heat lamp|incubator|cat feeder|cat fountain|dog feeder|heating mat|foot warmer"""),
    "fan": _names("""ceiling fan|desk fan|tower fan|floor fan|standing fan|exhaust fan|extractor fan|
    extractor|vent|
        bathroom vent|ventilation|air purifier|air cleaner|kitchen hood|range hood|cooker hood|attic fan|
        box fan|pedestal fan|table fan|left fan|right fan|big fan|window fan|whole house fan|bedside fan|
        mr. breezy|dyson|whirly|hvac fan|heat recovery|stove fan"""),
    "cover": _names("""left curtain|right curtain|left blind|right blind|middle blind|big curtain|
    roller blind|roller shade|
        skylight|roof window|skylight blind|sun shade|sun sail|patio awning|terrace awning|front awning|
        projector screen|front door|garage door|left garage door|right garage door|big garage door|
        front gate|back gate|
        side gate|driveway gate|garden gate|main gate|sliding door|patio door|balcony door|cat door|dog door|
        pergola roof|rolling shutter|front shutter|street shutter|blackout blind|blackout curtain|
        sheer curtain|
        theater curtain|shower window|dormer window|vent flap|louvre|louvers|bay window blind|east blind|
        west blind|south shade|north curtain|bedside blind|tv blind|window by the sink|velux"""),
    "lock": _names("""front door|back door|side door|garage side door|patio door|basement door|
    cellar door|main door|
        entrance door|main entrance|office door|shed door|gate lock|garden gate|gun safe|safe|
        medicine cabinet|
        wine cabinet|liquor cabinet|car|front door lock|back door lock|smart lock|bike shed|mailbox|
        cabinet lock|upstairs door|guest house door|storage door|pool gate|delivery box"""),
    "media_player": _names("""tv|television|telly|radio|kitchen radio|speaker|soundbar|sound bar|stereo|
    hifi|record player|
        turntable|sonos|sonos one|sonos beam|homepod|homepod mini|echo|echo dot|nest mini|google home|
        chromecast|
        apple tv|fire tv|roku|shield|xbox one|projector|home cinema|receiver|bluetooth speaker|shower speaker|
        bathroom radio|big tv|small tv|bedroom tv|kids tv|left speaker|right speaker|party speaker|
        patio speaker|
        smart display|tablet|jukebox|kitchen speaker|living room speaker|living room tv|office speaker|
        alarm clock radio|
        boombox|portable speaker|plex|kodi|av receiver|headphones|studio monitors"""),
    "climate": _names("""thermostat|hallway thermostat|main thermostat|nest|ecobee|tado|radiator|
    left radiator|heat pump|
        underfloor heating|floor heating|air conditioner|air conditioning|ac|aircon|mini split|window unit|
        pool heater|bathroom heater|towel heater|oil heater|wall heater|panel heater|fireplace|pellet stove|
        hot water|greenhouse heater|electric fire|wood stove|log burner|storage heater|convector|furnace|
        gas heater|infrared heater|fan heater|loft heater|split unit|cooler|patio heater|central heating|
        bedroom ac|living room ac|big radiator|tower heater"""),
    "scene": _names("""movie night|movie time|movie|party time|party|dinner|dinner time|romantic dinner|
    good night|
        good morning|bedtime|reading|relax|relaxing|chill|cozy|cosy evening|bright|work|work mode|focus|
        study time|
        gaming|game night|sunset|sunrise|sunday morning|lazy sunday|christmas|halloween|away|vacation|holiday|
        welcome home|arriving home|leaving home|cinema|concert|disco|rainbow|tropical|ocean|forest|
        energize|wake up|
        sleep|sleepy time|nap time|story time|bath time|spa|yoga|meditation|workout|cooking|breakfast|brunch|
        cleaning|candle light|date night|guests|homework|night|evening|daylight|snow day|quiet time|
        piano practice"""),
    "script": _names("""bedtime routine|morning routine|goodbye|leave home|lock up|welcome|
    start the day|end of the day|
        water the plants|feed the cat|feed the fish|make coffee|tea time|warm up the car|wash day|
        laundry done|
        panic|test alarm|reboot router|reset lights|school run|vacation mode|guest mode|night check|
        party starter|movie start|rain alert|open sesame|all quiet|spring cleaning|light show"""),
    "automation": _names("""vacation lights|night lights|motion lights|porch at sunset|morning coffee|
        alarm at night|
        leak alert|door alert|doorbell notification|garage reminder|bin day reminder|washing reminder|
        sunrise blinds|
        evening scene|heating schedule|away heating|plant watering|window reminder|welcome home lights|
        presence simulation|low battery alert|school morning|night mode|frost protection"""),
    "vacuum": _names("""robot vacuum|roomba|mr. fluffy|rosie|dusty|robby|hoover|roborock|dobby|bob the vacuum|
        upstairs vacuum|downstairs vacuum|kitchen vacuum|sir sucks a lot|wall-e|cleaner|vacuum robot|r2d2|
        mr. clean|jeeves|alfred|deebot|mop robot|dust buster|hubert|speedy|cinderella|robo|braava"""),
    "lawn_mower": _names("""mower|lawn mower|robot mower|lawnmower|automower|shaun the sheep|mowy|goat|
    grass eater|husky|
        big mower|back garden mower|front mower|edward cutterhands|worx|landroid|lawn bot"""),
    "valve": _names("""main valve|water valve|main water valve|garden valve|gas valve|irrigation valve|
    sprinkler valve|
        boiler valve|pool valve|hose valve|zone 1|zone two|rain barrel valve|radiator valve|front lawn valve|
        drip valve|shower valve|sink valve|washer valve|shutoff valve|basement valve|kitchen water|
        greenhouse valve"""),
    "humidifier": _names("""humidifier|bedroom humidifier|baby humidifier|dehumidifier|
        cellar dehumidifier|mist maker|
        diffuser|air washer|oil diffuser|nursery humidifier|basement dehumidifier"""),
    "siren": _names("""siren|alarm siren|outdoor siren|garden siren|fire siren|buzzer|chime|horn"""),
    "input_boolean": _names("""guest mode|vacation mode|holiday mode|night mode|sleep mode|party mode|
    quiet mode|
        do not disturb|away mode|test mode|movie mode|cleaning mode|nap mode|work from home|summer mode|
        winter mode|baby sleeping|dog mode|maintenance mode"""),
    "alarm_control_panel": _names("""alarm|burglar alarm|house alarm|security system|alarm system|home alarm|
        garage alarm|security panel"""),
    "weather": _names("""weather|home weather|forecast|weather station|backyard weather|
        harbour weather|cabin weather|
        beach weather|office weather|local forecast|mountain forecast|roof station weather|allotment weather|
        garden weather station"""),
}  # fmt: skip

# Things that are called what they are: a name where a home lists it, a kind where it does not.
CALLED_BY_KIND: dict[str, tuple[str, ...]] = {
    "humidifier": _names("humidifier|humidifier|dehumidifier|air humidifier|office humidifier"),
    "climate": _names("""thermostat|thermostat|heating|heater|air conditioning|ac|radiator|smart thermostat|
        main thermostat|underfloor heating|pool heater|heat"""),
    "alarm_control_panel": _names("alarm|alarm|house alarm|house alarm|burglar alarm|alarm system"),
    "siren": _names("siren|doorbell|doorbell siren|house siren"),
    "switch": _names("doorbell|switch|outlet|water heater|wall switch"),
    "fan": _names("fan|bath fan|roof fan"),
    "light": _names("light|facade lights|string lights|ceiling lights|stair lights|deck lamps"),
    "valve": _names("valve|water valve|garden valve"),
    "vacuum": _names("vacuum|vacuum cleaner|robot vacuum|hoover"),
    "lawn_mower": _names("mower|lawn mower|robot mower"),
    "cover": _names("""west shutters|east shutters|north shutters|south shutters|plantation shutters|
        storm shutters|street shutters|wooden blinds|west blinds|east blinds|velvet curtains|bay curtains|
        sheer curtains|south shades|front shutters|back shutters|roman shades|long curtains|left shutters|
        right shutters|courtyard gates|stable doors|roof windows|gate|garage door|awning|venetian blinds"""),
}  # fmt: skip
# What opens and closes and is no blind: a cover in one home, watched by a sensor in another.
ODD_COVERS: dict[str, str] = (
    dict.fromkeys(
        _names("barrier|bollard|bollards|boom|car park barrier|rising bollard|drawbridge|portcullis|turnstile"), "gate"
    )
    | dict.fromkeys(
        _names("""hatch|loft hatch|trapdoor|serving hatch|cat hatch|coop flap|bulkhead|cellar flap|tailgate|
        stable half door|wardrobe lift|pod bay"""),
        "door",
    )
    | dict.fromkeys(_names("bay|bay one|bay two|boat bay|loading bay|roller|car lift|hangar"), "garage")
    | dict.fromkeys(
        _names("sail|shade sail|canopy|marquee|parasol|sunbrella|gazebo roof|pool cover|pool roof|tarp"), "awning"
    )
    | dict.fromkeys(_names("porthole|transom|lantern roof|roof vent|cupola|fanlight|greenhouse vent"), "window")
)

# A thing that a binary sensor of a class watches, and a sensor of a class.
SENSED: dict[str, tuple[str, ...]] = {
    "battery": _names("""phone|tablet|laptop|remote|tv remote|doorbell|front door lock|smoke detector|
    motion sensor|
        hallway sensor|window sensor|watch|Anna's phone|Tom's phone|toothbrush|camera|garden camera|
        mouse|keyboard|
        headphones|car key|leak sensor|thermostat|scale|drone|e-bike|scooter|roomba|mower|button|dimmer"""),
    "battery_charging": _names("""phone|tablet|laptop|car|e-bike|scooter|watch|robot vacuum|mower|
    camera|headphones|
        Emma's phone|Leo's tablet|power bank|drone|work phone|toothbrush|tesla|golf cart"""),
    "carbon_monoxide": _names("""co detector|co alarm|carbon monoxide detector|garage co sensor|boiler sensor|
        kitchen co alarm|hallway detector"""),
    "cold": _names("""pipes|water pipe|fridge|freezer|greenhouse|wine fridge|garage pipe|attic pipe|
    milk|cold frame|
        hen house|outside tap|pond"""),
    "connectivity": _names("""router|modem|internet|printer|hub|zigbee hub|bridge|nas|camera|doorbell|
    wifi|server|
        tv|game console|access point|weather station|solar inverter|guest wifi|vpn|gateway|phone"""),
    "door": _names("""front door|back door|patio door|balcony door|cellar door|shed door|bathroom door|
    bedroom door|
        fridge door|freezer door|cabinet door|side door|barn door|office door|closet door|oven door|
        entrance door|
        attic door|main door|nursery door|cat door|sliding door"""),
    "garage_door": _names("""garage door|left garage door|right garage door|big garage door|small garage door|
        side garage door|carport door"""),
    "gas": _names("""gas detector|gas sensor|stove gas sensor|kitchen gas alarm|boiler gas sensor|
        gas alarm"""),
    "heat": _names("""oven|stove|boiler|server|fireplace|sauna|printer|pizza oven|grill|heat detector|
    car engine|
        kitchen heat alarm|amplifier|battery pack"""),
    "light": _names("""light sensor|dusk sensor|hallway light sensor|patio light sensor|mailbox light sensor|
        darkroom sensor|daylight sensor|window light sensor|twilight switch|photocell|greenhouse light sensor|
        fridge light sensor|dawn sensor|sun sensor|shed eye|projector sensor|porch photocell"""),
    "lock": _names("""front door|back door|patio door|safe|gate|cellar door|car|garage door lock|
    window lock|shed door|gun cabinet|loft hatch|garden gate|boot room door|bike locker|cash box|van|
        caravan door|side door|medicine drawer|pool gate"""),
    "moisture": _names("""basement floor|bathroom floor|kitchen sink|sink cabinet|washing machine|
    dishwasher|leak sensor|
        water sensor|laundry floor|boiler room floor|crawl space|plant pot|ficus|roof|cellar wall|sump|
        rain sensor|
        shower tray|pool deck|toilet leak sensor"""),
    "motion": _names("""hallway motion sensor|motion sensor|driveway camera|front door camera|
        porch sensor|stairs sensor|
        garden camera|doorbell|garage motion|backyard motion sensor|baby monitor|shed sensor|
        office motion detector"""),
    "moving": _names("""car|washing machine|elevator|lift|gate|swing|robot vacuum|garage door|boat|
    treadmill|bike|
        conveyor|ceiling fan|water wheel"""),
    "occupancy": _names("""sofa|couch|bed|desk|desk chair|driveway|parking spot|bathtub|dog bed|cat bed|
    armchair|
        guest bed|crib|meeting table|toilet seat|workbench|reading chair|massage chair|hammock|piano bench|
        garage bay|visitor space|gaming chair|recliner|hot tub|top bunk"""),
    "opening": _names("""mailbox|letterbox|fridge|freezer|safe|drawer|medicine cabinet|cat flap|
    dog flap|gate|cupboard|
        liquor cabinet|toy box|skylight|parcel box|piano lid|wine cabinet|garden door|terrace door|
        laundry chute|
        utility door|bread bin|loft window|boot|bin lid|pantry door|trash can|chicken coop|hatch|
        attic hatch|dishwasher|jewelry box"""),
    "plug": _names("""car|tablet|phone|laptop|iron|coffee machine|christmas tree|freezer|charger|e-bike|
    hair straightener|
        fan heater|tesla|caravan|lawn mower"""),
    "power": _names("""freezer|fridge|router|server|pump|aquarium|boiler|tv|well pump|ups|doorbell|
    sauna|pool pump"""),
    "presence": _names("""Anna's phone|Tom's phone|Mia's watch|Ben's car|the dog|the cat|mum's phone|
    Paul's keys|
        Lucy's bike|Sam's laptop|Henry's tag|Rosa's backpack|desk presence sensor|sofa presence sensor|
        presence sensor|presence detector|bed presence sensor|hall presence detector|presence radar|
        ceiling presence sensor|gardener|cleaner|dog walker|Max's scooter|Nina's tag"""),
    "problem": _names("""boiler|washing machine|heat pump|printer|pool pump|dishwasher|solar inverter|
    nas|router|fridge|
        sprinkler system|garage door|mower|vacuum|air conditioner|water softener|backup|doorbell|
        furnace|car"""),
    "running": _names("""washing machine|washer|dryer|dishwasher|heat pump|boiler|pool pump|fountain|
    backup|generator|
        compressor|sauna|oven|bread maker|3d printer|well pump|furnace|dehumidifier|server|air compressor"""),
    "safety": _names("""stove|fireplace|gas heater|ladder|trampoline|fuse box|oven|generator|
        treehouse|grill|stairs gate"""),
    "smoke": _names("""smoke detector|smoke alarm|hallway smoke detector|kitchen smoke alarm|
        bedroom smoke detector|
        attic smoke sensor|garage smoke detector|toaster|fireplace|stove"""),
    "sound": _names("""baby monitor|nursery monitor|sound sensor|doorbell|microphone|dog cam|
    noise sensor|garage mic|
        front door camera|stereo"""),
    "tamper": _names("""alarm panel|doorbell|front door lock|gas meter|power meter|mailbox|keypad|safe|camera|
        garden camera|motion sensor|fuse box|thermostat|window contact|meter cabinet|parcel box|hot tub panel|
        wallbox|intercom|smoke alarm|cash box|solar combiner"""),
    "update": _names("""router|phone|tv|hub|nas|doorbell|camera|laptop|thermostat|home assistant|
    washing machine|
        robot vacuum|printer|speaker|watch|bridge|game console|tablet"""),
    "vibration": _names("""washing machine|dryer|bed|window|safe|garage door|pump|letterbox|fuse box|
    water pipe|floor|
        front window|glass door|boiler|phone|fence"""),
    "window": _names("""bedroom window|kitchen window|bathroom window|left window|right window|
    roof window|skylight|
        front window|back window|office window|attic window|basement window|small window|bay window|
        toilet window|
        garage window|nursery window|dormer window|window over the sink|guest room window"""),
}  # fmt: skip
MEASURED: dict[str, tuple[str, ...]] = {
    "battery": SENSED["battery"],
    "power": _names("""washer|washing machine|dryer|fridge|tv|computer|heat pump|oven|dishwasher|server|
    car charger|
        solar panels|water heater|pool pump|kettle|whole office desk|3d printer|air conditioner"""),
    "energy": _names("""washer|dryer|fridge|heat pump|solar panels|car charger|dishwasher|
    pool pump|freezer|
        water heater|tv corner|grid|battery storage"""),
    "voltage": _names("""main panel|car battery|solar battery|phase 1|phase two|boat battery|ups|grid|
    battery bank|
        caravan battery|front door sensor"""),
    "temperature": _names("""fridge|freezer|wine fridge|hot tub|aquarium|oven|server|boiler|
    water tank|
        grill|car|compost|pond|beer keg|terrarium|chimney|bath water|attic sensor|solar collector"""),
    "humidity": _names("""terrarium|basement sensor|cigar box|crawl space|
    bathroom sensor|
        balcony sensor|plant shelf|egg incubator"""),
    "carbon_dioxide": _names("""air monitor|office sensor|bedroom sensor|air quality sensor|
        classroom sensor|netatmo"""),
    "carbon_monoxide": _names("""boiler sensor|garage sensor|co meter|stove sensor"""),
    "pm25": _names("""air purifier|air monitor|outdoor air sensor|kitchen air sensor|balcony sensor"""),
    "illuminance": _names("""patio sensor|hallway sensor|weather station|desk sensor|porch sensor|
        window sensor|garden sensor"""),
    "pressure": _names("""boiler|water line|weather station|barometer|heating circuit|pump|car tire|
    coffee machine|well"""),
    "moisture": _names("""ficus|tomatoes|lemon tree|monstera|lawn|raised bed|orchid|basil|rose bed|
    office plant|front lawn|bonsai"""),
    "gas": _names("""gas meter|boiler|stove|heating|house"""),
}  # fmt: skip
# Sensors whose names say what they measure: asked for by name alone.
READINGS = _names(
    """outdoor temperature|outside temperature|outdoor humidity|outside humidity|indoor humidity|
        pool temperature|
    water temperature|fridge temperature|freezer temperature|wind speed|rain today|rainfall|uv index|
    pollen count|
    solar production|solar power|energy today|energy cost|power consumption|electricity price|gas price|
    water consumption|water meter|gas meter|electricity meter|oil level|tank level|water level|salt level|
    soil moisture|air quality|noise level|download speed|upload speed|internet speed|ping|disk space|
    cpu temperature|
    printer ink|ink level|toner level|filter life|steps|heart rate|weight|sleep score|moon phase|
    washing time left|dishwasher time left|dryer status|washing machine status|car range|car mileage|
    fuel level|
    tire pressure|next bin day|bin collection|package count|people counter|boiler pressure|heating power|
    grid import|battery storage level|house battery|attic temperature|greenhouse humidity|compost temperature|
    barometer|dew point|feels like temperature|snow depth|tide|next train|commute time|traffic|
    inverter temperature"""
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Kind:
    """Things without a name of their own: what the words for them are, and the slots that they mean."""

    domain: str
    singular: tuple[str, ...]
    plural: tuple[str, ...]
    device_class: str | None = None

    @property
    def slots(self) -> dict[str, str]:
        return {"domain": self.domain} | ({"device_class": self.device_class} if self.device_class else {})


LIGHT = Kind("light", ("light",), ("lights", "lights", "lights", "lights", "lamps", "light bulbs"))
SWITCH = Kind("switch", ("switch",), ("switches",))
OUTLET = Kind("switch", ("outlet", "plug", "socket"), ("outlets", "plugs", "sockets", "power outlets"), "outlet")
FAN = Kind("fan", ("fan",), ("fans",))
LOCK = Kind("lock", ("door", "lock", "door"), ("locks", "doors", "door locks"))
VALVE = Kind("valve", ("valve", "water valve"), ("valves", "water valves"))
CLIMATE = Kind(
    "climate",
    ("thermostat", "heating", "heater", "air conditioning", "ac", "heat"),
    ("thermostats", "radiators", "heaters"),
)
PLAYER = Kind("media_player", ("media player",), ("media players", "speakers", "players"))
TELEVISION = Kind("media_player", ("tv",), ("tvs", "televisions"), "tv")
VACUUM = Kind(
    "vacuum", ("vacuum", "vacuum cleaner", "robot vacuum", "hoover"), ("vacuums", "vacuum cleaners", "robot vacuums")
)
MOWER = Kind("lawn_mower", ("mower", "lawn mower"), ("mowers", "lawn mowers"))
HUMIDIFIER = Kind("humidifier", ("humidifier",), ("humidifiers",))
SIREN = Kind("siren", ("siren",), ("sirens",))
ALARM = Kind(
    "alarm_control_panel", ("alarm", "burglar alarm", "alarm system", "house alarm", "security system"), ("alarms",)
)
COVER = Kind("cover", ("cover",), ("covers",))
COVERS = {
    "blind": Kind("cover", ("blind",), ("blinds", "blinds", "blinds", "roller blinds", "venetian blinds"), "blind"),
    "curtain": Kind("cover", ("curtain",), ("curtains", "curtains", "drapes"), "curtain"),
    "shutter": Kind("cover", ("shutter",), ("shutters", "shutters", "roller shutters"), "shutter"),
    "shade": Kind("cover", ("shade",), ("shades",), "shade"),
    "awning": Kind("cover", ("awning",), ("awnings",), "awning"),
    "gate": Kind("cover", ("gate",), ("gates",), "gate"),
    "garage": Kind("cover", ("garage door", "garage"), ("garage doors",), "garage"),
    "window": Kind("cover", ("window",), ("windows",), "window"),
    "door": Kind("cover", ("door",), ("doors",), "door"),
    "damper": Kind("cover", ("damper",), ("dampers",), "damper"),
}
