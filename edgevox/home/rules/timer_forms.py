"""The forms of requests about timers, alarms and scheduled commands that rules/timers.py reads."""

from __future__ import annotations

from edgevox.core.words import WEEKDAYS
from edgevox.home.clauses.imperative import GERUND
from edgevox.home.grammar import ACTIONS, POLITE, pattern

END = r"(?: please| again| now| for me)*$"
IT = r"(?:it|that|that one|this one|the timer|that timer|this timer|my timer)"

LONGER = (
    pattern(rf"^{POLITE}(?:add|put) (?:another |an extra )?(?P<length>.+?)(?: more)? (?:to|on|onto) {IT}{END}"),
    pattern(rf"^{POLITE}give {IT} (?:another |an extra )?(?P<length>.+?)(?: more| longer)?{END}"),
    pattern(rf"^{POLITE}make {IT} (?P<length>.+?) longer{END}"),
    pattern(rf"^{POLITE}(?:extend|increase|lengthen|prolong) {IT} by (?P<length>.+?){END}"),
)
SHORTER = (
    pattern(rf"^{POLITE}(?:take|knock) (?P<length>.+?) (?:off|from|off of) {IT}{END}"),
    pattern(rf"^{POLITE}make {IT} (?P<length>.+?) shorter{END}"),
    pattern(rf"^{POLITE}(?:shorten|decrease|reduce) {IT} by (?P<length>.+?){END}"),
)
MORE_MINUTES = pattern(r"\b(?P<amount>\w+) more (?P<unit>minutes?|seconds?|hours?)\b")
PAUSE = pattern(rf"^{POLITE}(?:pause|hold|freeze) {IT}{END}")
RESUME = pattern(rf"^{POLITE}(?:resume|continue|unpause|restart) {IT}{END}")
CANCEL = pattern(rf"^{POLITE}(?:cancel|delete|remove|stop|end) {IT}{END}")
RENAME = pattern(
    rf"^{POLITE}(?:rename (?P<which>{IT}|(?:the |my )?.+? timer) (?:to|as)|(?:call|name) (?P<it>{IT})) "
    rf"(?!(?:a|off|back|the|my|him|her|them|me|on|in|at)\b)(?:the )?(?P<name>[\w' -]{{2,40}}?)(?: timer)?{END}"
)
ALL = pattern(
    rf"^{POLITE}(?:cancel|delete|remove|clear|erase|dismiss|get rid of|turn off|stop|kill) "
    rf"(?:all|all of|every|every single|each of|any|any and all|any of)(?: of)?(?: my| the| our)? "
    rf"(?P<kind>alarm|reminder|timer)s?(?: (?:that )?(?:i|we|you)(?:'ve| have)?(?: got)?(?: set)?(?: up)?)?{END}"
)

SCHEDULES = r"(?:schedules|scheduled (?:commands?|actions?|things?|tasks?)|watches)"
LIST = pattern(
    rf"^{POLITE}(?:(?:what|which)(?: \w+)? (?:have|did|do) you (?:have )?(?:scheduled?|planned to do|have scheduled)|"
    rf"(?:what|which) {SCHEDULES}\b.*|(?:list|show|tell me|read)(?: me)?(?: all)?(?: my| your| the)? {SCHEDULES}|"
    rf"(?:what|which \w+) are you (?:watching|waiting)(?: for| out for)?|"
    rf"(?:are|is) (?:there )?any(?:thing)? {SCHEDULES}(?: set)?|do you have any {SCHEDULES})"
    rf"(?: for me| right now| at the moment)*{END}"
)
CANCEL_SCHEDULES = pattern(
    rf"^{POLITE}(?:cancel|delete|remove|clear|stop|drop|forget) (?:(?P<all>all|every|both) )?"
    rf"(?:of )?(?:my |your |the )?(?:schedules?|scheduled (?:commands?|actions?|things?|tasks?)|"
    rf"scheduled (?P<thing>.+?))(?: (?:for|about|of|to|that|which|with|on) (?P<name>.+?))?{END}"
)
PLANS = (
    pattern(
        r"^(?:what(?:'s| is| things are)|which things are|is anything|is there anything) (?:scheduled|planned|"
        r"set up|lined up)"
        rf"(?: to happen)?(?: (?:for|about|with) (?P<about>.+?))?{END}"
    ),
    pattern(
        r"^(?:what|which things) (?:have|do|did) you (?:got |have |get )?(?:scheduled|planned|set up|lined up)"
        rf"(?: to do)?(?: (?:for|about|with) (?P<about>.+?))?{END}"
    ),
    pattern(
        r"^(?:will|are) you (?:going to )?(?:do|turn|turning|switch|switching|open|opening|close|closing|doing|start|"
        rf"starting|run|running)\b.*\b(?:anything|something)\b.*\b(?:later|tonight|today|tomorrow|soon)\b.*{END}"
    ),
    pattern(
        r"^(?:when|what time|at what time) (?:does|do|will|is|are) (?P<about>.+?) (?:go|going to go|come|be turned|be "
        r"switched|turn|switch|set to go|due to go|supposed to go) (?:on|off|out)$"
    ),
    pattern(
        r"^(?:when|what time|at what time) (?:does|do|will) (?P<about>.+?) (?:open|close|shut|start|stop|run|"
        r"lock|unlock)$"
    ),
)
ANYTHING_PLANNED = pattern(
    r"^(?:have you(?: got)?|do you have|is there|did you|are there|have we(?: got)?) (?:anything|something|any \w+|"
    r"stuff|"
    r"things) (?:scheduled|planned|lined up|set up|coming up)(?: (?:for|about|with) (?P<about>.+?))?(?: please)?$"
)
LEFT = (
    pattern(
        r"^how (?:long|much time|much longer|many minutes) (?:has|have|does|do|is|are) (?P<name>.+?) (?:got |"
        r"have |still )*left$"
    ),
    pattern(
        r"^how (?:long|much time|much longer|many minutes) (?:is |are )?(?:left |to go )+(?:on|for|with) (?P<name>.+?)$"
    ),
    pattern(
        r"^how (?:long|much longer) (?:do|does|until|till) (?P<name>.+?) (?:still )?(?:need|take|(?:is|are) "
        r"(?:done|ready))$"
    ),
)
NEVER_MIND = pattern(
    rf"^(?:(?:actually|wait|oh|no),? )*{POLITE}(?:never ?mind|forget|scrap|drop)(?: about)? (?:the|my) "
    rf"(?:(?P<before>.+?) )?(?P<kind>timer|alarm|reminder)(?: (?:for|about|to|on|of|at) (?P<after>.+?))?{END}"
)
AFTER_ALL = pattern(
    r"^(?:(?:actually|wait|oh|no),? )*(?:just )?(?:leave|keep) (?P<thing>.+?) (?P<state>on|off|open|shut|closed|locked|"
    r"unlocked|alone|as (?:it is|they are|is))(?: (?:tonight|today|tomorrow|this|at|in|on)\b.*?)? (?:after all|"
    r"instead)$"
)
REVERSED = {
    "on": {"off"}, "off": {"on"}, "open": {"close", "shut"}, "shut": {"open"}, "closed": {"open"},
    "locked": {"unlock"}, "unlocked": {"lock"},
}  # fmt: skip
REPEATED_ALARM = pattern(
    rf"^{POLITE}(?P<days>(?:every|each|on|weekdays|weekends|daily)\b.*?),? (?:wake (?:me|us)(?: up)?|(?:set |i need |"
    rf"i want )?an? alarm(?: goes off| rings)?) (?P<time>(?:at|for)\b.+?){END}"
)
ALARM_AT = pattern(
    rf"^{POLITE}(?:(?:wake|get) (?:me|us) up|wake (?:me|us)|(?:set |i need |i want )?(?:an? |my )?alarm"
    r"(?: (?:to )?(?:go off|"
    rf"ring))?) (?P<time>(?:at|for|every|on)\b.+?){END}"
)
SEVERAL_TIMERS = pattern(
    rf"^{POLITE}(?:(?:set|start|make|create|run|give me) )?(?:me )?(?:two|three|four|2|3|4|some|several)? ?timers"
    rf"(?:,? please)?[,:]? (?:one )?(?P<each>.+)$"
)
EACH_TIMER = pattern(
    r"^(?:one )?(?:for |of )?(?P<length>.+?)(?: timer)? (?:for|called|named) (?:the |my )?(?P<name>[\w' ]{2,30})$"
)
UNIT = pattern(r"\b(?:seconds?|minutes?|hours?|mins?|secs?)\b")
OWN_CALENDAR = pattern(r"\bmy schedule\b")
DROP = (
    r"(?:(?:cancel|forget|never ?mind|scrap|skip|drop|call off|don't bother|do not bother)(?: about| with)?|"
    r"i(?:'ve| have)? changed my mind about)"
)
DO_NOT = pattern(
    rf"^(?:(?:actually|wait|oh|no),? )*{POLITE}(?:don't|do not|don’t|no need to|never mind about|"
    rf"(?:you|we) (?:don't|do not) (?:need|have) to|you needn't|stop|no longer|no more|{DROP}) "
    rf"(?P<command>(?:to )?(?:{ACTIONS}|tell(?:ing)? me|let(?:ting)? me know|notify(?:ing)? me|remind(?:ing)? me|"
    rf"{GERUND}|watch(?:ing)?)\b.+?)(?: any ?more| after all)?"
    rf"{END}"
)
TELLING = pattern(
    r"^(?:to )?(?:tell(?:ing)? me|let(?:ting)? me know|notify(?:ing)? me|remind(?:ing)? me|watch(?:ing)?(?: for)?)"
    r"(?: when(?:ever)?| if| every time| to| about)? (?P<rest>.+)$"
)
# Never left to the model, which would do it: "cancel turning off the TV".
CANCEL_DOING = pattern(rf"^(?:(?:actually|wait|oh|no),? )*{POLITE}{DROP} {GERUND}")
# After something was set: "actually don't", "call it off", "on second thoughts leave the tv on".
TAKE_BACK = pattern(
    r"^(?:(?:oh|no|wait|actually|hm+|sorry|well|ah|on second thoughts?|please|just|then)[, ]+)*(?:"
    r"(?:don'?t|do not)(?: do (?:it|that)| bother(?: with (?:it|that))?)?|"
    r"(?:never ?mind|forget|scrap|scratch|drop|cancel|undo|skip|strike)(?: about)?(?: (?:it|that))?|"
    r"call (?:it|that) off|"
    r"i(?:'ve| have)? changed my mind(?: about that)?|"
    r"(?:leave|keep) (?P<left>it|them|that|(?:the|my|our) [\w' ]+?) (?:on|off|open|closed|shut|locked|unlocked|running|"
    r"alone|be|as (?:it is|they are))|"
    r"(?P<stays>it|they|that|(?:the|my|our) [\w' ]+?) (?:can|may|should|must)(?: just)? stay"
    r"(?: (?:on|off|open|closed|shut|"
    r"locked|unlocked|running))?)(?: (?:after all|then|please|instead|thanks|anyway|now|tonight|today))*$"
)
# Another time for something that is set: "push my alarm back to half eight", "make it an hour later".
MOVED = r"(?:moved|changed|shifted|pushed|brought|rescheduled|postponed|delayed|set)"
PASSIVE = pattern(rf"^(?:can|could|should|may) (?P<which>(?:the|my|our) .+?) be {MOVED} (?P<rest>.+)$")
MOVE = pattern(
    r"^(?:(?:oh|no|wait|actually|sorry|well|hey|so)[, ]+)*"
    rf"{POLITE}(?:move|change|shift|push|bring|reschedule|make|put|postpone|delay|adjust|switch|set(?=.* instead\b)|"
    r"i (?:want|need|'d like)(?=.* to be\b)) "
    r"(?:(?P<which>(?:the|my|our|that|this) (?:.*? )??(?P<kind>alarm|reminder|wake[- ]up(?: call)?)s?)|it|that|this)"
    r"(?P<rest> .+?)"
    rf"(?: instead| rather)?{END}"
)
TIME_WORDS = frozenset({"to", "for", "until", "till", "at", "be"})
BY = pattern(
    r"^(?P<back>(?:back|forwards?|up|on|out|off|ahead) )?(?:by )?(?P<length>.+?)(?P<later> later| earlier| sooner)?$"
)
EARLIER = pattern(r"\b(?:forwards?|up|ahead|earlier|sooner)\b")
RINGING = pattern(r"\b(?:timers?|alarms?|reminders?)\b")
DAY = rf"(?:tomorrow|tonight|today|at|this|next|every|{'|'.join(WEEKDAYS)})"
PARTICLE = pattern(rf"^ (in|up|off|out|down|over|back|away|around)(?= {DAY}\b)")
CUT = pattern(r"^['’]\w")
AND = pattern(r",? and (?:then |another |one )?|, ")
