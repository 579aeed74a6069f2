"""Keeps the home as it is where a sentence forbids an act, or speaks of one without asking for it.

"Never shut the pump off" is answered at once, and so is half a sentence ("lower the volume by"). A report ("the lights
went off by themselves"), a supposition or a question about abilities goes to the model, whose calls that act are
refused. A sentence that also asks for something ("dim it, but don't turn it off") is left to the other hooks and the
model.
"""

from __future__ import annotations

from typing import ClassVar

from edgevox.core.hooks import Answer, Deny, Hook, Run, ToolOutcome
from edgevox.core.types import ToolCall
from edgevox.home.grammar import ACTIONS, POLITE, pattern
from edgevox.home.intents.catalogue import known_tools

LEFT = "All right, I'll leave it as it is."
HALF = "I only got half of that. Please say it again."
ASKS = "I left everything as it is; please tell me if I should change something."

_MAX_CHARS = 200
# "Don't leave the lights on" asks to turn them off.
_VERB = (
    rf"(?!leave|keep|make (?:a |any |so |such )*(?:sound|noise))"
    rf"(?:{ACTIONS}|arm|disarm|play|add|touch|change|pull|sound|wake(?! (?:me|us))|press|trigger|"
    r"adjust|move|draw|roll)"
)
_PARTICIPLE = (
    r"(?:turned|switched|shut|closed|opened|locked|unlocked|dimmed|brightened|set|put|started|stopped|paused|muted|"
    r"lowered|raised|activated|deactivated|enabled|disabled|powered|armed|disarmed|played|touched|changed|moved|cut)"
)
_GERUND = (
    r"(?:turning|switching|shutting|closing|opening|locking|unlocking|dimming|starting|lowering|raising|arming|"
    r"disarming|playing|touching|changing)"
)
_NOT = r"(?:n'?t| not| never)"
_FORBIDS = pattern(
    r"\b(?:(?:don'?t|do not|never|under no circumstances|in no case|by no means|on no account)"
    r"(?: (?:you dare|you|ever|even|please|go and))*"
    r"|(?:nobody|no ?one)(?: (?:should|may|must|is to|has to|can|ever|dares?(?: to)?))*"
    rf"|(?:you|we|they|it) (?:must|should|may|shall|need|ought){_NOT}(?: ever| to)*"
    r"|(?:there(?:'s| is) )?no need to|(?:don'?t|do not) (?:have|need) to|no need for you to"
    r"|(?:don'?t|do not|didn'?t|did not) (?:want|ask|tell) (?:you|anyone|anybody|it|them) to"
    r"|(?:told|asked|forbid|better|try|careful|prefer|please|want|said)(?: (?:you|them|it))? not to|forbid you to"
    r"|(?:rather|better|if) you didn'?t)"
    rf" {_VERB}s?\b"
    r"|\b(?:stop|quit) (?:turning|switching)\b"
    rf"|\b(?:(?:don'?t|do not) bother|avoid|refrain from|no(?: more)?) {_GERUND}\b"
    rf"|\b(?:(?:is|are|was) (?:not|never) to|(?:must|should|may|shall|can){_NOT}) (?:ever )?be {_PARTICIPLE}\b"
)
# "Hands off the thermostat", "turn nothing off", "no, not the radio", "nobody asked you to turn it off"
_NOTHING = pattern(
    r"^(?:(?:oh|no|hey|please|and|so|wait|just)[, ]+)*(?:"
    r"(?:keep your |get your )?(?:hands|paws|fingers) off\b.*"
    rf"|{_VERB} (?:on |off |up |down )?(?:nothing|no (?!more|longer)\w+|none)\b.*"
    rf"|(?:nothing|none of (?:it|them|the [\w' ]+)) (?:(?:is|are) to|should|must|may|shall|gets?|needs? to|has to)"
    rf"(?: be)? (?:{_PARTICIPLE}|{_VERB})\b.*"
    rf"|i (?:don'?t|do not) want (?:anything|any of (?:it|them)|(?:the|my|our|any) [\w' ]+?) {_PARTICIPLE}\b[\w ]*"
    r"|(?:don'?t|do not|stop|quit) (?:mess|fiddle|interfere|messing|fiddling|meddle|meddling)(?: around)? with\b.*"
    rf"|(?:nobody|no ?one|i never) (?:asked|told) you to {_VERB}\b.*"
    rf"|(?:you(?:'re| are)|it(?:'s| is)) not (?:supposed |allowed |meant )?to {_VERB}\b.*"
    r"|not (?:the|my|our) [\w' ]+"
    r"|(?:the|my|our) [\w' ]+?[,.]? no[,.]? not (?:the|my|our|that)\b[\w' ]*"
    r")$"
)
_NO_NEED = pattern(r"^(?:please |no |okay |ok )*(?:there(?:'s| is) )?no need for (?:the|my|our|any|more)\b")
_STATE = (
    r"(?:on|off|up|down|open|closed|shut|locked|unlocked|running|playing|burning|lit|dark|alone|"
    r"as (?:it is|they are|is|it was|they were)|(?:where|how|the way|exactly as|just as) (?:it|they) (?:is|are|"
    r"was|were)|"
    r"the same|unchanged|untouched)"
)
_LEAVE = pattern(
    r"(?:^|[,;] |\b(?:please|and|just|no|okay|ok|so|then) )(?:leave|hold|keep(?= .+ (?:where|as|how|the way|the "
    r"same|unchanged|untouched|alone)\b)) (?:it|them|that|those|(?:the|my|our) "
    rf"(?:(?!\b(?:but|then|for|until|till|while|if|when|and (?:then|{ACTIONS}))\b)[\w' -])+?) "
    rf"{_STATE}(?=$|[,.!])"
)
_NOT_WANTED = pattern(
    rf"^(?:no,? |please |but )*i (?:don'?t|do not) want (?:it|them|that|those|(?:the|my|our|any|all) [\w' -]+?)"
    rf"(?: to be| being| turned| switched)? {_STATE}$"
)
# Words of a request beside what is forbidden.
_REQUEST = pattern(
    rf"\b(?:(?!leave|keep){ACTIONS}|play|arm|disarm|add|on|off|up|down|out|instead|rather|percent|degrees|half "
    rf"?way)\b"
    r"|[\d%]"
)
_OTHER_SENSE = pattern(
    r"\b(?:why|if|when|unless|once|whenever|remind|reminders?|tell|say|announce|timers?|alarm clock|wake (?:me|us)|"
    r"except|but|other than|apart from|besides)\b"
)
_AND_THEN = pattern(
    rf"(?:[,;.!?]|\b(?:and|then|just|only|so|or)\b) *(?:(?:please|just|only|then|rather|you can|can you) )*"
    rf"(?:(?!leave|keep){ACTIONS}|play|arm|disarm|add)\b|\b(?:instead|rather)\b"
)
# "Any more" may cancel what is scheduled.
_EXCEPTS = pattern(
    r"\b(?:any ?more|after all|except|but|other than|apart from|besides|until|till|unless|anything else|"
    r"everything else|the (?:rest|others?))\b"
)
_ALARM = pattern(r"\balarms?\b")

# --- spoken of, not asked for

_WENT = pattern(
    r"^(?:(?:oh|well|hey|so|hm+|and)[, ]+)*(?:(?:the|my|our|all|some|both|one)\b.*|it|they) "
    r"(?:just |all |suddenly |both )*(?:went|came) (?:on|off|out|up|down)\b"
)
_YOU_DID = pattern(
    r"\b(?:nice|good|great|lovely|glad|happy|thanks|thank you|cheers|perfect|kind|clever|funny|sweet|noticed)\b.*"
    rf"(?<!if )\byou(?:'ve| have)? (?:already |just )?{_PARTICIPLE}\b|\b(?:thanks|thank you|cheers) for \w+ing\b"
)
_SUPPOSES = pattern(
    r"^(?:(?:so|and|now|okay|ok)[, ]+)*(?:suppose|supposing|imagine|what if|let'?s (?:say|suppose|assume|imagine)|"
    rf"assum(?:e|ing)) (?:that )?(?:we|i|you|they|some\w+) (?:had |were to |would )?(?:{_VERB}|{_PARTICIPLE})\b"
)
_ABILITY = pattern(
    r"^(?:(?:so|and|hey|okay|ok)[, ]+)*(?:can|could) (?:.+ at all$|.+ (?:from|with|via|through|using|by) "
    r"(?:my|the|a|an|your) (?:smart ?)?(?:phone|app|voice|watch|tablet|computer|laptop|browser|mobile)\b)"
)
_BLAMES = pattern(
    rf"\b(?:you|he|she|they|we|i|some(?:one|body)) should(?:n'?t| not) have {_PARTICIPLE}\b"
    rf"|^(?:(?:oh|hey|and|well)[, ]+)*some(?:one|body) (?:has |just )*{_PARTICIPLE}\b"
)
_LEADS = r"^(?:(?:and|so|but|well|oh|hey|yeah|yes|no|okay|ok|then|come on|please)[, ]+)*"
_DICTATES = r"play|add|announce|broadcast|say|tell|remind|write|note|read|show|search"
# "She said turn it off", "a new study says we should …", "they want us to …"
_REPORTS = pattern(
    rf"{_LEADS}(?!{POLITE}(?:i|you|what|who|which|when|where|why|how|let|{ACTIONS}|{_DICTATES})\b)(?:(?:an?|the|my|our|his|"
    r"her|their|that|some|most) )?(?:[\w']+ ){0,2}?[\w']+ (?:always |just |also |never |once |only )*"
    r"(?:says?|said|told|asks?|asked|thinks|thought|suggests|suggested|claims?|claimed|explained|recommends?|"
    r"recommended|advises?|advised|warned|replied|shouted|believes|(?:wants?|wanted) (?:us|me|him|her|them))\b"
    rf"|^(?!{POLITE}(?:{_DICTATES})\b).* (?!i\b)[\w']+ (?:said|asked|replied|shouted|whispered|cried|yelled)$"
    rf"|^(?!{POLITE}(?:{_DICTATES})\b).*\b(?:(?<!\bi )(?:said|asked|replied|shouted|whispered|cried|yelled) "
    r"(?:the|his|her|my) \w+|(?:he|she|they) (?:replied|shouted|whispered|cried|yelled))\b"
)
_PLANS = pattern(
    rf"{_LEADS}(?:i|we|he|she|they|you|people)(?:'m|'re|'s| am| are| is| was| were|'ve been| have been) "
    r"(?:just |only |also |still |always |actually |really )*"
    r"(?:thinking|planning|considering|talking|dreaming|hoping|arguing|reading) (?:of|about|on|to|whether|if)\b"
)
# Commands to a person: "kids turn that down", "close your eyes", "turn left at the lights", "click start".
_KIN = (
    r"(?:mum|mummy|mom|mommy|mama|dad|daddy|papa|grandma|grandpa|granny|grandad|kids|children|boys|girls|guys|"
    r"sweetheart|sweetie|darling|honey|babe)"
)
_NO_OBJECT = "".join(rf"(?<!\b{word} )" for word in ("for", "the", "my", "our", "a", "with", "to", "of", "and", "by"))
_TO_A_PERSON = (
    pattern(
        rf"{_LEADS}{_KIN}[, ]+(?:please[, ]+)?(?=(?:(?:can|could|would|will|did|have|are) you|don'?t|go|come|get|put|"
        rf"bring|give|stop|{ACTIONS})\b)"
    ),
    pattern(
        rf"{_LEADS}(?:{ACTIONS}|play|go|come|get|take|hold)\b(?:.* )?{_NO_OBJECT}(?:kids|children|boys|girls|guys)$"
    ),
    pattern(
        rf"\b(?:{ACTIONS}|take|pick|hold|wash|brush|eat|finish|get|bring|move|do|use|check|watch|mind) (?:(?:on|off|up|"
        r"down|out|away|back|in) )?your\b(?! (?:volume|voice|sound|speech|speed|speaking|language|name|microphone|mic|"
        r"settings?|memory|timers?|alarms?|reminders?|lists?|best|magic|thing|job|time|(?:\w+ )?speakers?)\b)"
    ),
    pattern(
        r"\b(?:turn|go|keep|bear|veer) (?:left|right|straight)(?= (?:at|onto|into|on to|after|then|and|here|ahead|in|"
        r"past)\b|$)|\bturn (?:around|the page|to (?:page|chapter)|(?:the|your) key)\b"
    ),
    pattern(
        r"^(?:(?:yeah|yes|okay|ok|then|now|next|first|and|so|just)[, ]+)*(?:double[- ])?"
        r"(?:click|tap|scroll|swipe)(?! \w+ (?:on|off)$)\b"
    ),
    # Two people: "did you close it yes i did", "tell your brother to turn it down"
    pattern(
        rf"{_LEADS}(?:did|have|has|are|were|was|shall|do) (?:you|i|we|he|she|they)(?! mind\b)\b.* "
        r"(?<!or )(?:yes(?! or no)|yeah|yep|yup|no|nope|of course|not yet|"
        r"i (?:did|have|thought|think|will|am|already|was))\b"
    ),
    pattern(rf"{_LEADS}(?:kids|children|boys|girls|guys), "),
    pattern(rf"{_LEADS}go and (?:see|check|look|find|ask) (?:if|whether|what|where|who)\b"),
    pattern(rf"{_LEADS}(?:go and )?(?:tell|ask) (?:him|her|them|your (?!voice)\w+) (?:to|not to|if|that)\b"),
    pattern(
        rf"{_LEADS}(?:go (?:upstairs|downstairs|outside|inside|over|"
        r"to (?:bed|your|the (?!next|previous|last|first)\w+))|"
        r"come (?:here|down|over|in|back|upstairs|downstairs|inside))\b.* (?:and|to)\b"
    ),
)
# What the speaker does, or is going to do.
_SWITCHING = r"(?:turn|switch|open|close|shut|lock|unlock|dim|mute|lower|raise|start)"
_I_DO = pattern(
    rf"\b(?:let me|i'll|i will|i'm (?:going|about) to|i am (?:going|about) to|i'm gonna|i was going to|i was about to|"
    r"i have to go and|i already|we'll|we will) (?:just |quickly |first |now |go and |already |then |only )*"
    rf"{_SWITCHING}\b"
    r"|\b(?:i'm|i am|we're|we are|(?:yes|yeah|no) just) (?:just |already |only |still )*(?:turning|switching|closing|"
    r"opening|locking|unlocking|dimming)\b"
)
_DEFECT = pattern(
    r"\b(?:is|are|'s|'re|was|were|got|keeps?|been) (?:\w+ )?(?:stuck|broken|jammed|flickering|leaking|playing up|"
    r"out of order|not working|burnt out|blown|kaput|faulty)\b"
    r"|\b(?:doesn'?t|does not|won'?t|isn'?t|don'?t) work(?:ing)?\b"
)
_COMMANDS = pattern(
    r"\b(?:turn|switch|put|open|close|shut|lock|unlock|dim|set|make|start|stop|lower|raise)(?: (?:it|them|that))?"
    r"(?: back)? (?:on|off|up|down|the|my|our|all|to)\b|\b(?:play|resume|pause|mute)\b|"
    r"\b(?:send|bring|call|get) (?:it|them|him|her|the|my|our)\b"
)
_SPOKEN_OF = (_WENT, _YOU_DID, _SUPPOSES, _ABILITY, _BLAMES)
_ASKED = pattern(r"\b(?:please|(?:can|could|would|will) you)\b")
# "She said turn it off" asks for nothing; "the doctor said I must rest, so dim the lights" does.
_ASKS_THEN = pattern(
    rf"{_ASKED.pattern}|^(?: [\w']+){{2,}}?(?:,|;| so| then)(?: (?:so|then|just|now))* (?:(?:{ACTIONS}|play)\b|"
    r"(?:[\w']+ ){1,3}(?:on|off)$)"
)


# "Lower the volume by" goes on; "what are you up to" does not.
_UNFINISHED = pattern(
    r"^(?!(?:(?:so|and|hey|okay|ok)[, ]+)*(?:what|who|where|which|when|why|how|tell me)\b)"
    r".+ (?:by|to|the|and|or|my|our|of|than|with|from)$"
)


def answer_to(text: str) -> str:
    """What to answer to a sentence that as a whole forbids an act, or that breaks off; "" for any other."""
    words = _plain(text)
    if _UNFINISHED.match(words):
        return HALF
    if _NOT_WANTED.match(words):
        return ASKS
    if _NOTHING.match(words) and not (_OTHER_SENSE.search(words) or _AND_THEN.search(words)):
        return LEFT
    if _NO_NEED.match(words) and not (_OTHER_SENSE.search(words) or _ALARM.search(words) or _AND_THEN.search(words)):
        return LEFT
    for form in (_FORBIDS, _LEAVE):
        if not (said := form.search(words)):
            continue
        before, after = words[: said.start()], words[said.end() :]
        is_all = not (_REQUEST.search(before) or _OTHER_SENSE.search(before))
        if is_all and not (_AND_THEN.search(after) or _EXCEPTS.search(after)):
            return LEFT
    return ""


def is_spoken_of(text: str) -> bool:
    """Whether a sentence speaks of an act without asking for it."""
    words = _plain(text)
    if is_said_to_a_person(words):
        return True
    if any(
        (said := form.search(words)) and not (_ASKED.search(words) or _COMMANDS.search(words[said.end() :]))
        for form in (_I_DO, _DEFECT)
    ):
        return True
    if any((said := form.search(words)) and not _ASKS_THEN.search(words[said.end() :]) for form in (_REPORTS, _PLANS)):
        return True
    said = next((said for form in _SPOKEN_OF if (said := form.search(words))), None)
    return said is not None and not any(form.search(words[said.end() :]) for form in (_AND_THEN, _COMMANDS))


def is_said_to_a_person(text: str) -> bool:
    """Whether a sentence is said to a person: nothing is looked up for it either."""
    words = _plain(text)
    return any(form.search(words) for form in _TO_A_PERSON)


def _plain(text: str) -> str:
    words = " ".join(text.replace("’", "'").split()).strip(" .!?,…")
    return words if len(words) <= _MAX_CHARS else ""


class UnrequestedActions(Hook):
    """Answers what forbids an act, and refuses calls for what is only spoken of."""

    name: ClassVar[str] = "nothing_asked"
    is_safety: ClassVar[bool] = True

    async def on_run_start(self, run: Run) -> Answer | None:
        answer = answer_to(run.text)
        run.notes[self.name] = not answer and is_spoken_of(run.text)
        run.notes[f"{self.name}.to_a_person"] = not answer and is_said_to_a_person(run.text)
        return Answer(answer) if answer else None

    async def before_tool(self, run: Run, call: ToolCall) -> Deny | None:
        return Deny(ASKS) if self._refuses(run, call) else None

    async def after_tool(self, run: Run, call: ToolCall, outcome: ToolOutcome) -> Answer | None:
        return Answer(ASKS) if self._refuses(run, call) else None

    def _refuses(self, run: Run, call: ToolCall) -> bool:
        tool = known_tools().get(call.name)
        if run.notes.get(f"{self.name}.to_a_person"):
            return tool is not None and (tool.has_side_effects or tool.target_domains is not None)
        return bool(run.notes.get(self.name)) and tool is not None and tool.has_side_effects
