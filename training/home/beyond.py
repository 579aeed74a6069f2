"""What no home can do, what lacks something, what asks for nothing: answered in words instead of a call."""

from __future__ import annotations

from training.home.clock import hour
from training.home.contents import CITIES
from training.home.patterns import Grammar
from training.home.places import PEOPLE, with_article
from training.home.speaker import Speaker

# Needs hands: no tool of any kind will ever serve it.
_BODILY = Grammar("""
! (make|cook|fry) me (a sandwich|some pancakes|an omelette|a bowl of soup|breakfast|dinner|scrambled eggs)
! (iron|fold|wash) my (shirts|clothes|trousers|jeans|socks)
! (walk|brush|wash|bathe) the (dog|cat)
! change the (baby's nappy|baby's diaper|bed sheets|light bulb|tyre)
! (carry|bring) the (shopping|groceries|boxes|suitcase) (inside|upstairs)
! (empty|load|unload) the (dishwasher|washing machine|bin)
! (tie|polish) my (shoes|laces)
! (give|bring) me a (hug|glass of water|cup of tea|massage|beer|blanket)
! (fix|repair|mend) the (sink|roof|fence|broken chair|toilet|bike)
! (paint|tile|plaster) the (wall|fence|bathroom|ceiling|shed)
! (peel|chop|slice) the (potatoes|onions|carrots)
! (pick up|collect) the kids from school
! (feed|burp) the baby
! (do|wash) the dishes
! make my bed
! (take out|bring out) the (trash|bins|rubbish)
! (scratch|rub) my back
! (hold|catch) this [for me]
! (dig|plant|weed) the (flower bed|vegetable garden|tomatoes)
! (hang|take down) the (laundry|picture|curtain rod)
! (wrap|carry|unpack) the presents
! (drive|take) me to (the airport|work|the station|{city})
! fly to the moon
! (teleport|beam) me to {city}
! (make|let) it (rain|snow) outside
! turn back time
! (clean|scrub) the (toilet|bathtub|oven) by hand
! (sew|knit) me a (sweater|scarf|button)
""")
# Needs another service: right to refuse where nothing else is offered.
_WORLDLY = Grammar("""
! (book|reserve) (a flight|a hotel|a train|a table) (to|in|for) {city}
! order [me] (a pizza|some sushi|a taxi|flowers|groceries online|a burger)
! (call|ring|phone) {who}
! (text|message|email) {who} that (I'm late|I love them|dinner is off|I'll be there at six)
! send (an email|a text|a message) to {who}
! (buy|sell) (some shares|a lottery ticket|bitcoin|concert tickets)
? who (won|is winning) the (match|game|election|race|world cup)
? (what's|what is) the (share price|stock price) of (Apple|Tesla|Google)
? (what's|what is) the traffic like [to {city}]
? when is the next (train|bus|flight) to {city}
? how do I (get|drive) to {city}
! (read|check) my (emails|messages|mail)
? do I have (any new emails|any messages|any meetings today|an appointment tomorrow)
! (schedule|book|plan) a meeting with {who} [tomorrow|on monday|next week]
! (take|shoot) a (photo|picture|selfie)
! (write|compose) (a poem|a song|an essay|a letter) about (love|the sea|winter|my cat)
! (find|search for) (a recipe|restaurants nearby|a good dentist|cheap flights)
? what should I cook (tonight|for dinner|for eight people)
! (pay|transfer) (the rent|my phone bill|50 dollars to {who})
! (post|share) this on (facebook|instagram|twitter)
! (download|install) (the app|a game|the update on my laptop)
? what are the lottery numbers
? (what's|what is) the exchange rate (of|for) the (dollar|euro|pound|yen)
! (hack|delete) (the neighbours wifi|the internet)
! tell me the (football|baseball|tennis) (results|scores)
""")
# A time of day, or again and again: timers know neither.
_SCHEDULED = Grammar("""
4! (turn on|switch on|turn off|switch off) the (lights|heating|coffee machine|tv|fan|{x}) at {h}
2! (open|close|lock|raise|lower) the (blinds|curtains|garage door|front door|shutters|windows) at {h}
! at {h} (turn on|switch off|open|close) the (lights|heating|blinds|curtains|{x})
! (play some music|start the vacuum|vacuum the kitchen|mow the lawn|pause the tv) at {h}
! (dim|set) the lights to (20|30|fifty) percent at {h}
! (turn on|switch off|open|close) the (lights|blinds|curtains) (every morning|every evening|every day at \
    8|at sunset|at sunrise|on weekends)
! (turn on|turn off) the (lights|heating) (tomorrow|tomorrow morning|tonight at nine|on monday)
! (lock the door|turn off the lights) (when I leave|when nobody is home|if it rains)
! (close the windows|close the awning) (when it rains|if it gets windy)
""")
_BARE_HOURS = frozenset(
    {"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
)
NO_SCHEDULE = (
    "I can't do things at a set time, sorry.", "Sorry, I can't plan that ahead, but I can set a timer.",
    "I can only do that now, or after a timer.",
    "I can remind you at that time, but I can't do it by myself.",
)  # fmt: skip
# What is not to be done is not done.
_DO_NOT = Grammar("""
3. (please don't|don't|do not|never) (turn on|turn off|switch on|switch off|touch|open|close) the {x}
. (leave|keep) the {x} (as it is|alone)
. you (don't have to|needn't|shouldn't) (turn on|turn off|touch) the {x}
""")
_LEFT_ALONE = ("All right, I won't.", "Okay, I'll leave it.", "All right, I'll leave it as it is.")
_REFUSALS = (
    "I can't do that, sorry.", "Sorry, I can't help with that.", "That's beyond me, I only run this home.",
    "I'm afraid I can't do that.", "I can't do that, I only look after this home.",
    "Sorry, I have no way to do that.",
    "I can only help with this home.", "That is something I can't do.",
    "I'm sorry, that's not something I can do.",
    "I have no tool for that, I'm afraid.",
)  # fmt: skip
_UNKNOWN = (
    "I don't know that, sorry.", "Sorry, I can't answer that.", "I don't know, I only run this home.",
    "I'm afraid I don't know that.", "I can't look that up, sorry.", "I have no way to find that out.",
    "That's beyond me, I only know this home.",
)  # fmt: skip

# What lacks something: sentence, question. The first that fits is asked.
_LACKING: tuple[tuple[Grammar, tuple[str, ...]], ...] = (
    (Grammar("""
        3! (set|change|adjust) the (temperature|thermostat|heating) {p}
        ! (set|change) the (temperature|heat)
        ! adjust the heating
        . a different temperature {p}
        """), ("To what temperature?", "What temperature would you like?", "How warm should it be?")),
    (Grammar("""
        3! (set|start|create|make) a [new] timer
        . I (need|want) a timer
        . timer please
        ? (can|could) I have a timer
        """), ("For how long?", "How long should the timer run?", "For how long should I set it?")),
    (Grammar("""
        3! (set|create|make) an alarm
        2! (wake me up|wake me|get me up)
        . I (need|want) an alarm
        . (set my alarm clock|alarm clock please)
        ? (can|could) you set an alarm
        """), ("For what time?", "When should it ring?", "For what time should I set it?")),
    (Grammar("""
        3! (set|create|make) a reminder
        2! remind me (of something|later|please)
        . I (need|want) a reminder
        ? (can|could) you remind me of something
        """), ("Of what should I remind you?", "What should I remind you of?")),
    (Grammar("""
        3! (dim|brighten) the lights {p}
        2! (set|change|adjust) the brightness {p}
        ! make the lights [a bit] (brighter|darker|dimmer) {p}
        ! turn (the lights|the light) (down|up) [a bit] {p}
        ! make it (brighter|dimmer) {p}
        """), ("To what percentage?", "How bright should it be?", "To how many percent?")),
    (Grammar("""
        3! (change|set) the (colour|color) of the (lights|light|lamp) {p}
        2! (change|set) the (light|lamp) (colour|color) {p}
        . another (colour|color) for the lights please
        """), ("Which colour would you like?", "To which colour?", "What colour should it be?")),
    (Grammar("""
        3! (set|change|adjust) the volume {p}
        ! change the loudness {p}
        """), ("To what volume?", "How loud should it be?", "To how many percent?")),
    (Grammar("""
        3! (set|change|adjust) the (fan speed|speed of the fan) {p}
        """), ("How fast should it run?", "To what speed?", "To how many percent?")),
    (Grammar("""
        3! (set|change|adjust) the position of the (blinds|curtains|shutters) {p}
        ! (adjust|move) the (blinds|curtains|shutters) {p}
        """), ("How far should they open?", "To what position?", "To how many percent?")),
    (Grammar("""
        3! play something {p}
        2! play (some music|music) {p}
        ! put on (some music|something nice) {p}
        . I want to (hear|listen to) (music|something|some music)
        """), ("What would you like to hear?", "What should I play?", "What shall I play?")),
    (Grammar("""
        3! (add|put) (something|an item) (to|on) (the|my) (shopping list|to do list|list)
        2! add to (the|my) (shopping list|to do list)
        . something for the shopping list
        """), ("What should I add?", "What shall I put on it?", "What would you like to add?")),
    (Grammar("""
        3! (remove|delete) something from (the|my) (shopping list|to do list|list)
        """), ("What should I remove?", "Which item should go?")),
    (Grammar("""
        2! (make an announcement|announce something|broadcast a message|broadcast something)
        . I want to tell everyone something
        """), ("What should I announce?", "What shall I say?", "What is the message?")),
    (Grammar("""
        2! (add|give me) [some] more time (on|to) (the|my) timer
        ! (extend|lengthen) (the|my) timer
        """), ("By how much?", "How much time should I add?")),
    (Grammar("""
        2! (increase|raise|turn up|lower|decrease|turn down) the (temperature|heating) by {n} degrees {p}
        ! make it {n} degrees (warmer|cooler|colder) {p}
        . {n} degrees (warmer|cooler|more|less) {p}
        """), ("To what temperature?", "What temperature would you like?",
        "To what temperature should I set it?")),
    (Grammar("""
        2! (increase|raise|reduce|lower|decrease) the brightness by {n}0 percent {p}
        ! make the lights {n}0 percent (brighter|darker|dimmer) {p}
        ! dim the lights by {n}0 percent {p}
        """), ("To what percentage?", "How bright should it be?", "To how many percent?")),
    (Grammar("""
        3! (turn|switch) on
        ! (turn|switch) (it|that|this thing|that thing) on
        """), ("What should I turn on?", "What would you like me to turn on?")),
    (Grammar("""
        3! (turn|switch) off
        ! (turn|switch) (it|that|this thing|that thing) off
        """), ("What should I turn off?", "What would you like me to turn off?")),
    (Grammar("""
        2! (open|open it|open that)
        """), ("What should I open?",)),
    (Grammar("""
        2! (close|close it|close that|shut it)
        """), ("What should I close?",)),
    (Grammar("""
        3. I'm (cold|freezing|chilly)
        ! make it (warmer|a bit warmer|less cold) {p}
        . it's (too|so|a bit) cold {p}
        ! turn (up the heating|the heating up|up the heat) {p}
        """), ("To what temperature should I set the heating?", "What temperature would you like?",
        "How warm should it be?")),
    (Grammar("""
        3. I'm (hot|too hot|sweating|boiling)
        ! make it (cooler|a bit cooler|colder|less warm) {p}
        . it's (too|so|a bit) (warm|hot) {p}
        ! turn (down the heating|the heating down|down the heat) {p}
        """), ("To what temperature should I set it?", "What temperature would you like?",
        "How warm should it be?")),
)  # fmt: skip

# Devices are mentioned, nothing is asked for.
_MENTIONED = Grammar("""
3. (my|the|our) {x} is (nice|great|lovely|broken|brand new|so bright|really good|ugly|too \
    expensive|beautiful|old)
2. I (love|like|hate|bought|really like|just bought|dropped|painted) (my|the|our) [new] {x}
. we (bought|have|got) a new {x} [yesterday|last week]
. (my|our) {x} (cost|was) (a lot|ten dollars|a present|quite cheap)
. (yesterday|last week) (the|my) {x} (stopped working|fell over|broke)
. I was (talking|telling my friend) about the {x}
. the {x} looks (good|nice|great) (there|in the corner|today)
. I read {in} this morning
. we had dinner {in} [yesterday|last night]
. (my|our) cat (sleeps|likes to sleep) {in}
. I'm (sitting|standing|working|reading) {in}
. {who} is painting {room}
. we (cleaned|painted|redecorated) {room} last week
. the {x} was {who}'s idea
. my friend has the same {x}
. I think the {x} is (pretty|cool|clever)
""")
_SMALL_ANSWERS = (
    "That's good to know.",
    "I see.",
    "Thanks for telling me.",
    "Good to know.",
    "I understand.",
    "All right.",
    "Nice to hear.",
)
_THINGS = (
    "kitchen light", "desk lamp", "ceiling fan", "robot vacuum", "tv", "thermostat", "garage door",
    "coffee machine",
    "radio", "bedside lamp", "front door lock", "mower", "speaker", "floor lamp", "heater", "doorbell",
    "curtain",
    "bathroom light", "washing machine", "lamp", "smart lock", "shopping list", "vacuum cleaner",
    "timer", "chandelier",
)  # fmt: skip


def refused(speaker: Speaker, *, other_tools: bool) -> tuple[str, str, str]:
    """A request that cannot be served, its form, and the answer."""
    if not other_tools and speaker.chance(0.35):
        pattern = _SCHEDULED.draw(speaker.rng)
        time = hour(speaker.rng)
        # "The fan at eight" is a speed.
        time = f"{time} o'clock" if time.isdigit() or time in _BARE_HOURS else time
        fill = {"h": time, "x": speaker.pick(_THINGS)}
        return pattern.say(speaker.rng, fill), pattern.form, speaker.pick(NO_SCHEDULE)
    grammar = _BODILY if other_tools or speaker.chance(0.35) else _WORLDLY
    pattern = grammar.draw(speaker.rng)
    who = speaker.pick((*PEOPLE, "mom", "my boss", "the doctor", "my brother", "grandma"))
    text = pattern.say(speaker.rng, {"city": speaker.pick(CITIES), "who": who})
    return text, pattern.form, refusal(speaker, is_question=pattern.form == "?")


def refusal(speaker: Speaker, *, is_question: bool, runs_home: bool = True) -> str:
    """An honest word; only who runs a home says so."""
    answers = _UNKNOWN if is_question else _REFUSALS
    return speaker.pick(answers if runs_home else [answer for answer in answers if "home" not in answer])


def lacking(speaker: Speaker) -> tuple[str, str, str]:
    """A request that lacks something, its form, and the question back."""
    grammar, questions = speaker.pick(_LACKING)
    pattern = grammar.draw(speaker.rng)
    place = speaker.where(nowhere=0.6)
    text = pattern.say(speaker.rng, {"p": place.text, "n": str(speaker.rng.randint(2, 5))})
    return text, pattern.form, questions[0] if speaker.chance(0.6) else speaker.pick(questions)


def mentioned(speaker: Speaker) -> tuple[str, str]:
    """A statement about devices and rooms, and a short answer."""
    area = speaker.area()
    things = [
        entity
        for name in ("light", "media_player", "fan", "switch")
        for entity in speaker.known.by_domain.get(name, ())
    ]
    thing = speaker.pick(things).name.lower() if things and speaker.chance(0.5) else speaker.pick(_THINGS)
    fill = {"x": thing, "in": speaker.in_area().text, "room": with_article(area), "who": speaker.pick(PEOPLE)}
    if speaker.chance(0.2):
        return _DO_NOT.draw(speaker.rng).say(speaker.rng, fill), speaker.pick(_LEFT_ALONE)
    return _MENTIONED.draw(speaker.rng).say(speaker.rng, fill), speaker.pick(_SMALL_ANSWERS)
