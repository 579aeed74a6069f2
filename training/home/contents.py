"""What fills lists, players and announcements: items, titles, messages, names of lists and timers."""

from __future__ import annotations


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
