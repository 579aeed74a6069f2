"""Indirect wishes, and rare verbs: "the music is killing me", "guests come at eight, remind me", "ditch the lamp".

Only wishes that one call of the tools serves are here: there is no call for "warmer" without a number.
"""

from __future__ import annotations

from collections.abc import Callable

from training.home.commands import lists
from training.home.commands.media import player
from training.home.lexicon import vocabulary
from training.home.lexicon.devices import COVERS, LIGHT
from training.home.lexicon.values import hour, moment, say_temperature, temperature
from training.home.lexicon.vocabulary import GROCERIES, MESSAGES, OUTDOOR, QUERIES, errand, in_area, with_article
from training.home.speaker import Phrase, Request, Speaker, make_request
from training.home.templates import Grammar, home_call

# --- light and sound

_DARK = Grammar("""
3. I (can't|cannot|can barely|can hardly) see (a thing|anything|a bloody thing|my own hand|what I'm doing|\
where I'm going|the stairs) {p}
2. (it's|it is) (pitch black|pitch dark|black as night|like a cave|so gloomy|like a dungeon|way too dark to read) {p}
2. I (keep bumping|nearly walked|just walked) into (things|the table|the wall) {p}, it's so dark
2. (could|can) (I|we) (get|have) (some|a bit of|a little) light {p} [please]
2. I (need|could use|could do with|want) (some|a bit of|a little) light {p}
. I'm (reading|sewing|cooking|working) in the dark {p}
. no light {p}, I can't find (my keys|anything|the switch)
. any chance of some light {p}
. why is it so dark {p}
. it got dark {p}, light please
. we are in dark {p}, need light
. mummy it's dark {p}, I'm scared
""")


def dark(speaker: Speaker) -> Request:
    """ "I can't see a thing in the hall"."""
    speaker.slips = False
    if speaker.chance(0.4):
        calls = (home_call("turn_on", domain="light"),)
        return make_request(speaker, _DARK, calls, p=speaker.pick(("in here", "in here", "here", "", "in this room")))
    area = speaker.area()
    return make_request(speaker, _DARK, (home_call("turn_on", area=area, domain="light"),), p=in_area(area))


_LOUD = Grammar("""
3. (the music|this music|that music|the sound|this song) (is killing me|is killing my ears|is deafening|is \
blasting|gives me a headache|is hurting my ears|is shaking the walls|is waking the baby|is a bit much)
2. I can't (hear myself think|think|concentrate|talk on the phone) with (the music|that music|the sound) (this loud|\
so loud|like that)
2. (my ears hurt|my ears are ringing|my ears|ow my ears), the (music|sound|volume) is too much
2. (the neighbours|the people next door) (will complain|are complaining|are banging on the wall) about the \
(music|volume|sound)
. (do we need the music|does the music have to be|must the music be) that (loud|high)
. the (music|sound) doesn't need to be that loud
""")
_LOUD_NAMED = Grammar("""
3. {t} is (killing me|deafening|blasting|hurting my ears|way too loud|waking the baby|a bit loud|so loud)
2. I can't (hear myself think|concentrate|sleep) over {t}, it's so loud
. {t} is driving me up the wall, it's so loud
""")
_FAINT = Grammar("""
3. I (can barely|can hardly|barely|hardly) hear (the music|the film|what they're saying|the song|it|a word of it)
2. the (music|sound|film|volume) is (so faint|barely there|too soft|hardly audible|so low I can't follow it)
2. (what are they saying|what did he say), it's so (quiet|faint)
. my hearing isn't what it was, the (sound|volume) is too low
. (speak up|louder), I (can't|cannot) follow the film
""")
_FAINT_NAMED = Grammar("""
3. I (can barely|can hardly) hear {t}
2. {t} is (so faint|too soft|hardly audible|so quiet)
""")


def sound(speaker: Speaker) -> Request:
    """ "The music is killing me"."""
    speaker.slips = False
    is_loud = speaker.chance(0.65)
    step = "down" if is_loud else "up"
    if speaker.chance(0.35):
        target = player(speaker, apart=0.05)
        grammar = _LOUD_NAMED if is_loud else _FAINT_NAMED
        calls = (home_call("set_volume_relative", **target.slots, volume_step=step),)
        return make_request(speaker, grammar, calls, t=target.text)
    calls = (home_call("set_volume_relative", volume_step=step),)
    return make_request(speaker, _LOUD if is_loud else _FAINT, calls)


_MOOD = Grammar("""
3. (I'm in the mood for|I feel like|I fancy|I could listen to|I'd kill for|let's hear) {q}
2. it's (too quiet|so quiet|dead quiet|boring) in here, (put on|how about|play) {q}
2. (dinner|cooking|cleaning|dancing|studying) (time|mood), {q} please
. (nothing goes better with wine than|a bit of) {q} (please|would be lovely|wouldn't hurt)
. haven't heard {q} in ages, play it
. my (mum|granny|daughter) wants to hear {q}
""")


def mood(speaker: Speaker) -> Request:
    """ "I'm in the mood for some jazz"."""
    speaker.slips = False
    query = speaker.pick(QUERIES) if speaker.chance(0.6) else vocabulary.rare_title(speaker.rng)
    query = query.removeprefix("some ")
    calls = (home_call("media_search_and_play", search_query=query.removeprefix("the ").removeprefix("The ")),)
    return make_request(speaker, _MOOD, calls, q=query)


# --- lists, reminders, alarms, messages

_GONE = Grammar("""
3. (we're|we are|I'm) (completely |totally |nearly |)(out of|low on|down to the last bit of) {i} [again|I think]
2. (somebody|the kids|{w}|my husband|the dog) (finished|drank|ate|used up|had) the last (of the |){i}
2. (no|not a drop of|not a bit of) {i} left (again|in this house|in the fridge|for breakfast)
2. the {i} (is|has) (all gone|run out|gone off|finished|gone bad) [again]
2. I (just|) (used up|opened) the last of the {i}
2. (next time someone goes to the shop|when somebody goes shopping|next time at the shop), {i} please
. we (should|could|might) (really |)(get|buy) [some] more {i}
. there is no more {i} in kitchen
. mum says we need {i}
. oh no the {i} is empty
""")


def gone(speaker: Speaker) -> Request:
    """ "Somebody finished the last of the milk": it goes on the shopping list."""
    speaker.slips = False
    item = speaker.pick(GROCERIES)
    while item[0].isdigit() or item.split()[0] in ("two", "three", "six", "a", "an", "some", "half", "ten"):
        item = speaker.pick(GROCERIES)
    calls = (home_call("shopping_list_add_item", item=item),)
    return make_request(speaker, _GONE, calls, i=item, w=speaker.somebody(rare_share=0.2))


_EVENTS = (
    "guests are coming", "the guests arrive", "my sister is visiting", "the plumber is coming",
    "the bins get collected",
    "my train leaves", "the match starts", "the kids have football", "the parcel is coming", "the babysitter comes",
    "grandma's birthday is", "the rent is due", "my shift starts", "the vet appointment is", "dinner with {w} is",
    "{w} has a recital", "the meeting with {w} is", "choir practice is", "the film starts", "the bread has to come out",
    "the oven needs to be off", "I have a dentist appointment", "we're meeting {w}", "the electrician is coming",
    "the car has to go to the garage", "{w} needs picking up", "the bus goes", "the library books are due",
)  # fmt: skip
_EVENT = Grammar("""
4. {e} {at}(, | )(could|can|would|will) you remind me [please|of that|of it]
3. {e} {at}(, | )(remind me|don't let me forget|make sure I don't forget|please remind me|give me a nudge)
2. {e} {at} and I always forget, (remind me|so remind me|could you remind me)
2: remind me [that] {e} {at}
. I (think|believe) {e} {at}, better remind me
. {e} {at}, I need a reminder
""")
_FORGETFUL = Grammar("""
3. I (keep forgetting|always forget|will forget) to {k}, remind me {at}
2. I (have|need) to {k} {at}(, | )(don't let me forget|remind me|and I will forget so remind me|can you nudge me)
2. I (mustn't|can't|must not) forget to {k} {at}
2. (somebody|someone) (has to|should) tell me to {k} {at}
. if I don't {k} {at} {w} will be mad, remind me
. {at} I should {k}, help me remember
. {k} {at}, please help me remember
""")


def event(speaker: Speaker) -> Request:
    """ "Guests are coming at eight could you remind me"."""
    speaker.slips = False
    when = moment(speaker.rng, needs_hour=False)
    who = speaker.somebody(rare_share=0.3)
    if speaker.chance(0.55):
        matter = speaker.pick(_EVENTS).replace("{w}", who)
        task = matter.removesuffix(" is") if matter.endswith(" is") else matter
        calls = (home_call("set_reminder", task=task, time=when.text),)
        return make_request(speaker, _EVENT, calls, e=matter, at=when.placed)
    task = errand(speaker.rng)
    calls = (home_call("set_reminder", task=task, time=when.text),)
    return make_request(speaker, _FORGETFUL, calls, k=task, at=when.placed, w=who)


_UP = Grammar("""
3. I (have|need|got|'ve got) to be (up|awake|out of bed|out of the door) (by|at|before) {v}
2. (early start|early flight|I've got an exam|big meeting|long drive)(, | )(I need to be up|get me up|up|wake me) \
(at|by) {v}
2. I (can't|mustn't|must not) (oversleep|sleep in|be late), (up at|alarm at|get me up at|wake me at) {v}
2. don't let me (sleep past|sleep longer than until|stay in bed after) {v}
. if I'm not awake at {v} (I'll lose my job|I'll miss my train|{w} will kill me), (wake me|set an alarm)
. I want sleep until {v}, then wake me
. early school, wake me at {v} please
""")


def up(speaker: Speaker) -> Request:
    """ "Early flight tomorrow, I need to be up by four"."""
    speaker.slips = False
    time = hour(speaker.rng)
    if speaker.chance(0.35):
        time = f"{time} {speaker.pick(('tomorrow', 'tomorrow', 'on monday', 'on friday', 'on sunday'))}"
    made = make_request(speaker, _UP, (), v=time, w=speaker.somebody(rare_share=0.2)).text
    return Request(".", made.replace("I 've", "I've"), (home_call("set_alarm", time=time),))


_PASS_ON = Grammar("""
3. {m}, (let everyone know|let everybody know|tell everyone|tell the others|tell the kids|pass it on|\
tell the whole house)
2. {m}, (could you|can you|would you) (announce that|announce it|tell everyone|let the family know)
2. {m} and (nobody knows|nobody heard me|they can't hear me), (tell everyone|announce it)
. I've been shouting that {m}, (announce it|tell everyone)
""")


def pass_on(speaker: Speaker) -> Request:
    """ "Dinner is ready, let everyone know"."""
    speaker.slips = False
    while "," in (message := speaker.pick(MESSAGES)) or message.startswith(("please ", "come ", "turn ")):
        pass
    return make_request(speaker, _PASS_ON, (home_call("broadcast", message=message),), m=message)


# --- floors, lawns, things that are on

_DIRT = Grammar("""
3. (the dog|the cat|{w}|somebody|the kids) (brought mud|walked mud|tracked dirt|spilled flour|dropped crumbs|shed hair)\
 all over {r}
2. {r} (is full of|is covered in) (crumbs|dust|dog hair|cat hair|glitter|sand)
2. there (are crumbs|is dust|is cat hair|are cornflakes) everywhere {i}
2. {r} (could do with|could use|needs|wants) (a vacuum|vacuuming|a hoover|hoovering|a quick clean by the robot)
2. nobody has vacuumed {r} (in weeks|for days|this week)
. {r} looks like a pigsty, send the robot
. floor {i} very dirty, please vacuum
""")
_GRASS = Grammar("""
3. the (grass|lawn) (is getting long|is knee high|looks like a jungle|could do with a cut|needs cutting|needs a trim|\
is out of control|is too long|wants mowing) [again]
2. (time|high time) (somebody cut|to cut|to mow|for mowing) the (grass|lawn)
. I can't see the dog in the grass any more, time to mow
. the neighbours are talking about our lawn, mow it
""")


def dirt(speaker: Speaker) -> Request:
    """ "The dog walked mud all over the hall", where a robot can help."""
    speaker.slips = False
    known = speaker.known
    if speaker.chance(0.35) and (known.house is None or known.by_domain.get("lawn_mower")):
        return make_request(speaker, _GRASS, (home_call("lawn_mower_start_mowing"),))
    if known.house is not None and not known.by_domain.get("vacuum"):
        return dark(speaker)
    while OUTDOOR.search(area := speaker.area()) or area == "outside":
        pass
    calls = (home_call("vacuum_clean_area", area=area),)
    fill = {"r": with_article(area), "i": in_area(area), "w": speaker.somebody(rare_share=0.2)}
    return make_request(speaker, _DIRT, calls, **fill)


_NOT_NEEDED = Grammar("""
3. {t} can go off [now|then]
2. I (won't be needing|don't need|no longer need) {t} (any more|tonight|now|today)
2. (we're|I'm) (done|finished) with {t} [now|for today|for tonight]
2. {t} is still on, (sort it out|see to it|deal with that|do something about it|that's a waste) [please|will you]
2. {t} has been on (all day|all night|since breakfast), (enough now|that's enough|time to give it a rest)
. (don't leave|no point leaving|I don't want) {t} (on|running) [all night|for nothing]
. {t} not needed more
. give {t} a rest
""")
_WANTED = Grammar("""
3. I (could do with|could use|wouldn't mind|would love) {t} [on|right now|now]
2. {t} (would help|would do me good|would be a good idea) [right now|now]
2. any chance of {t} [on|going]
. I want {t} on now mummy
. I like to have {t} on please
""")


def needed(speaker: Speaker) -> Request:
    """ "I won't be needing the fan any more", "any chance of the heater"."""
    speaker.slips = False
    target = speaker.named(speaker.pick(("light", "light", "switch", "fan", "media_player")), apart=0.1)
    if speaker.chance(0.6):
        return make_request(speaker, _NOT_NEEDED, (home_call("turn_off", **target.slots),), t=target.text)
    return make_request(speaker, _WANTED, (home_call("turn_on", **target.slots),), t=target.text)


# --- rare verbs

_RARE_ON = Grammar("""
3! (flick|pop|throw|stick|bung|whack|chuck|crank|flip|knock|slap|punch|fire) {t} on
2! (fire up|crank up|spark up|flick on|pop on|throw on|bung on|light up|power up|get going|kick on|wake up) {t}
. {t} on (pronto|chop chop|sharpish|asap|stat)
""")
_RARE_OFF = Grammar("""
3! (kill|ditch|lose|axe|cut|douse|can|scrap|nix|snuff out|shut down|do away with|get rid of|bin|zap) {t}
3! (flick|pop|knock|shut|flip|click|whack|bang|slap) {t} off
2! (flick|pop|shut|click|knock) off {t}
. {t} (out|off) (pronto|chop chop|sharpish|asap)
""")
_RARE_LEVEL = Grammar("""
3! (bump|nudge|crank|knock|drop|bring|take|dial|ease|notch|shove|push|pull|slide|whack) {t} (up|down|back|) to {v}
2! (bump up|crank up|dial down|dial back|ease down|knock down|tone down) {t} to {v}
""")
_RARE_HEAT = Grammar("""
3! (bump|nudge|crank|knock|drop|dial|ease|notch|whack|shove) the (heating|heat|thermostat|temperature) \
(up|down|) to {v} {p}
. (heating|heat|thermostat) (up|down) to {v} {p} (pronto|would you|asap)
""")
_RARE_VOLUME = Grammar("""
3! (bump|nudge|crank|knock|drop|dial|ease|notch|pump|whack) the (volume|sound|music) (up|down|) to {v}
""")
_RARE_STEP = {
    "up": Grammar("""
! (crank|pump|bump|nudge|whack|jack|dial|notch) up the (tunes|music|volume|sound)
! (crank|pump|bump|nudge|whack|jack|dial|notch) the (tunes|music|volume) up [a bit|a notch|a touch]
"""),
    "down": Grammar("""
! (knock|nudge|bump|dial|ease|tone|notch) down the (tunes|music|volume|sound)
! (knock|nudge|bump|dial|ease|tone|notch) the (tunes|music|volume) down [a bit|a notch|a touch]
"""),
}
_RARE_OPEN = Grammar("""
3! (throw open|fling open|pop open|yank open|crack open|pull open|slide open) {t}
2! (pop|yank|fling|throw|crank) {t} open
""")
_RARE_CLOSE = Grammar("""
3! (slam|bang|pull|yank|push|swing|crank|drop) {t} shut
2! (shut up|close up|pull to|seal|button up) {t}
""")


def rare_verb(speaker: Speaker) -> Request:
    """ "Ditch the lamp", "bump the heating up to 22"."""
    way = speaker.rng.random()
    if way < 0.5:
        target = (
            speaker.named(speaker.pick(("light", "light", "light", "switch", "fan")), apart=0.08)
            if speaker.chance(0.6)
            else speaker.kind(LIGHT, nowhere=0.2)
        )
        word, grammar = speaker.pick((("on", _RARE_ON), ("off", _RARE_OFF), ("off", _RARE_OFF)))
        return make_request(speaker, grammar, (home_call(f"turn_{word}", **target.slots),), t=target.text)
    if way < 0.64:
        target = _lamp(speaker)
        words, value = speaker.numbers.share({"half": 50})
        return make_request(
            speaker, _RARE_LEVEL, (home_call("light_set", **target.slots, brightness=value),), t=target.text, v=words
        )
    if way < 0.76:
        degrees = temperature(speaker.rng)
        place = speaker.where(nowhere=0.6, floors=0.1)
        made = make_request(
            speaker, _RARE_HEAT, (), v=say_temperature(degrees, speaker.numbers, speaker.rng), p=place.text
        )
        nouns = [word for word in ("heating", "heat", "thermostat", "temperature") if f" {word} " in f" {made.text} "]
        named = {"name": nouns[0]} if nouns and speaker.is_listed(nouns[0]) else {}
        calls = (home_call("climate_set_temperature", **named, **place.slots, temperature=degrees),)
        return Request(made.form, made.text, calls)
    if way < 0.84:
        words, value = speaker.numbers.share({"half": 50, "max": 100})
        return make_request(speaker, _RARE_VOLUME, (home_call("set_volume", volume_level=value),), v=words)
    if way < 0.9:
        step = speaker.pick(("up", "down"))
        return make_request(speaker, _RARE_STEP[step], (home_call("set_volume_relative", volume_step=step),))
    target = (
        speaker.named("cover", apart=0.05)
        if speaker.chance(0.5)
        else speaker.kind(COVERS[speaker.pick(("curtain", "window", "blind", "shutter"))], nowhere=0.2)
    )
    tool, grammar = speaker.pick((("turn_on", _RARE_OPEN), ("turn_off", _RARE_CLOSE)))
    return make_request(speaker, grammar, (home_call(tool, **target.slots),), t=target.text)


def _lamp(speaker: Speaker) -> Phrase:
    lamp = speaker.named("light", apart=0.05) if speaker.chance(0.6) else speaker.kind(LIGHT, nowhere=0.1)
    return Phrase(lamp.text, {slot: value for slot, value in lamp.slots.items() if slot != "domain"})


_STUCK_ON = Grammar("""
3! (stick|pop|bung|chuck|throw|whack|scribble|jot|shove|slap) {i} on {l}
2! (jot|scribble|write|note) down {i} (on|for) {l}
. {i} (onto|on) {l} (pronto|quick|would you)
""")


def stuck_on_list(speaker: Speaker) -> Request:
    """ "Bung crisps on the shopping list"."""
    speaker.slips = False
    item = speaker.pick(GROCERIES)
    calls = (home_call("shopping_list_add_item", item=item),)
    return make_request(speaker, _STUCK_ON, calls, i=item, l=lists.shopping_words(speaker))


BUILDERS: tuple[tuple[float, Callable[[Speaker], Request]], ...] = (
    (2.4, dark),
    (2.4, sound),
    (1.2, mood),
    (2, gone),
    (3, event),
    (1.8, up),
    (1, pass_on),
    (1.4, dirt),
    (2.2, needed),
)
RARE_VERB_BUILDERS: tuple[tuple[float, Callable[[Speaker], Request]], ...] = ((6, rare_verb), (0.8, stuck_on_list))
