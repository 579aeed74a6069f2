"""Next, previous, pause and resume, said with feeling, in a hurry or in passing.

Hearing a track again, the current or the last one, is going back; a track that the user is tired of is
skipped; a user who returns from a break resumes.
"""

from __future__ import annotations

from collections.abc import Callable

from training.home.commands.media import player, room
from training.home.speaker import Request, Speaker, make_request
from training.home.templates import Grammar, home_call, wordings

# {p} is a place or nothing. A bare "skip it" or "leave it" may take a request back, and is not here.
_NEXT = Grammar("""
3. (I'm|we're) (so|really|totally|completely|) (sick of|fed up with|tired of|done with|bored of|over) this \
    (song|track|tune|one)
2. I've (had enough of|had it with|heard enough of) this (song|track|tune|one)
2. (I've|we've) (heard|had) this (one|song|tune) (a hundred times|a million times|to death|way too often|\
    five times today|all week)
2. this (song|one|track|tune) (is driving me mad|gets on my nerves|is awful|is rubbish|is dreadful|bores me|\
    is killing the mood|is a snooze|drags on|goes on forever|gives me a headache|does nothing for me)
2. (ugh|oh no|please no|argh|god|yuck|nah), (not this one|not this song|anything but this|not that tune) \
    [again]
. who (picked|chose) this (song|one|track), (next|next one|move on|get rid of it)
2. (nope|nah|boring|enough|meh|pass|yawn), (next|next one|next song|the next one|move on|on to the next)
. (loved it|great one|that was lovely|good song|beautiful|not bad), (next|next one|now the next one|on to \
    the next|what's next)
2. (on to|onwards to|off to|over to|let's move to|let's go to) the (next|following) (one|song|track|tune) \
    {p}
2! (move|jump|hop|go|push|step) (on|along|ahead|forward) [one|a song|a track|one track|to the one after] {p}
! (get|take|bring) me (past|beyond) this (song|one|track)
! (get|bring|give|find) me (the next one|the one after this|the following track) {p}
2! (give|get|play|find|spare) (me|us) (another|a different) (song|tune|track|one) {p}
2! (ditch|drop|dump|lose|chuck|bin|scrap|get rid of) this (song|track|tune|one) {p}
! (fast forward|forward) to the (next|following) (song|track|one) {p}
! (spare|save) (me|us) this (song|one|tune)
. (a different|another|some other) (song|tune|track|one) (please|now|for heaven's sake|instead) {p}
. (one|a song|one track) (further|forward|ahead|on|along) {p}
. (forward|onward|move on|next up|next one up|following one|the one after|the one after this) {p}
. (what's|so what's|let's see what's|let's hear what's) (next|up next|coming next|after this) {p}
. what else (have you got|is in the queue|is there|is on the playlist), (next|next one|skip this)
. I (want|would rather hear|fancy|wouldn't mind) the (one after this|next one|one that comes next) {p}
. let's (skip|leave out|jump over|give a miss) this (one|song|track|tune) {p}
. (can't|I can't|nobody can) (listen to|bear|take|stand) this (one|song|tune) (any longer|a second longer|\
    any more)
? (can|could|shall|may) we (move on|move along|have something else|hear a different one|get to the next one|\
    leave this one out) {p}
? (don't you have|haven't you got|isn't there) (anything better|a better song|a nicer one|another one) {p}
? do we (have to|really have to|need to) (hear|listen to|suffer) this (one|song|tune) [again] {p}
""")
_BACK = Grammar("""
3. (what a|such a) (tune|song|banger|gem|beauty|track), (again|once more|one more time|play it again|from \
    the top|let's have that again)
2. (I love|I adore|I'm mad about|we all love) (this|that) (one|song|tune), (again|once more|one more time|\
    play it again|from the start|back to the start)
2. that (one|song|tune|track|last one) was (so good|lovely|great|brilliant|amazing|over too soon), (again|\
    once more|play it again|one more time|let me hear it once more)
2. (again|once more|one more time|encore|and again|same again|same one again) [please|!] {p}
2. (from the top|from the start|from the beginning|back to the start|right from the start) [please] {p}
2! (play|give me|give us|let me have|let's have) (that|that one|this one|this song|that song|this track) \
    (again|once more|one more time|anew|a second time|from the top|from the beginning|from the start) {p}
2! (start|begin|play) (this|this one|this song|the song|the track|this track) (over|from scratch|from the \
    top|from the beginning|all over again|from the start) {p}
2! (repeat|replay) (that|this|that one|this one|the last one|the song|that song|this track) {p}
2! (rewind|wind back|scroll back|spool back) [to the start|to the beginning|one|a song|a track] {p}
2! (take|bring|get) (me|us) back (one|a song|to the one before|to the last one|to what we had before) {p}
2! (hop|step|flip|pop|move|go|jump) back [one|a track|a song] [to the one before|to the one we just had] {p}
! (return|go back|flip back|switch back) to (the one before|the one before this|what was playing|what we \
    just heard|the song we just had|that last tune) {p}
. (I|we) (missed|talked over|slept through|didn't catch) (that one|the last one|that song|the last song|the \
    start), (again|once more|go back|play it again|back one)
. (wait|hang on|oh|hey|no no), (I liked that|that was my favourite|I knew that one|go back|back up|I wanted \
    that one), (go back|back one|play it again|once more)
. (hated|can't stand|didn't like) this one, (the one before was better|go back to the one before|back to \
    the one before)
. (the one before|the one before this|the one before that|the one we just had|the last one again) {p}
. (one|one song|one track|a song|a track) (back|earlier|before that|before) [please] {p}
. (the song|the track|the one) (before|before this|before this one|that just finished|that was on before) \
    {p}
. I (want|need|have|would love) to (hear|play) (that one|this one|that song|this song|the last one|the one \
    before) (again|once more|one more time|a second time) {p}
. I (could|want to|would like to) (listen to|hear) (that|this one|that one) (all over again|once more|\
    twice) {p}
. (bring|have|get) (that last one|the one before|the last song|that tune) back {p}
? (can|could|may) (we|I|you) (hear|have|play) (that one|this one|that song|the one before|that last bit) \
    (again|once more|one more time) {p}
? what was (that|that one|that song|the last one), (play it again|once more|go back to it|can I hear it \
    once more)
""")
_GO_ON = Grammar("""
3. (I'm back|we're back|back again|here I am|phone call's over|that's sorted|everyone's sitting down|got \
    the popcorn|done), (go on|carry on|continue|you can go on|play on|keep going|let it run|roll it|press \
    play)
2. (right|okay|alright|so|now|good), (where were we|where did we stop|let it roll|on with it|let's go on|\
    back to the film|carry on)
2. (carry on|go on|keep going|play on|press on|proceed|as you were|do go on|on you go|go ahead and play) {p}
2! (hit|press|push|tap) (play|the play button|play again) {p}
2! (pick|pick it|take it) up (where|from where) (we|I|you) (left off|stopped|paused|were) {p}
2! (continue|go on|carry on|resume|keep on) (where|from where) (we|I|you) (left off|stopped|paused|were) {p}
2! (let|have) (it|the music|the film|the song|the story) (run|roll|play) (on|again|further) {p}
! (unfreeze|release|un-freeze) (it|the film|the picture|the music|the video) {p}
! (get|set) (it|the film|the music|the playlist|the story) (going|rolling|moving|running) again {p}
2! (end|finish|lift|undo|cancel) the (pause|break) {p}
2. (end of the break|break's over|the break is over|pause over|intermission's over) {p}
2. (on with|back to|let's get on with|let's get back to|let's carry on with) the (film|movie|music|show|\
    story|podcast|song|audiobook|match) {p}
. (we|you) (can|may|could) (go on|carry on|keep going|continue|start it up again|let it roll) (now|again) \
    {p}
. (I|we) (want to|would like to|would love to) (go on|carry on|keep watching|keep listening|hear the rest|\
    see the rest|see how it ends) {p}
. the rest of (it|the film|the song|the podcast|the story) (please|now) {p}
. (off pause|no more pause|pause off|un-pause it) {p}
? (can|could|shall|may) (we|you|I) (go on|carry on|keep going|pick it up again|hear the rest|see the rest|\
    get back to it) [now] {p}
? (why did it stop|why has it gone quiet|why is it still paused), (go on|carry on|play on|keep playing)
""")
_PAUSE = Grammar("""
3. (hold it|hold that|stop there|stop right there|hold it there|halt|freeze|freeze it|time out|pause) {p}
2. (one sec|one second|hang on|hold on|wait a moment|just a moment|wait a sec|give me a second), (stop it|\
    hold it|pause|freeze it|stop it there|stop the film|hold the music) {p}
2. (someone's at the door|the phone's ringing|I need the loo|I have to take this call|mum's calling|the \
    kettle's boiling|somebody wants me|I smell burning|the baby's crying), (hold it|stop it there|hold the \
    film|pause|freeze it|hold the music|stop the show a moment)
2. (quick|short|little|tiny|toilet|snack|tea|ad) break, (hold it|stop it there|pause|hold the film|freeze \
    it) {p}
2. (let's take|I need|we need|time for) a (break|breather|quick break) from the (film|movie|music|show|\
    podcast|match) {p}
2! (hold|halt|interrupt|suspend|freeze|stop) (it|the film|the music|the show|the story|the podcast|the \
    song) (for a moment|for a second|a moment|briefly|for a bit|while I answer this|there|right there) {p}
! (put|stick|set) (it|the film|the music|the show|the song|this) on (pause|hold) [for a bit|for a moment] \
    {p}
! (hit|press|push|tap) (pause|the pause button) {p}
. (don't|do not) (go on|play on|keep playing|carry on) (without me|yet|for the moment|just now), (hold it|\
    pause|pause it)
. (no music|no playing|no film) for a (moment|second|minute), (pause|pause it|hold it) {p}
? (can|could|may|shall) (we|you) (stop|hold|halt|freeze|interrupt) (it|the film|the music|that|the show) \
    (for a moment|for a second|there|briefly|right there) {p}
""")
_ON_PLAYER = wordings("(on|on|on|over on) {t}")
_MADE: tuple[tuple[float, str, Grammar], ...] = (
    (3.2, "media_next", _NEXT),
    (3.4, "media_previous", _BACK),
    (2.6, "media_unpause", _GO_ON),
    (1.8, "media_pause", _PAUSE),
)
_WEIGHTS = [weight for weight, *_ in _MADE]

# One or two words, and what they mean to a player.
_SHORT: dict[str, tuple[str, ...]] = {
    "media_next": (
        "next", "forward", "skip", "onwards", "move on", "next up", "skip ahead", "next tune", "new song",
        "another one", "another song", "skip song", "skip track", "different song", "one further",
        "one forward",
        "following track", "next then", "next already", "do skip", "skip one", "track forward", "not this",
        "not this one",
    ),
    "media_previous": (
        "back", "again", "once more", "encore", "rewind", "replay", "repeat", "one back", "back one",
        "go back",
        "previous", "earlier one", "song before", "last song", "last one", "that again", "this again",
        "play again", "from the top", "track back", "repeat that", "replay that", "back a song",
        "one earlier",
        "same again", "start over", "skip back",
    ),
    "media_unpause": (
        "resume", "unpause", "go on", "carry on", "continue", "play", "play on", "keep going", "proceed",
        "press play", "hit play", "roll on", "keep playing", "on we go", "pause off", "playback on",
        "let's continue", "roll it", "resume playing", "keep rolling",
    ),
    "media_pause": (
        "pause", "hold", "freeze", "halt", "hold it", "pause it", "pause this", "stop playing", "hit pause",
        "press pause", "time out", "stop there", "freeze frame", "pause playback", "hold there",
        "pause a moment",
    ),
}  # fmt: skip
_TAILS = ("", "", "", "", "please", "please", "now", "quick", "thanks", "will you", "would you", "come on")


def with_feeling(speaker: Speaker) -> Request:
    """ "I've heard this one to death", "what a gem, once more", "I'm back, roll it"."""
    speaker.slips = False
    _, tool, grammar = speaker.rng.choices(_MADE, _WEIGHTS)[0]
    pattern = grammar.draw(speaker.rng)
    if "p" not in pattern.places:
        return Request(pattern.form, pattern.say(speaker.rng, {}), (home_call(tool),))
    if speaker.chance(0.25):
        target = player(speaker, apart=0.06)
        where, slots = _ON_PLAYER.say(speaker.rng, {"t": target.text}), target.slots
    else:
        place = room(speaker)
        where, slots = place.text, place.slots
    return Request(pattern.form, pattern.say(speaker.rng, {"p": where}), (home_call(tool, **slots),))


def short(speaker: Speaker) -> Request:
    """ "Onwards", "one back", "roll on": a word or two, a player or a room at most."""
    speaker.slips = False
    _, tool, _ = speaker.rng.choices(_MADE, _WEIGHTS)[0]
    words = speaker.pick(_SHORT[tool])
    way = speaker.rng.random()
    if way < 0.16:
        target = player(speaker, apart=0.0)
        text = f"{words} on {target.text}"
        return Request(".", text, (home_call(tool, **target.slots),))
    place = room(speaker) if way < 0.4 else None
    where, slots = (place.text, place.slots) if place else ("", {})
    tail = speaker.pick(_TAILS)
    return Request(".", f"{words} {where} {tail}".replace("  ", " ").strip(), (home_call(tool, **slots),))


# What is thought of a track decides nothing where the command says which way to go.
_OPINIONS = wordings(
    "(I (love|loved|like|liked|hate|hated|can't stand|adore|know) (this one|that one|this song|that song|"
    "it)|(great|awful|lovely|terrible|what a|funny) (song|tune|track)|that was (fun|lovely|dreadful|loud|"
    "quick)|not (my taste|my thing|bad at all)|this one's for {w}|my (mum|gran|sister) used to sing this "
    "one|{w} (hates|loves) this (band|one|song)|I never liked that band|this takes me back)"
)
_SAID_PLAINLY = Grammar("""
2. {o}(,|, so|, but|.) {x}
. {x}(,|.) {o}
. {x} because {o}
""")
_PLAINLY: dict[str, tuple[str, ...]] = {
    "media_next": (
        "next song please", "on to the next one", "skip to the next track", "go to the next one",
        "play the next one", "move along to the next song", "forward one", "play a different song",
    ),
    "media_previous": (
        "play that one again", "play the one before", "go back one", "back to the last song",
        "once more please",
        "the previous one please", "start it from the top", "let me hear the last one again",
        "one track back",
    ),
    "media_unpause": (
        "carry on playing", "keep the music going", "go on with the music", "unpause it", "resume please",
        "keep playing", "let it play on",
    ),
    "media_pause": (
        "pause it for now", "hold it for a second", "put it on pause", "pause the song",
        "stop playing a moment",
    ),
}  # fmt: skip


def with_opinion(speaker: Speaker) -> Request:
    """ "Lovely tune, but on to the next one"."""
    speaker.slips = False
    _, tool, _ = speaker.rng.choices(_MADE, _WEIGHTS)[0]
    opinion = _OPINIONS.say(speaker.rng, {"w": speaker.pick(("Anna", "Tom", "dad", "Mia", "everybody", "Leo"))})
    return make_request(speaker, _SAID_PLAINLY, (home_call(tool),), o=opinion, x=speaker.pick(_PLAINLY[tool]))


BUILDERS: tuple[tuple[float, Callable[[Speaker], Request]], ...] = ((3, with_feeling), (1.5, short), (1, with_opinion))
