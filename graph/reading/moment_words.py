"""The words of days, clocks and zones, and the patterns in which deadlines and earliest starts are said."""

from __future__ import annotations

import re

__all__ = [
    "AT_THE", "BRACKETED", "CLOCK_HOUR", "CORRECTED", "DAYS", "DAY_AFTER", "DAY_ALONE", "DAY_AT", "DAY_BEFORE",
    "DAY_FIRST", "DONE_AFTER", "DONE_BEFORE", "FOREIGN_DAYS", "FOREIGN_MONTHS", "LATEST_START", "MONTHS", "MONTH_NAME",
    "OFFSETS", "OF_SOMETHING_ELSE", "RULE", "TIME_AFTER", "VAGUE", "WEEKEND", "WORDS",
]  # fmt: skip

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
FOREIGN_MONTHS = {
    "mär": 3,
    "mai": 5,
    "okt": 10,
    "dez": 12,
    "fév": 2,
    "avr": 4,
    "juin": 6,
    "juil": 7,
    "aoû": 8,
    "déc": 12,
}
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
FOREIGN_DAYS = {
    "montag": 0, "dienstag": 1, "mittwoch": 2, "donnerstag": 3, "freitag": 4, "samstag": 5, "sonntag": 6,
    "lundi": 0, "mardi": 1, "mercredi": 2, "jeudi": 3, "vendredi": 4, "samedi": 5, "dimanche": 6,
}  # fmt: skip
OFFSETS = {
    "utc": 0, "gmt": 0, "z": 0, "cet": 60, "mez": 60, "cest": 120, "mesz": 120, "wet": 0, "west": 60, "eet": 120,
    "eest": 180, "bst": 60, "est": -300, "edt": -240, "cdt": -300, "mst": -420, "mdt": -360, "pst": -480,
    "pdt": -420, "akst": -540, "akdt": -480, "hst": -600, "jst": 540, "kst": 540, "aest": 600, "aedt": 660, "awst": 480,
    "nzst": 720, "nzdt": 780, "sgt": 480, "hkt": 480, "aoe": -720, "anywhere on earth": -720,
}  # fmt: skip
"""Minutes east of UTC of abbreviations that mean one thing; `cst` and `ist` do not and are asked back."""

_MONTH = (
    r"(?:jan(?:uary|uar|vier)?|feb(?:ruary|ruar)?|mar(?:ch|s)?|märz?|apr(?:il)?|mai|may|june?|juin|july?|juli"
    r"|juil(?:let)?"
    r"|aug(?:ust)?|août|sept?(?:ember|embre)?|o[ck]t(?:ober|obre)?|nov(?:ember|embre)?|de[cz](?:ember)?"
    r"|févr?(?:ier)?|avr(?:il)?|déc(?:embre)?)\.?"
)
MONTH_NAME = re.compile(_MONTH)
_WEEKDAY = (
    r"(?:(?P<which>this|next|coming|this coming|nächsten|kommenden) )?(?P<weekday>mon(?:day)?|tue(?:s(?:day)?)?"
    r"|wed(?:nesday)?|thu(?:r?s?(?:day)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?"
    r"|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|lundi|mardi|mercredi|jeudi|vendredi|samedi"
    r"|dimanche)"
)
_DATE = (
    rf"(?:(?:the )?(?:(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun)\.?"
    rf"|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch"
    rf"|(?:lun|mar|mercre"
    rf"|jeu|vendre|same)di|dimanche),? (?:the |le |den )?(?=\d))?"
    rf"(?:(?P<iso>\d{{4}}-\d{{1,2}}-\d{{1,2}})|(?P<dotted>\d{{1,2}}\.\d{{1,2}}\.(?:\d{{4}}"
    rf"|\d{{2}})?)(?!\d)|(?P<slashed>\d{{1,2}}/\d{{1,2}}(?:/\d{{2,4}})?)(?![\w/])"
    rf"|(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?(?: of)? (?P<month>{_MONTH})(?:,? (?P<year>\d{{4}}))?"
    rf"|(?P<month2>{_MONTH}) (?P<day2>\d{{1,2}})(?:st|nd|rd|th)?(?!\d|:\d)(?:,? (?P<year2>\d{{4}}))?"
    rf"|(?P<relative>today|tomorrow|the day after tomorrow|day after tomorrow|tonight|heute|übermorgen"
    rf"|après-demain|morgen|demain|ce(?= soir| matin)"
    rf"|end (?:of )?(?:the |this )?(?:day|week|month)|(?:this |the )?(?:weekend|wochenende|week-end)"
    rf"|next week|eod|eow)"
    rf"|(?P<ordinal>\d{{1,2}})(?:st|nd|rd|th)"
    rf"(?= ?(?:[,.;!?)\x00]|$|(?:at|by|noon|midday|midnight|please|because|since|as|\d{{1,2}}[:h])(?!\w)))"
    rf"|{_WEEKDAY})(?![a-su-z0-9_]|t\D))"
)
"""`ordinal` is a day whose month is not said: `the 4th`."""
_CLOCK = (
    r"(?:(?P<pre>morning|afternoon|evening|night|abend|nachmittag|vormittag|früh|matin|soir) (?:at |um |à )?(?=\d))?"
    r"(?:(?:12(?::00)?|0?0:00)(?: o'clock)? (?=(?:noon|midday|midnight)(?!\w)))?"
    r"(?:(?P<clock>\d{1,2}(?::|h(?=\d\d\b))\d{2}(?::\d{2})?) ?(?P<ampm>[ap]\.?m\.?(?!\w))?"
    r"|(?P<hour>\d{1,2}) ?(?P<ampm2>[ap]\.?m\.?(?!\w))|(?P<hour4>\d{1,2})(?: o'clock)? in the (?P<part>morning"
    r"|afternoon|evening)|(?P<hour3>\d{1,2}) ?(?:uhr|o'clock|h(?=[ ,.;!?)]|$))"
    r"|(?P<pre2>morning|afternoon|evening|night|abend|nachmittag|vormittag|matin|soir) (?:at|um|à) (?P<hour5>\d{1,2})"
    r"(?= ?(?:[,.;!?)\x00]|$))"
    r"|(?P<word>noon|midday|midnight|morning|afternoon|evening|night|mittag|midi|minuit|vormittag|nachmittag"
    r"|abend|matin|soir))(?: uhr)?(?![a-y0-9_]"
    r"|:\d|z\w)"
)
_ZONE = (
    r"(?: ?\(?(?P<zone>(?:utc|gmt)[+-]\d{{1,2}}(?::?\d{{2}})?|[+-]\d{{2}}:?\d{{2}}|z(?![\w])"
    r"|[a-z]{{2,10}}/[a-z_]{{2,20}}(?:/[a-z_]{{2,20}})?|(?:{}|cst|ist)(?!\w)"
    r"|(?:us )?(?:eastern|central|mountain|pacific)(?: standard| daylight)?(?!\w)|(?:local|our|my)(?= time)"
    r"|[a-z]{{3,14}}(?: [a-z]{{3,14}})?(?= time(?!\w)))\)?(?: time)?)?".format(
        "|".join(sorted((name for name in OFFSETS if name != "z"), key=len, reverse=True))
    )
)
_BEFORE = (
    r"(?:(?:must |should |has to |needs to |to |and |be |results? |it |is |are |i |we |need |needed |want "
    r"|wanted |rendre |finir |terminer |attendus |attendu |attendues |à |prêt |prêts |complete[ds]? "
    r"|finish(?:e[ds])? |done |ready |over |results |back "
    r"|delivered |due |end |at the "
    r"|the |have |has |there |available ){0,6}"
    r"(?P<before>before|by|until|till|no later than|not later than|latest(?: by)?|at more tard|au plus tard"
    r"|d'ici(?: à)?|by no later than|no later than by|not (?:run |finish(?:ed|ing)? |end(?:ing)? )?after"
    r"|(?:results?|output|it|they|them|this) (?:is |are )?(?:needed|required|due|expected|wanted)"
    r"|(?<=rendre )(?:for|pour)|(?<=results )for"
    r"|(?<=ready )for|(?<=done )for|(?<=due )for|(?<=finished )for|(?<=prêt )for|(?<=attendus )for"
    r"|(?<=attendu )for|(?<=attendues )for|(?<=wanted )for|(?<=needed )for|deadline(?: (?:of|for) (?:the|my"
    r"|our) [a-z]{3,16})?(?: is| of)?:?(?: at"
    r"| on)?|due(?: on| by| at)?|bis|spätestens|avant|jusqu'à|end by|finish by)(?: ?[:=])?)"
)
_FROM = (
    r"(?:(?:but |and |only |please |run |it |to |should |must |can |the |job |earliest "
    r"|may ){0,6}(?P<after>not (?:before|starting before)|pas avant|nicht vor(?: dem)?"
    r"|nicht (?:früher|eher) als"
    r"|(?<=run )(?:past|beyond)|(?<=running )(?:past|beyond)|no earlier than|no sooner than|not earlier than|after"
    r"|starting(?: at| on"
    r"| from| after)?"
    r"|start(?:s)?[:=]?(?: at| on| from| after| not before)?|begin(?:s|ning)?(?: at| on| after)?|from"
    r"|(?:à )?commencer(?: dès| à partir (?:of|de|du))?|dès|earliest(?: start)?(?: time)?(?: is| at| being)?:?"
    r"|at more tôt|au plus tôt|frühestens(?: ab| am)?|à partir (?:of|de"
    r"|du)|not until|(?<=run )at|(?<=run )on|(?<=it )at|ab|nach|après"
    r"|run (?:it )?(?:at|on)|schedule (?:it )?(?:for|at|on)|at|on))"
)
_WHEN = (
    rf"(?:{_DATE}(?:,? (?:at |by |um |à )?|t)?(?:{_CLOCK})?|{_CLOCK.replace('?P<', '?P<b_')}"
    rf"{_ZONE.replace('?P<', '?P<b_')}"
    rf"(?:,? (?:on |the "
    rf"|am )?{_DATE.replace('?P<', '?P<b_')})?){_ZONE}"
)
_NOT_BEFORE = (
    r"(?:(?:please |but |and |it |this |the job |must |should |may |can |only ){0,6}(?:do not|don't|does not|doesn't"
    r"|must not|mustn't|should not|shouldn't|may not|can't|cannot|can not|never|not)(?: to)?"
    r" (?:start(?:ing)?|begin(?:ning)?|run(?:ning)?|be started|be run)(?: it| this)? (?:before|until|earlier than))"
)
_NOT_ELSE = (
    r"(?:,? (?:but |and )?(?:not|no|never) (?:earlier|before|sooner|later)(?: than that| that)?(?= ?[,.;:)!?]| pls"
    r"| please|$))?"
    r"(?: (?:fertig(?: sein)?|done|ready|finished)(?![\w-]))?"
)
DAY_FIRST = (
    rf"(?<![\w-])(?:(?:please|run|start|it|on|only) ){{0,4}}{_DATE},? (?:but |and )?(?:not )?(?:(?P<before>by"
    rf"|no later than"
    rf"|not later than|until|at the latest(?: at| by)?)|(?P<after>from|after|(?<=not )before|(?<=not )earlier than"
    rf"|no earlier than|starting(?: at| from)?|ab))"
    rf" {_CLOCK}{_ZONE}(?!\w|:\d)(?: on(?:wards?)?(?= ?[,.;:)]|$))?{_NOT_ELSE}"
)
"""`tomorrow from 6am on`: the day stands before the word that says which end is meant."""
DAY_AT = (
    rf"(?<![\w-])(?:(?:please|run|start|it|only) ){{0,4}}{_DATE},? (?P<after>at|um"
    rf"|à) (?P<before>(?!))?{_CLOCK}{_ZONE}"
    rf"(?!\w|:\d){_NOT_ELSE}"
)
"""`run it tomorrow at 8 in the morning`: no word before the day says which end is meant, so `before` is none."""
DAY_ALONE = re.compile(
    r"(?:^|[.,;:(!?] ?|\b(?:run|start|it|job|this|begin|finished|done|ready|completed?|over|h|hours?|nodes?"
    r"|cores?|min"
    r"|minutes?|gpus?|please|\x00) )$"
)
"""What stands before such a day."""
_EVENT = r"(?:(?!(?:for|on|with|and|or|but|by|run|start)\b)[a-z'-]{2,16} ){1,6}"
BRACKETED = (
    r"(?<![\w-])(?:(?:please|do|must|may|can|start|run|it|only|to|be|finished|done|ready|should|has) ){0,6}"
    r"(?:(?P<after>not (?:start(?:ed)? |run |begin )?before|no earlier than|not earlier than|after|not until|once)"
    r"|(?P<before>before|by|until|no later than|in time for|ahead of)) "
    r"(?!(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
    rf"{_EVENT}\((?:(?:on|at|i\.e\.,?|that is,?|which is|until|from) )*(?:the )?{_WHEN}(?!\w|:\d) ?\)"
)
"""`not before the maintenance ends (Tuesday 18:00)`: the moment of something that happens."""
RULE = (
    rf"(?<![\w-])(?:{_NOT_BEFORE}|{_BEFORE}|{_FROM}) (?:(?:fertig|done|ready|finished|over) )?(?:(?:the|on|at|am|den"
    rf"|le|for|zum) )?{_WHEN}(?!\w|:\d)"
    rf"(?: or (?:later|earlier|before|after)| at the (?:latest|earliest)| on(?:wards?)?(?= ?[,.;:)]|$))?{_NOT_ELSE}"
)
CORRECTED = (
    r"(?:,|\.| -)? ?(?:no|sorry|oops|rather|i mean|make that|or rather)(?:,? (?:wait|sorry|rather|i mean|no"
    r"|make that))*,?"
    rf" (?:on |by |at )?{_WHEN}(?!\w|:\d)"
)
_DAY_NEXT = (
    r" (?:the |le |on |am )?(?:\d|(?:lun|mar|mercre|jeu|vendre|same)di|dimanche|demain|tomorrow|today"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
)
AT_THE = (
    rf"(?<![\w-])(?<!for )(?:(?:on|at|by|from|(?:for|pour)(?! \d)|am|ab) )?(?!\d{{1,3}} ?h,){_WHEN}(?!\w|:\d)"
    rf"(?:,? (?:at the|at more|au plus) (?P<end>earliest|latest|tôt|tard)(?!{_DAY_NEXT})"
    r"| (?:onwards?|(?:or|and|oder) (?:later|after|später)))(?![\w-])"
)
LATEST_START = (
    r"(?<![\w-])(?:the )?latest (?:possible )?start(?:ing)?(?: (?:time|date))?(?: is| at| on|:| ?=){0,3}"
    rf" {_WHEN}(?!\w|:\d)"
)
CLOCK_HOUR = (
    r"(?<![\w-])(?:(?:(?P<stop>stop|kill|end|cancel|finish)(?: (?:it|this|the job))? "
    r"|(?:start|run|begin)(?: (?:it|this))? )?"
    r"(?:at|à|um) |(?<= à) )(?P<n>1?\d|2[0-3]) ?h(?=[ ,.;!?)]|$)(?! (?:each|per|max|in total|walltime|at most|a day))"
)
"""`at 20h`: the clock, or how long."""
WEEKEND = (
    r"(?<![\w-])(?:(?:run|start|it|on|during|over|through|throughout|across|this|the|for|at|am|übers?|ce|dieses|das"
    r"|coming"
    r"|pendant|le|next|kommende[ns]) ){1,6}(?:weekend|week-end|wochenende)(?![\w?-])(?! (?:is|was|were)(?![\w-]))"
)
DAY_AFTER = re.compile(
    r"[^.;!?\n]{0,16} (?:on (?:the )?"
    rf"(?:\d{{1,2}}(?:st|nd|rd|th|\.)?(?: of)? {_MONTH}(?:,? \d{{4}})?(?!\w)|{_MONTH} \d{{1,2}}(?:,? \d{{4}})?(?!\w)"
    r"|\d|next |(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
    r"|(?:tomorrow|demain)(?![\w-]))"
)
TIME_AFTER = re.compile(
    r"(?:,? (?:at|by|around|about|towards)(?: (?:about|around|exactly))?|,) "
    r"(?:\d{1,2}(?: |$)(?:noon|midnight|sharp)|half |a? ?quarter (?:past|to)|\d{1,2} (?:past|to) |lunch|dawn|sunrise"
    r"|sunset|dusk)[^,.;!?\n\x00]{0,20}"
)
"""Behind a day, a time of it in words that are not reckoned."""
DAY_BEFORE = re.compile(
    rf"(?:today|tomorrow|heute|morgen|demain|(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d{{1,2}}(?:st|nd|rd|th|\.)?"
    rf" (?:{_MONTH})|\d{{4}}-\d\d-\d\d|\d{{1,2}}\.\d{{1,2}}\.(?:\d{{4}})?),? $"
)
OF_SOMETHING_ELSE = re.compile(
    r"(?<!it )(?<!this )(?<!that )(?<!job )(?<!run )(?<!which )(?<![\w-])(?:goes|comes|leaves|closes|opens|flies"
    r"|fly|arrives"
    r"|ships|airs|plays|premieres|meets|meet|have dinner|dine)(?: [^\s.,;:!?]+){0,4} $"
)
"""Before `tonight`, what happens then and is not the job."""
DONE_BEFORE = re.compile(
    r"(?:must|has to|have to|needs? to|should|shall|is to|muss|doit|soll)(?: be)? (?:done|ready|finished"
    r"|completed?|over|ended|there"
    r"|back|delivered|available|through) $|(?:needed|required|due|wanted|expected) $"
)
DONE_AFTER = re.compile(
    r" (?:(?:be|wieder|schon|alles|all|it|être) )?(?:fertig|done|ready|finished|completed?|terminée?)(?: (?:sein"
    r"|be|être))?(?![\w-])"
)
"""What says before or behind a moment that the work is done by then."""
WORDS = {"noon": 12, "midday": 12, "mittag": 12, "midi": 12, "midnight": 0, "minuit": 0}
VAGUE = {
    "morning": 8, "afternoon": 12, "evening": 18, "night": 22, "vormittag": 8, "nachmittag": 12, "abend": 18,
    "matin": 8, "soir": 18,
}  # fmt: skip
