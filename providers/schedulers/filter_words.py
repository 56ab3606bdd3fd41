"""What sites' own submit filters, hooks and plugins say when they refuse: words that no scheduler's manual has.

They are looked at after the scheduler's own. What they mean depends little on the site: an allocation that is used up
or ended waits for a person, a request that lacks something never passes as it is, maintenance passes by itself.
"""

from __future__ import annotations

from typing import Final

from dragoman.job import ReasonClass
from providers.schedulers.rules import Rules, table

__all__ = ["FILTER_WORDS"]

WAIT, NEVER, PERSON = ReasonClass.WAIT, ReasonClass.NEVER, ReasonClass.PERSON

_PURSE = (
    r"(?:allocation|project|account|budget|balance|grant|quota|credits?|hours|node-hours|core-hours|SUs?|CUs?|units)"
)
_GONE = (
    r"(?:FAILED|expired|exhausted|depleted|used up|insufficient|overdrawn|exceeded|not (?:active|found|enough|valid)"
    r"|inactive|negative|ended|closed|suspended|disabled|over (?:its|the|your) limit)"
)
_NEAR = r"(?:(?!\bOK\b)[^\n]){0,80}?"
_PAPERS = r"(?:password|certificate|credential|ticket|token)s?"

FILTER_WORDS: Final[Rules] = table(
    (r"scheduled (?:maintenance|downtime)|under(?:going)? maintenance|maintenance (?:window|mode|reservation)", WAIT),
    (r"try (?:again|later)|temporarily|(?:presently|currently) (?:disabled|unavailable|closed)|too busy", WAIT),
    (
        r"(?:must|need to|have to|please|should) (?:specify|request|set|provide|use|add|give|choose|select|reduce)",
        NEVER,
    ),
    (rf"\b{_PURSE}\b{_NEAR}\b{_GONE}", PERSON),
    (rf"(?:\bno\b|insufficient|not enough|out of|exceed(?:ed|s)?(?: your)?|lacks?)[\w ]{{0,30}}?\b{_PURSE}\b", PERSON),
    (r"(?:accept|agree to|sign|acknowledge)\b.{0,40}(?:terms|policy|agreement|rules)", PERSON),
    (rf"two-factor|multi-factor|\bMFA\b|\b2FA\b|{_PAPERS}\b.{{0,40}}expired", PERSON),
    (r"authenticat|not (?:allowed|authori[sz]ed|entitled|permitted)|access denied", PERSON),
    (r"(?:contact|ask|e-?mail) (?:the |your )?(?:support|help|admin)", PERSON),
    (r"(?:you |is |are |was )(?:not specified|required|missing|too (?:long|large|many|high|short))", NEVER),
    (r"must (?:be|have)|at (?:most|least) \d|(?:maximum|minimum|max|min)\b.{0,30}(?:is|of|:) ?\d", NEVER),
    (r"unsupported|not supported|no longer (?:available|supported)", NEVER),
)
"""Matched where the scheduler's own words tell nothing."""
