"""Recognises questions about the world at large, which no tool here can answer and a small model would invent.

The form of a question is not enough: "how tall is Mount Everest" and "how tall is the hedge" differ in what the home
has. So a question with a word of the home, of its people or of the assistant's own duties is left to the model.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from edgevox.core.words import STOP_WORDS, normalized_words, word_set
from edgevox.tools.builtin.knowledge.places import find_place
from edgevox.tools.builtin.knowledge.question import first_match, pattern, plain_question
from edgevox.tools.builtin.knowledge.units import CURRENCY, NO_RATES

I_DO_NOT_KNOW = "I do not know that. I run your home, and I can do sums, units, times and dates."

_OF = (
    r"capital(?: city)?|population|currency|president|prime minister|chancellor|king|queen|governor|mayor|height|depth|"
    r"length|distance|diameter|circumference|elevation|altitude|mass|boiling point|melting point|freezing point|"
    r"atomic (?:number|weight|mass)|chemical (?:symbol|formula)|formula|national \w+|official language|"
    r"definition|origin|opposite|synonym|antonym|author|inventor|founder|ceo|stock price|share price|price|"
    r"exchange rate|nickname|birthplace|net worth|square mileage|area code|zip code|speed"
)
_MOST = (
    r"(?:tallest|highest|longest|largest|biggest|smallest|deepest|fastest|oldest|youngest|richest|closest|nearest|"
    r"hottest|coldest|heaviest|strongest|shortest|most \w+)"
)
_DONE = (
    r"wrote|invented|discovered|painted|composed|directed|built|founded|won|killed|created|designed|married|"
    r"starred in|played in|sang|sings|wins|holds|owns|runs|rules|assassinated|shot"
)
# Without "hot", "cold", "fast" and the like: those ask for sensors, whose names may be misheard.
_FORMS = (
    r"how (?:tall|deep|wide|big|large|old|far|populated|rich|far away|far above sea level) "
    r"(?:is|was|are|were|can|does|do) (?P<subject>.+)",
    r"how (?:tall|deep|wide|big|large|old|far|far away|heavy) (?P<subject>.+) (?:is|was|are|were)",
    r"how long (?:do|does|can) (?P<subject>.+) live",
    r"how long is (?P<subject>.*\b(?:river|wall|canal|bridge|coast|tunnel|nile|amazon)\b.*)",
    r"how high is (?P<subject>.*\b(?:mount|mountain|peak|tower|hill|everest)\b.*)",
    rf"who (?:{_DONE}) (?P<subject>.+)",
    r"who(?:'s| is| was| are| were) (?!at |in |on |out\b|away\b|up\b|around\b|ahead\b|next\b|left\b|"
    r"\w+ing\b)(?P<subject>.+)",
    rf"what(?:'s| is| are| was| were)? (?:the )?(?:current )?(?:{_OF}) (?:of|for|between|from|in) (?P<subject>.+)",
    rf"(?:what|who|which|where)(?:'s| is| are| was| were)? (?:the )?(?:\w+ )?(?P<subject>{_MOST} .+ (?:in|on|of|to) "
    rf".+)",
    r"when (?:was|were|did) (?P<subject>.+?) (?:born|die|died|built|invented|founded|discovered|released|written|"
    r"published|signed|painted|happen|created|established|assassinated|killed)(?: .+)?",
    r"how many (?P<subject>people live .+)",
    r"how many (?P<subject>(?:planets|countries|states|continents|inhabitants|bones|moons|species|oceans|"
    r"calories|sides|rivers|"
    r"provinces|islands|teeth|legs) (?:are there|live|does|do|in|are|has|have) .+)",
    r"where (?:is|was|are|were) (?P<subject>.+?) (?:located|born|from|situated|buried|built|invented)",
    r"where(?:'s| is| are) (?P<subject>the .+)",
    r"where(?:'s| is| are) (?P<place>.+)",
    r"(?:what|which) (?P<subject>(?:country|continent|planet|language|year|river|mountain|president|state|city|animal|"
    r"ocean|religion|century) (?:is|was|did|do|does|has|are|were|won|invented) .+)",
    r"(?:define|describe|explain(?!.*\b(?:again|further|more|last)\b)) (?:the word )?(?P<subject>.+?)"
    r"(?: (?:to|for) (?:me|us))?",
    r"(?:look up )?(?:what(?:'s| is| are) )?(?:the )?(?:definitions?|meaning|description|origin) (?:of|for|to) "
    r"(?:the word )?(?P<subject>.+)",
    r"(?P<subject>\w{4,}) definition",
    r"what (?:does|do) (?:the word )?(?P<subject>.+?) (?:mean|stand for|look like)",
    r"what (?P<subject>an? .+?) (?:is|means|looks like)",
    r"about (?!the )(?P<subject>.+)",
    r"(?:what|how)(?:'s| is| are) (?P<subject>.+?) made(?: up)?(?: of| from)?",
    r"(?:what|which) (?:colou?r|size|shape|height|width|depth|length|weight|age|population) (?:is|are|was) "
    r"(?P<subject>.+)",
    r"what(?:'s| is) (?P<subject>an? \w+)",
    r"(?:the )?(?:stock|share) price (?:of|for) (?P<subject>.+)",
)
# Never known, whatever their words mean at home.
_WORLD_FORMS = (
    r"(?:what(?:'s| is)|whats|how (?:fast|high|great|big) is) the speed of (?:light|sound)(?: .+)?",
    r"(?!.*\b(?:energy|electricity|power|gas|water|heating|solar)\b)how much (?:money )?(?:did|have|do|does|has) "
    r"(?:i|we|he|she|they|you|\w+) (?:spen[dt]|paid|pay|earn(?:ed)?|owed?|donated?)\b.*",
)
# The subject is the home, its people, this moment or the assistant: the model and its tools answer that.
_OURS = word_set(
    """
    i me my mine we us our ours you your yours he him his she her they them their it its this that these those
    here there     myself yourself themselves something anything everything nothing
    somebody someone anybody anyone everybody everyone nobody who
    home house flat apartment room rooms kitchen bathroom bedroom garage garden hall hallway attic cellar basement
    office porch patio balcony lounge living dining nursery upstairs downstairs floor area door doors doorbell window
    windows gate lock locks blind blinds curtain curtains shade shades shutter shutters cover covers
    light lights lamp lamps bulb bulbs switch switches plug plugs outlet fan fans heating heater thermostat radiator
    temperature humidity weather forecast rain raining snow snowing wind windy outside inside degrees sensor sensors
    battery batteries camera cameras motion alarm alarms timer timers reminder reminders list lists shopping todo task
    tasks music song songs artist album track playlist radio station tv television speaker speakers volume playing
    player vacuum robot mower lawn oven fridge freezer washer dryer dishwasher washing machine kettle scene scenes
    script scripts automation automations routine device devices assistant edgevox command commands
    calendar meeting meetings appointment event events birthday schedule today tonight tomorrow yesterday now
    singer band joke jokes story poem life name time date day week month morning afternoon evening night
    energy power electricity water gas solar car charger pool sprinkler valve siren person people's
    sentence headlines news email emails message messages call calls phone
    """
)


def unknown_answer(text: str, home_words: Collection[str] = ()) -> str:
    """The answer to a question for a fact of the world; "" for any other sentence.

    `home_words` are the words of the home's names.
    """
    question = plain_question(text)
    if _asks_rate(question):
        return NO_RATES
    if first_match(_WORLD_FORMS, question) is not None:
        return I_DO_NOT_KNOW
    for form in _FORMS:
        if (found := first_match((form,), question)) is None:
            continue
        if "place" in found and find_place(found["place"]) is None:
            continue  # "where is Anna"
        return "" if _names_home(found.get("subject") or found["place"], home_words) else I_DO_NOT_KNOW
    return ""


def _asks_rate(question: str) -> bool:
    """Whether it asks for an exchange rate: by name, or how much one currency is in another."""
    if pattern(r".*\b(?:exchange|currency|conversion|forex) rates?\b.*").fullmatch(question):
        return True
    currencies = {found[0].strip() for found in pattern(rf"\b{CURRENCY}(?= |$)").finditer(question)}
    return len(currencies) > 1 and pattern(r"(?:how|what|whats|convert|exchange)\b.*").fullmatch(question) is not None


def _names_home(subject: str, home_words: Collection[str]) -> bool:
    words = re.findall(r"[^\W_]+", subject.replace("'s", ""))
    return any(word in _OURS for word in words) or any(word in home_words for word in normalized_words(subject))


def home_words_of(names: Collection[str]) -> frozenset[str]:
    """The words in the home's names that mean something by themselves."""
    return frozenset(word for name in names for word in normalized_words(name) if word not in STOP_WORDS)


def question_words(text: str) -> frozenset[str]:
    """The words that a passage must have to answer the question."""
    asked = word_set(
        "tall high deep wide big large old heavy fast is was are were did capital who wrote born mean define long far"
    )
    return frozenset(normalized_words(plain_question(text))) - STOP_WORDS - asked
