"""Media players: volume, pause, skip, search, mute."""

from __future__ import annotations

from collections.abc import Callable

from training.home.houses import spoken_name
from training.home.lexicon import vocabulary
from training.home.lexicon.devices import NAMES
from training.home.lexicon.vocabulary import CLASSES, MAKERS, QUERIES, ROOMS, in_area, with_article
from training.home.speaker import Phrase, Request, Slots, Speaker, make_request
from training.home.templates import Grammar, home_call

_VOLUME = Grammar(
    """
4! (set|change|adjust|put|turn) the volume on {t} to {v}
4! (set|change|adjust|put) the volume (of|on|for) {t} to {v}
3! (set|change|adjust) {t} volume to {v}
3! (set|put|turn) {t} to {v} volume
2! (set|put) {t} to volume {v}
2! turn {t} (up|down) to {v}
2! (turn|bring) {t} volume (up|down) to {v}
! (turn|bring) the volume (up|down) to {v} (on|for) {t}
! (raise|lower|increase|reduce) {t} volume to {v}
! make {t} volume {v}
! play {t} at {v} volume
. {t} volume [to|at] {v}
. {t} (to|at) volume {v}
. volume [to] {v} on {t}
. I (want|would like) {t} at volume {v}
. I'd like {t} volume at {v}
"""
)
_VOLUME_PLACE = Grammar("""
5! (set|change|adjust|put|turn) the volume to {v} {p}
3! (set|change|adjust) the volume {p} to {v}
2! (turn|bring) the (volume|music|sound) (up|down) to {v} {p}
2! (raise|lower|increase|reduce|decrease|drop) the volume to {v} {p}
! (raise|lower|increase|reduce) the volume {p} to {v}
! put the (music|sound) at {v} {p}
2. volume [to|at] {v} {p}
. volume {p} [to|at] {v}
. I want the volume at {v} {p}
. I'd like the volume at {v} {p}
? (can|could) (I|we) have the volume at {v} {p}
""")
_LOUDER = Grammar("""
4! turn {t} up
3! turn up {t}
2! make {t} [a bit|a little] louder
2! (raise|increase) the volume (of|on) {t}
2! turn the volume (of|on) {t} up
2! turn up the volume (of|on) {t}
! (raise|increase) {t} volume
2! turn {t} up a (bit|little|notch|touch|tad|smidge)
! (turn|put|nudge|bring|take) {t} up (one notch|a step|one step|a couple of notches|just a touch)
. {t} up a (notch|touch|tad|little)
! give {t} more volume
. {t} [a bit] louder
. {t} volume up
. {t} (is|are) too quiet
. I can't hear {t}
. more volume on {t}
""")
_QUIETER = Grammar("""
4! turn {t} down
3! turn down {t}
2! make {t} [a bit|a little] (quieter|softer)
2! (lower|reduce|decrease) the volume (of|on) {t}
2! turn the volume (of|on) {t} down
2! turn down the volume (of|on) {t}
! (lower|reduce|decrease) {t} volume
2! turn {t} down a (bit|little|notch|touch|tad|smidge)
! (turn|put|nudge|bring|take) {t} down (one notch|a step|one step|a couple of notches|just a touch)
. {t} down a (notch|touch|tad|little)
. {t} [a bit] (quieter|softer)
. {t} volume down
. {t} (is|are) too loud
. less (volume|noise) (on|from) {t}
""")
_LOUDER_PLACE = Grammar("""
4! turn (up the volume|the volume up) {p}
2! turn (up the music|the music up|the sound up|up the sound) {p}
3! (raise|increase|pump up|boost) the volume {p}
2! make it [a bit|a little|much] louder {p}
! turn it up {p}
2! turn it up a (bit|little|notch|touch|tad|smidge) {p}
2! (turn|put|bring|nudge) the (volume|music|sound) up (a notch|one notch|a touch|a tad|a step|a bit) {p}
. (volume|sound|music) up a (notch|touch|bit|tad) {p}
. a notch louder {p}
! (crank|pump) it up {p}
! make the (music|sound) louder {p}
2. volume up {p}
2. louder {p}
. [a bit|a little] louder {p} please
. more volume {p}
. it's too quiet {p}
. the music is too quiet {p}
. I can't hear (anything|it|the music) {p}
? (can|could) (it|the music) be [a bit] louder {p}
""")
_QUIETER_PLACE = Grammar("""
4! turn (down the volume|the volume down) {p}
2! turn (down the music|the music down|the sound down|down the sound) {p}
3! (lower|reduce|decrease|drop) the volume {p}
2! make it [a bit|a little|much] (quieter|softer) {p}
! turn it down {p}
2! turn it down a (bit|little|notch|touch|tad|smidge) {p}
2! (turn|put|bring|nudge) the (volume|music|sound) down (a notch|one notch|a touch|a tad|a step|a bit) {p}
. (volume|sound|music) down a (notch|touch|bit|tad) {p}
. a notch quieter {p}
! make the (music|sound) (quieter|softer) {p}
2. volume down {p}
2. (quieter|softer) {p}
. [a bit|a little] (quieter|softer) {p} please
. less volume {p}
. it's too loud {p}
. the music is too loud {p}
. not so loud {p}
? (can|could) (it|the music) be [a bit] quieter {p}
""")
_UP_BY = Grammar("""
4! turn (up the volume|the volume up) {p} by {v}
3! turn (up the volume|the volume up) by {v} {p}
3! (raise|increase|boost) the volume {p} by {v}
3! (raise|increase|boost) the volume by {v} {p}
! turn the volume up {v} {p}
! turn it up [by] {v} {p}
! make it {v} louder {p}
! add {v} to the volume {p}
. volume up [by] {v} {p}
. {v} louder {p}
""")
_DOWN_BY = Grammar("""
4! turn (down the volume|the volume down) {p} by {v}
3! turn (down the volume|the volume down) by {v} {p}
3! (lower|reduce|decrease|drop) the volume {p} by {v}
3! (lower|reduce|decrease|drop) the volume by {v} {p}
! turn the volume down {v} {p}
! turn it down [by] {v} {p}
! make it {v} quieter {p}
! take {v} off the volume {p}
. volume down [by] {v} {p}
. {v} quieter {p}
""")
_UP_BY_NAMED = Grammar("""
3! turn {t} up by {v}
3! turn up {t} by {v}
2! (raise|increase) {t} volume by {v}
2! (raise|increase) the volume (of|on) {t} by {v}
! make {t} {v} louder
! turn the volume (of|on) {t} up [by] {v}
. {t} volume up [by] {v}
. {t} {v} louder
""")
_DOWN_BY_NAMED = Grammar("""
3! turn {t} down by {v}
3! turn down {t} by {v}
2! (lower|reduce|decrease) {t} volume by {v}
2! (lower|reduce|decrease) the volume (of|on) {t} by {v}
! make {t} {v} quieter
! turn the volume (of|on) {t} down [by] {v}
. {t} volume down [by] {v}
. {t} {v} quieter
""")
_WHAT = "(music|song|playback|player|sound)"
_PAUSE_NAMED = Grammar(
    """
5! pause {t}
! (halt|hold|freeze) {t}
! (pause|stop) (playback|the music|playing) on {t}
! put {t} on (pause|hold)
2. {t} pause
. pause on {t}
"""
)
_PAUSE = Grammar("""
4! pause {p}
5! pause (the music|the song|playback|the movie|the film|the show|the video|the podcast|it|this|the \
    player|the track|the tune|what's playing) {p}
2! stop (the music|playback|playing|the song|the movie|the video) {p}
! (hold|halt|freeze) (the music|the movie|playback|the film|the show) {p}
! (stop|pause) the media {p}
! put (the music|the movie|it) on (pause|hold) {p}
. music pause {p}
. hold on, pause it {p}
! take a break from the music {p}
""")
_GO_ON_NAMED = Grammar(
    """
4! (unpause|resume) {t}
2! (continue|restart) {t}
2! (resume|continue|unpause) (playback|the music|playing) on {t}
! let {t} (go on|continue|play on)
! (keep|go on|carry on) playing on {t}
. {t} (resume|continue|play)
"""
)
_GO_ON = Grammar(
    """
3! (unpause|resume) {p}
5! (unpause|resume|continue) (the music|the song|playback|the movie|the film|the show|the video|the \
    podcast|playing|the player) {p}
2! (carry on|go on|continue) (playing|with the music|with the song|with the movie|with the film|with the \
    show) {p}
! keep (playing|the music going) {p}
! (start|resume) (the music|the song|the movie) again {p}
! continue {p}
! let the music (go on|play on|continue) {p}
! play on {p}
. music on again {p}
. keep going with the music {p}
? (can|could) you go on with the (music|film|movie|podcast) {p}
"""
)
_NEXT = Grammar(
    """
3! skip {p}
2. next {p}
5! (skip|go|jump|move) to the next (song|track|one|title|tune|item|episode) {p}
3! (play|put on|start) the next (song|track|one|title|tune|episode) {p}
3! skip (this|the) (song|track|one|tune) {p}
2! skip (it|this|ahead|forward) {p}
2. next (song|track|one|title|tune) {p}
. I don't like this (song|track|one|tune), (skip it|next|next one) {p}
. I (hate|don't like|can't stand) this (song|track|tune)
. next please {p}
? (can|could) we (skip this one|have the next song|hear the next one) {p}
. not this (song|one) [again], skip {p}
! change the (song|track) {p}
"""
)
_NEXT_NAMED = Grammar("""
3! (skip|go|jump) to the next (song|track|one) on {t}
3! (play|start) the next (song|track|episode|one) on {t}
2! skip (the|this) (song|track) on {t}
2. next (song|track|one) on {t}
. {t} next [song|track]
! skip on {t}
""")
_BACK = Grammar(
    """
5! (go|skip|jump|move) back to the (previous|last) (song|track|one|title) {p}
4! play the (previous|last) (song|track|one|title|tune) [again] {p}
2! (go|skip|jump) to the previous (song|track|one|title|episode) {p}
2! (go|skip) back [one|one song|a song|one track|a track] {p}
2. previous (song|track|one|title|tune) {p}
2. (previous|last) (song|track) please {p}
. previous {p}
! play that (last|previous) (song|one) again {p}
! put the (last|previous) (song|track) back on {p}
. back to the (last|previous) (song|track|one) {p}
. I (liked|want) the previous (song|one), go back {p}
? (can|could) we hear (that last song|the last one|the previous song) again {p}
"""
)
_BACK_NAMED = Grammar("""
3! (go|skip|jump) back to the (previous|last) (song|track|one) on {t}
3! play the (previous|last) (song|track|one) [again] on {t}
2! (go|skip) to the previous (song|track) on {t}
2. previous (song|track|one) on {t}
. {t} previous [song|track]
! (go|skip) back on {t}
""")
_MUTE_NAMED = Grammar(
    """
6! mute {t}
2! silence {t}
2! (turn|switch|cut) off the sound (of|on) {t}
2! (turn|switch) the sound (of|on) {t} off
! shut {t} up
! put {t} on mute
! make {t} (mute|silent)
2. {t} mute
. no sound (on|from) {t}
. I don't want to hear {t}
"""
)
_MUTE = Grammar(
    """
4! mute {p}
4! mute (the music|the sound|the volume|it|this|the audio|the speakers|playback) {p}
2! (turn|switch|cut) off the (sound|audio) {p}
2! (turn|switch) the (sound|audio) off {p}
! silence (the music|it|the sound|the speakers) {p}
. sound off {p}
. mute please {p}
. no sound {p}
"""
)
_UNMUTE_NAMED = Grammar("""
6! unmute {t}
2! (turn|switch) the sound (of|on) {t} [back] on
2! (turn|switch) on the sound (of|on) {t}
2! turn off mute on {t}
! take {t} off mute
! give {t} its sound back
2. {t} unmute
. sound back on for {t}
. un-mute {t}
""")
_UNMUTE = Grammar("""
4! unmute {p}
4! unmute (the music|the sound|the volume|it|this|the audio|the speakers|playback) {p}
3! (turn|switch|put) the (sound|audio) [back] on {p}
2! (turn|switch) [back] on the (sound|audio) {p}
2! (turn off|stop|end|remove) (mute|the mute|muting) {p}
2. sound [back] on {p}
. un-mute {p}
. I want to hear it again {p}
! bring back the sound {p}
! bring the sound back {p}
""")
_PLAY = Grammar(
    """
8: play {q}
2: (put on|start) {q}
2: start playing {q}
. I (want|would like) to (hear|listen to) {q}
. I'd like to (hear|listen to) {q}
. let's (hear|listen to) {q}
? (can|could) you play {q}
? (can|could) (we|I) (hear|listen to) {q}
. I (want to hear|feel like listening to|am in the mood for) {q}
: find and play {q}
: (search for|look up) {q} and play it
: let me hear {q}
"""
)
_PLAY_AT = Grammar(
    """
8! play {q} {o}
2! (put on|start) {q} {o}
2! start playing {q} {o}
: {o} play {q}
. I (want|would like) to (hear|listen to) {q} {o}
. I'd like to (hear|listen to) {q} {o}
. let's (hear|listen to) {q} {o}
? (can|could) you play {q} {o}
! find and play {q} {o}
. {q} {o} please
"""
)
_WATCH = Grammar("""
: (play|put on|start) {q}
. I (want|would like) to (watch|see) {q}
. I'd like to (watch|see) {q}
. let's watch {q}
? (can|could) (we|I) watch {q}
: show me {q}
""")
_WATCH_AT = Grammar("""
3! (play|put on|start|show) {q} {o}
. I (want|would like) to (watch|see) {q} {o}
. I'd like to watch {q} {o}
. let's watch {q} {o}
? (can|could) we watch {q} {o}
""")


_ROOM_SET = frozenset(ROOMS)
_PLAYER_WORDS = frozenset({"speaker", "speakers", "tv", "radio", "stereo", "soundbar", "player", "media player"})


def player(speaker: Speaker, apart: float = 0.14) -> Phrase:
    """A player by its name. "Kitchen speaker" is a room and a kind where the home has no thing so called."""
    target = _no_floor(speaker.named("media_player", apart=apart))
    if target.entity is not None or speaker.known.house is None:
        return target
    name = str(target.slots["name"])
    room, _, kind = name.rpartition(" ")
    if kind not in _PLAYER_WORDS or speaker.is_listed(name):
        return target
    if "area" not in target.slots and (room in speaker.known.areas or room in _ROOM_SET):
        return Phrase(target.text, {"area": room}, target.is_plural)
    if name in ("speaker", "player", "media player") and "area" in target.slots:
        return Phrase(target.text, {"area": target.slots["area"]}, target.is_plural)
    return target


def _player_or_place(speaker: Speaker, named: Grammar, placed: Grammar, tool: str, **slots: object) -> Request:
    if speaker.chance(0.42):
        target = player(speaker, apart=0.12)
        return make_request(speaker, named, (home_call(tool, **target.slots, **slots),), t=target.text)
    place = room(speaker)
    return make_request(speaker, placed, (home_call(tool, **place.slots, **slots),), p=place.text)


def room(speaker: Speaker) -> Phrase:
    place = speaker.where(nowhere=0.58, floors=0.0)
    return place if place.slots else Phrase(speaker.pick(("", "", "", "", "in here")), {})


def _no_floor(target: Phrase) -> Phrase:
    """Players are told apart by area only."""
    if "floor" not in target.slots:
        return target
    slots = {slot: value for slot, value in target.slots.items() if slot != "floor"}
    text = (
        target.text.rpartition(" on the ")[0] or target.text.rpartition(" in the ")[0] or target.text.rpartition(" ")[0]
    )
    return Phrase(text, slots, target.is_plural, target.entity)


def volume(speaker: Speaker) -> Request:
    value = speaker.numbers.percent() if speaker.chance(0.95) else 0
    text = speaker.numbers.say_percent(value)
    if speaker.chance(0.05):
        text, value = speaker.pick(
            (("maximum", 100), ("half", 50), ("the maximum", 100), ("max", 100), ("a quarter", 25))
        )
    elif speaker.chance(0.05):
        text, value = speaker.numbers.fraction()
    text = speaker.slip(speaker.numbers.say((value + 15) % 100 or 5), text)
    if speaker.chance(0.42):
        target = player(speaker)
        calls = (home_call("set_volume", **target.slots, volume_level=value),)
        return make_request(speaker, _VOLUME, calls, t=target.text, v=text)
    place = room(speaker)
    return make_request(
        speaker, _VOLUME_PLACE, (home_call("set_volume", **place.slots, volume_level=value),), p=place.text, v=text
    )


def volume_step(speaker: Speaker) -> Request:
    up = speaker.chance(0.5)
    if speaker.chance(0.55):
        step = "up" if up else "down"
        named, placed = (_LOUDER, _LOUDER_PLACE) if up else (_QUIETER, _QUIETER_PLACE)
        return _player_or_place(speaker, named, placed, "set_volume_relative", volume_step=step)
    value = (
        speaker.pick((5, 5, 10, 10, 10, 15, 20, 20, 25, 30, 40, 50))
        if speaker.chance(0.85)
        else speaker.rng.randint(1, 60)
    )
    text = speaker.numbers.say_percent(value)
    signed = value if up else -value
    if speaker.chance(0.4):
        target = player(speaker)
        calls = (home_call("set_volume_relative", **target.slots, volume_step=signed),)
        return make_request(speaker, _UP_BY_NAMED if up else _DOWN_BY_NAMED, calls, t=target.text, v=text)
    place = room(speaker)
    calls = (home_call("set_volume_relative", **place.slots, volume_step=signed),)
    return make_request(speaker, _UP_BY if up else _DOWN_BY, calls, p=place.text, v=text)


def pause(speaker: Speaker) -> Request:
    return _player_or_place(speaker, _PAUSE_NAMED, _PAUSE, "media_pause")


def go_on(speaker: Speaker) -> Request:
    return _player_or_place(speaker, _GO_ON_NAMED, _GO_ON, "media_unpause")


def next_track(speaker: Speaker) -> Request:
    made = _player_or_place(speaker, _NEXT_NAMED, _NEXT, "media_next")
    return _without_unsaid_place(made, "media_next")


def previous_track(speaker: Speaker) -> Request:
    return _player_or_place(speaker, _BACK_NAMED, _BACK, "media_previous")


def _without_unsaid_place(made: Request, tool: str) -> Request:
    area = made.calls[0].arguments.get("area")
    return made if area is None or str(area) in made.text else Request(made.form, made.text, (home_call(tool),))


def mute(speaker: Speaker) -> Request:
    return _player_or_place(speaker, _MUTE_NAMED, _MUTE, "media_player_mute")


def unmute(speaker: Speaker) -> Request:
    return _player_or_place(speaker, _UNMUTE_NAMED, _UNMUTE, "media_player_unmute")


# {m} is the music with its article, {n} without: off for good, so neither paused nor muted.
_MUSIC_OFF = Grammar("""
6! (turn|switch|shut) off {m} {p}
6! (turn|switch|shut|knock) {m} off {p}
2! (kill|shut down|power off|cut) {m} {p}
2! (get|have) {m} (turned|switched|shut) off {p}
3. {n} off {p}
. {n} off {p} (please|now|for tonight|for good)
2. I (want|need|would like) {m} (off|turned off|switched off) {p}
2. I'd like {m} (off|turned off) {p}
. {m} (can|should|must) (go|be) off {p}
. (no more|that's enough|enough) {n} {p} (for today|for tonight), turn it off
. (we're|I'm) (done|finished) with {m} {p}, (turn|switch|shut) it off
. (I'm off to bed|we're heading out|dinner's ready|the party's over), (turn|switch) {m} off {p}
. off with {m} {p}
. nobody's listening {p}, (turn|switch) off {m}
? (can|could) (we|I) have {m} off {p}
? (can|could) {m} be (turned|switched|shut) off {p}
""")
_TUNES = ("music", "music", "music", "music", "background music", "dinner music", "party music")


def music_off(speaker: Speaker) -> Request:
    """ "Switch the music off in the den": the players there."""
    noun = speaker.pick([tune for tune in _TUNES if not speaker.is_listed(tune)])
    music = f"{speaker.pick(('the', 'the', 'the', 'the', 'that', 'this', 'my'))} {noun}"
    place = room(speaker)
    if speaker.chance(0.12) and not speaker.is_listed(f"{(area := speaker.area())} {noun}"):
        # "The kitchen music".
        music, noun, place = f"{with_article(area)} {noun}", f"{area} {noun}", Phrase("", {"area": area})
    elif speaker.chance(0.1):
        music = speaker.pick(("whatever's playing", "what's playing", "everything that's playing"))
    calls = (home_call("turn_off", **place.slots, domain="media_player"),)
    return make_request(speaker, _MUSIC_OFF, calls, m=music, n=noun, p=place.text)


_SEEN = frozenset({"movie", "tv_show", "episode"})


def _without_article(query: str) -> str:
    return query.removeprefix("the ").removeprefix("The ")


_RARE_SHARE = 0.25


def _query(speaker: Speaker) -> str:
    if not speaker.chance(_RARE_SHARE):
        return speaker.pick(QUERIES)
    return vocabulary.rare_artist(speaker.rng) if speaker.chance(0.6) else vocabulary.rare_title(speaker.rng)


def _maker(speaker: Speaker) -> str:
    return vocabulary.rare_artist(speaker.rng) if speaker.chance(_RARE_SHARE) else speaker.pick(MAKERS)


def search(speaker: Speaker) -> Request:
    slots: Slots = {}
    if speaker.chance(0.42):
        media_class = speaker.pick(tuple(CLASSES))
        words, titles = CLASSES[media_class]
        word, title = speaker.pick(words), speaker.pick(titles)
        if media_class not in ("genre", "channel", "playlist") and speaker.chance(_RARE_SHARE):
            title = (
                vocabulary.rare_artist(speaker.rng) if media_class == "artist" else vocabulary.rare_title(speaker.rng)
            )
        elif media_class == "playlist" and speaker.chance(_RARE_SHARE):
            title = vocabulary.rare_word(speaker.rng)
        query = title
        if media_class in ("album", "track") and speaker.chance(0.4):
            query = f"{title} by {_maker(speaker)}"
        slots = {"search_query": _without_article(query), "media_class": media_class}
        if (
            media_class in ("playlist", "genre", "channel", "podcast", "album")
            and speaker.chance(0.5)
            and " by " not in query
        ):
            said_query = f"{speaker.pick(('the', 'my', 'the', 'our'))} {query} {word}"
        else:
            said_query = f"the {word} {query}" if speaker.chance(0.85) else f"{word} {query}"
        seen = media_class in _SEEN
    else:
        query = _query(speaker)
        if query[0].isupper() and " " in query and speaker.chance(0.08):
            query = f"{query} by {_maker(speaker)}"
        some = query.removeprefix("some ")
        slots = {"search_query": _without_article(some)}
        lower = query[0].islower() and not query.startswith("the ")
        said_query = f"some {some}" if lower and speaker.chance(0.4) else some
        seen = False
    if speaker.chance(0.45):
        return make_request(
            speaker, _WATCH if seen else _PLAY, (home_call("media_search_and_play", **slots),), q=said_query
        )
    if speaker.chance(0.6):
        target = player(speaker, apart=0.12)
        where = f"{speaker.pick(('on', 'on', 'on', 'on', 'using', 'through'))} {target.text}"
        slots |= target.slots
    else:
        place = speaker.in_area()
        where = place.text
        slots |= place.slots
    return make_request(
        speaker, _WATCH_AT if seen else _PLAY_AT, (home_call("media_search_and_play", **slots),), q=said_query, o=where
    )


# {a} is a room or a thing of a home, {r} and {s} are words that nobody expects there.
_TITLES = (
    "{a} {r}", "{a} {r}", "the {a} {r}", "the {a} {r}", "the {a} {r}", "the {a}", "the {a}", "{a}",
    "the last {a}", "the {r} {a}", "{r} {a}", "{a} of {r}", "the {a} of {r}", "my {a}", "one {r} {a}",
    "secrets of the {a}", "beyond the {a}", "notes from the {a}", "return to the {a}", "the {a} and the {r}",
    "no {a} for {r}", "goodbye {a}", "{r} and {a}", "the {r} behind the {a}", "songs from the {a}", "{a} {n}",
    "the {r} from the {a}", "{r} versus the {a}", "every {a} has a {r}", "our {a}", "an empty {a}",
)  # fmt: skip
# What begins with an article and has nothing to do with a home.
_OTHER_TITLES = (
    "the {r}", "the {r} {s}", "the {r} of {s}", "a new {r}", "a {r} for {s}", "the last {r}", "the {r}s",
    "a {r} called {s}", "the {r} who lost the {s}", "my {r}", "the house of {r}", "the {r} club",
)  # fmt: skip
_SAID_CLASSES = ("album", "track", "track", "track", "artist", "playlist", "movie", "movie", "podcast",
                 "tv_show", "tv_show", "episode")  # fmt: skip
_LITTLE = frozenset({"of", "the", "and", "for", "from", "has", "a", "an", "who", "behind", "versus", "called"})


def _homely_title(speaker: Speaker, *, alone: bool) -> tuple[str, str]:
    """A title with a room or a thing of the home in it, and that word; `alone`: it may be the whole title."""
    place = speaker.area()
    if "'" in place:
        place = speaker.pick(ROOMS)
    if speaker.chance(0.3):
        things = [thing for domain in ("light", "switch", "cover", "fan") for thing in
                  speaker.known.by_domain.get(domain, ())]  # fmt: skip
        place = spoken_name(speaker.pick(things).name) if things else speaker.pick(NAMES["switch"])
    titles = _TITLES if speaker.chance(0.72) else _OTHER_TITLES
    title = speaker.pick(titles)
    while not alone and title.removeprefix("the ") in ("{a}", "my {a}", "our {a}"):
        title = speaker.pick(titles)
    title = title.replace("{a}", place).replace("{n}", str(speaker.rng.randint(2, 1999)))
    title = title.replace("{r}", vocabulary.rare_word(speaker.rng)).replace("{s}", vocabulary.rare_word(speaker.rng))
    if speaker.chance(0.6):
        title = " ".join(
            word if at and word in _LITTLE else word[:1].upper() + word[1:] for at, word in enumerate(title.split())
        )
    return title, place


def titled(speaker: Speaker) -> Request:
    """ "Play the pantry ghosts": a room in a title is no place; one that is said beside it is."""
    speaker.slips = False
    classed = speaker.chance(0.55)
    title, place = _homely_title(speaker, alone=classed)
    slots: Slots = {"search_query": _without_article(title)}
    shown, seen = title, False
    if classed:
        media_class = speaker.pick(_SAID_CLASSES)
        slots["media_class"] = media_class
        seen = media_class in _SEEN
        word = speaker.pick(CLASSES[media_class][0])
        shown = f"{speaker.pick(('the', 'the', 'the', 'the', ''))} {word} {title}".strip()
        if media_class in ("track", "album") and speaker.chance(0.25):
            maker = _maker(speaker)
            shown = f"{shown} by {maker}"
            slots["search_query"] = f"{slots['search_query']} by {maker}"
    if speaker.chance(0.55):
        grammar = _WATCH if seen else _PLAY
        return make_request(speaker, grammar, (home_call("media_search_and_play", **slots),), q=shown)
    if speaker.chance(0.45):
        target = player(speaker, apart=0.1)
        where, found = f"on {target.text}", target.slots
    else:
        area = speaker.area()
        where, found = in_area(area), {"area": area}
    # Nobody could tell which of the two places is meant.
    if any(str(value).casefold() in title.casefold() for value in found.values()) or place in where:
        grammar = _WATCH if seen else _PLAY
        return make_request(speaker, grammar, (home_call("media_search_and_play", **slots),), q=shown)
    grammar = _WATCH_AT if seen else _PLAY_AT
    return make_request(speaker, grammar, (home_call("media_search_and_play", **slots, **found),), q=shown, o=where)


_KINDS = ("media player", "media player", "speaker", "speaker", "speakers", "speakers", "player",
          "music player", "tv", "television", "radio", "stereo", "sound system", "media players")  # fmt: skip
# Without a list of things, nobody can tell whether "kitchen speaker" is a name.
_NO_NAMES = ("media player", "media player", "speakers", "speakers", "media players")
_BY_KIND: tuple[tuple[float, Grammar, str, Slots], ...] = (
    (2, _PAUSE_NAMED, "media_pause", {}),
    (1.6, _GO_ON_NAMED, "media_unpause", {}),
    (1.6, _NEXT_NAMED, "media_next", {}),
    (1.2, _BACK_NAMED, "media_previous", {}),
    (2, _MUTE_NAMED, "media_player_mute", {}),
    (1.4, _UNMUTE_NAMED, "media_player_unmute", {}),
    (1, _LOUDER, "set_volume_relative", {"volume_step": "up"}),
    (1, _QUIETER, "set_volume_relative", {"volume_step": "down"}),
)
_BY_KIND_WEIGHTS = [weight for weight, *_ in _BY_KIND]


def _kind_in_area(speaker: Speaker) -> Phrase:
    """A player by what it is and where: the place alone, unless a thing is called so."""
    kinds = _NO_NAMES if speaker.known.house is None else _KINDS
    area, kind = speaker.area(), speaker.pick(kinds)
    for _ in range(9):
        # A thing that is called by its kind, or one that differs in its plural alone, is meant by its name.
        other = kind.removesuffix("s") if kind.endswith("s") else f"{kind}s"
        if not any(speaker.is_listed(name) for name in (kind, other, f"{area} {other}")):
            break
        area, kind = speaker.area(), speaker.pick(kinds)
    name = f"{area} {kind}"
    if speaker.chance(0.3):
        the = speaker.pick(("the", "the", "the", "my", "our"))
        return Phrase(f"{the} {kind} {in_area(area)}", {"area": area}, kind.endswith("s"))
    text = speaker.pick((with_article(name), with_article(name), with_article(name), name))
    slots = {"name": name} if speaker.is_listed(name) else {"area": area}
    return Phrase(text, slots, kind.endswith("s"))


def by_kind(speaker: Speaker) -> Request:
    """ "Pause the living room media player", "mute the speakers in the den"."""
    speaker.slips = False
    target = _kind_in_area(speaker)
    if speaker.chance(0.14):
        value = speaker.numbers.percent()
        text = speaker.numbers.say_percent(value)
        calls = (home_call("set_volume", **target.slots, volume_level=value),)
        return make_request(speaker, _VOLUME, calls, t=target.text, v=text)
    if speaker.chance(0.14):
        query = _query(speaker).removeprefix("some ")
        calls = (home_call("media_search_and_play", **target.slots, search_query=_without_article(query)),)
        return make_request(speaker, _PLAY_AT, calls, q=query, o=f"on {target.text}")
    _, grammar, tool, slots = speaker.rng.choices(_BY_KIND, _BY_KIND_WEIGHTS)[0]
    return make_request(speaker, grammar, (home_call(tool, **target.slots, **slots),), t=target.text)


BUILDERS: tuple[tuple[float, Callable[[Speaker], Request]], ...] = (
    (4, volume),
    (5, volume_step),
    (2.6, pause),
    (2.6, go_on),
    (2.4, next_track),
    (2.4, previous_track),
    (2.4, mute),
    (2.6, unmute),
    (0.8, music_off),
    (4.5, search),
    (2.6, titled),
    (2.8, by_kind),
)
