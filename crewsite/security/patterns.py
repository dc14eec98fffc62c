"""The injection patterns, for the folded shadow: lower case, no accents, one blank between words. Data only.

Every gap is bounded and no repeat is open, so a scan is linear in the text. `needs` are groups of plain substrings: one
of each group must be present before the expression is tried at all.
"""

# ruff: noqa: E501, ISC004 - an alternation broken over more lines is harder to check, not easier

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from crewsite.security.markers import BARE_MARKERS, BRACKET_TOKENS, MARKERS, TEMPLATE_TOKENS, TURN_TAGS
from crewsite.security.shadow import fold_pattern, folded_shadow
from crewsite.security.translations import TRANSLATED

# Chapter 13.2; `hidden_text` is worked out in `screening`.
FAMILIES: Final[tuple[str, ...]] = (
    "ignore_above",
    "you_are_now",
    "new_instructions",
    "system_prompt",
    "system_tag",
    "instructions_tag",
    "important_override",
    "forget_all",
    "disregard",
    "ignore_previous",
    "act_as_if",
    "pretend",
    "new_persona",
    "no_restrictions",
    "exfiltrate",
    "coerce_tool",
    "hidden_text",
    "forged_marker",
    "translated",
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """`guarded`: a "never" or "don't" earlier in the sentence makes the match harmless."""

    family: str
    regex: re.Pattern[str]
    needs: tuple[tuple[str, ...], ...]
    guarded: bool = False

    def may_match(self, text: str) -> bool:
        return all(any(need in text for need in group) for group in self.needs)


_DROP = r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|skip|override|bypass|neglect|overlook|discard)"
_TEXTS = r"(?:instructions?|rules?|messages?|guidelines?|prompts?|directions?|directives?|commands?|orders?|context|constraints?)"
_ORDERS = r"(?:instructions?|guidelines?|directives?|prompts?|programming|training|restrictions?|safeguards?|constraints?)"
_FILLERS = (
    r"(?:\s(?:and|or|of|the|your|my|all|any|these|those|other|set|system|user|safety|developer|content|security|assistant"
    r"|ai|given|stated|chat|conversation|initial|original|core|default|internal|ethical|moral|\d{1,3})){0,4}"
)
_EARLIER = r"(?:previous(?:ly)?|prior|earlier|preceding|existing|former|foregoing|above)"
_SELF = r"(?:assistant|ai|a\.i\.|model|bot|chatbot|agent|persona|character|hacker|pirate|entity|expert|intelligence|administrator)"
_LIMITS = (
    r"(?:restrictions?|limits?|limitations?|filters?|rules|constraints?|guidelines|boundaries|censorship|safeguards|"
    r"guardrails|polic(?:y|ies)|moral(?:s|ity)?|ethics)"
)
_SECRETS = (
    r"(?:api[\s_-]?keys?|keys?|tokens?|passwords?|passwd|secrets?|credentials?|memor(?:y|ies)|conversations?|chat\s?(?:history|logs?)|"
    r"transcripts?|env(?:ironment)?\s(?:vars?|variables?)|cookies?)"
)
_ADDRESS = (
    r"(?:https?:|ftp:|www\.|[\w.+-]{1,40}@[\w-]{1,40}\.|(?:[\w-]{1,40}\.){1,4}(?:com|net|org|io|site|dev|xyz|info|me|ru|cn|sh|app|co|"
    r"example|test|top|link)\b|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})"
)

# (family, expression, needs)
_SOURCES: Final[tuple[tuple[str, str, tuple[str, ...]], ...]] = (
    (
        "ignore_above",
        r"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?)\s(?:"
        r"(?:everything|anything|all|whatever)(?:\s(?:of|that|which|is|was|were|written|said|stated|mentioned|the|this|you|i|told|"
        r"have|been|text|content|context|prompts?|instructions?|rules?|messages?|guidelines?|listed|given|found)){0,6}\sabove\b"
        r"|(?:the\s|all\s|any\s)?(?:text|instructions?|rules?|prompts?|messages?|guidelines?|directions?|content|context|orders?)\s"
        r"(?:[\w']{1,12}\s){0,3}above\b"
        r"|(?:the\s|all\s|any\s)?above(?:\s(?:instructions?|rules?|text|prompts?|messages?|guidelines?|directions?|content|context|"
        r"orders?|and)\b|\s?[.,;:!\n]|\s?$))",
        ("above",),
    ),
    (
        "you_are_now",
        r"\byou(?:\sare|'re|re)\s(?:now|from\snow\son|henceforth)\s(?:(?:a|an|the|my|our)\s(?:[\w-]{1,20}\s){0,4}?" + _SELF + r"\b"
        r"|(?:in\s)?(?:[\w-]{1,20}\s){0,2}?(?:developer|god|admin|debug|dan|jailbreak|sudo|root|maintenance|unrestricted|evil)\smode\b"
        r"|[\w-]{0,20}gpt\b|dan\b|root\b|unrestricted|unfiltered|uncensored|jailbroken|evil\b|free\s(?:from|of|to)\b|no\slonger\b"
        r"|going\sto\s(?:act|be|play|ignore|obey)|acting\sas|operating\sas|playing\sthe\srole|called\b|named\b|liberated)",
        ("you are ", "you're ", "youre "),
    ),
    (
        "new_instructions",
        r"\b(?:new|updated|revised)\s(?:[\w-]{1,12}\s)?(?:instructions?|directives?|orders)(?:\s[\w-]{1,15}){0,4}\s?:"
        r"|\b(?:these|here)\sare\s(?:now\s)?your\s(?:new|real|actual|true|updated)\s(?:instructions?|directives?|orders|rules|goals?|tasks?)\b"
        r"|\byour\s(?:new|real|actual|true|only)\s(?:instructions?|directives?|orders|objective|purpose|goal|task|mission)"
        r"\s(?:is|are|will\sbe)\b"
        r"|\b(?:follow|obey|execute)\s(?:only\s)?(?:these|the\sfollowing|my)\snew\s(?:instructions?|directives?|orders|rules)\b",
        ("new", "updated", "revised", "your real", "your actual", "your true", "your only"),
    ),
    (
        "system_prompt",
        r"\b(?:reveal|leak|disclose|dump|repeat|recite|expose|ignore|disregard|forget|bypass|print|output|override|replace|"
        r"overwrite|extract|exfiltrate|divulge)(?:\b.{0,40}?\byour\s|(?:\s[\w'-]{1,15}){0,5}?\s)system\sprompts?\b"
        r"|\b(?:show|tell|give|send|share|write|change|update|modify|display|reset|copy|summari[sz]e|translate|return|paste|post|"
        r"state|quote|list|provide|what(?:'s|\sis|\swas))\b.{0,30}?\byour\s(?:[\w-]{1,12}\s){0,2}?system\sprompts?\b"
        r"|\b(?:reveal|print|repeat|output|show|recite|dump|leak|disclose|tell\sme|give\sme)\b.{0,30}?\byour\s"
        r"(?:initial|original|hidden|secret|internal|developer|system)\s(?:instructions?|prompts?|messages?|rules|guidelines)\b",
        ("prompt", "your "),
    ),
    (
        "system_tag",
        r"<\s?/?\s?system(?:[-_ ]?(?:prompt|message|reminder|instructions?|note|override))?(?:\s[^<>]{0,80})?\s?/?>"
        r"|\[\s?/?\s?(?:system|sys)(?:[-_ ]?(?:prompt|message|override|note|instructions?|reminder))?\s?\]"
        r"|<<\s?/?\s?sys\s?>>"
        r"|<\|\s?/?\s?(?:" + "|".join(TEMPLATE_TOKENS) + r")(?:\s[^<>|]{0,40})?\s?\|>"
        r"|<\s?/?\s?(?:" + "|".join(TURN_TAGS) + r")\s?>"
        r"|\[\s?/?\s?(?:" + "|".join(BRACKET_TOKENS) + r")\s?\]",
        ("<", "["),
    ),
    ("instructions_tag", r"<\s?/?\s?(?:[a-z]{1,20}[-_ ])?instructions?(?:\s[^<>]{0,80})?\s?/?>", ("instruction",)),
    (
        "important_override",
        r"\bimportant\s?[:!].{0,80}?\b(?:you\smust\snow\b|you\smust\s(?:ignore|disregard|forget|obey|override)\b"
        r"|(?:override|ignore|disregard|forget|bypass)\s(?:[\w']{1,12}\s){0,2}?(?:any|every|everything|previous|prior|earlier|above|your|the\suser|"
        r"users?|safety|security|instructions?|rules|guidelines?|restrictions?|filters?|polic(?:y|ies)|default|system|prompts?|"
        r"constraints?|what|all\s(?:other|previous|prior|your|safety|security|rules|instructions?|guidelines?))\b)",
        ("important",),
    ),
    (
        "forget_all",
        r"\bforget\s(?:absolutely\s)?(?:everything\b|about\severything\b|all\s(?:that\s)?(?:you|your|about|of\s(?:that|this|it|the|your)"
        r"|the|previous|prior|earlier|past|instructions?|rules|context|memor(?:y|ies)|training)\b"
        r"|(?:what|whatever)\syou\s(?:know|knew|were|have|learned|learnt)\b|your\s(?:instructions?|rules|training|programming|"
        r"guidelines|memor(?:y|ies)|persona|identity)\b)",
        ("forget",),
    ),
    (
        "disregard",
        r"\bdisregard(?:ing)?\s(?:all|any|every|everything|previous|prior|earlier|preceding|your|my|these|those|the\s(?:previous|prior|"
        r"above|system|earlier|existing|preceding|original)|what)\b" + _FILLERS + r"\s(?:previous\s|prior\s|earlier\s|above\s|existing\s)?"
        r"(?:" + _TEXTS + r"|training|restrictions?|programming|polic(?:y|ies)|safeguards?)\b"
        r"|\bdisregard(?:ing)?\s(?:everything|anything|what(?:ever)?)\s(?:above|before|you|i|said|that)\b",
        ("disregard",),
    ),
    (
        "ignore_previous",
        r"\b" + _DROP + r"\b.{0,40}?\b" + _EARLIER + _FILLERS + r"\s" + _TEXTS + r"\b"
        r"|\b" + _DROP + r"\s(?:all|any|your|every)" + _FILLERS + r"\s" + _ORDERS + r"\b"
        r"|\b" + _DROP + r"\s(?:your" + _FILLERS + r"|(?:all|any|every)\s(?:safety|security|ethical|content|moderation))\srules?\b"
        r"|\b" + _DROP + r"\s(?:all\s|any\s)?(?:the\s|those\s|these\s)?" + _TEXTS + r"\s(?:[\w']{1,12}\s){0,3}?"
        r"(?:before\s(?:this|that|now|it)|earlier|previously|(?:that\s)?you\s(?:were|have|got|received|had))\b",
        ("ignor", "disregard", "forget", "skip", "override", "bypass", "neglect", "overlook", "discard"),
    ),
    (
        "act_as_if",
        r"\b(?:act|behave|respond|answer|operate|proceed|talk|speak)\s(?:as\sif|as\sthough|like)\syou(?:'re|'ve|\s(?:are|were|have|had|"
        r"can|could|do|did|don't|didn't|never|no|lack|possess|know))\b",
        ("act ", "behave ", "respond ", "answer ", "operate ", "proceed ", "talk ", "speak "),
    ),
    (
        "pretend",
        r"\bpretend(?:ing)?\s(?:that\s)?you(?:'re|'ve|\s(?:are|were|have|had|can|could|do|don't|never|no|lack))\b"
        r"|(?:\A|[.!?:;,\n\"]\s?|\b(?:please|now|must|will|you|and|let's|to)\s)pretend\sto\sbe\s",
        ("pretend",),
    ),
    (
        "new_persona",
        r"\b(?:adopt|assume|take\son|embody)\s(?:a|an|the|this|that|your)\s(?:[\w-]{1,20}\s){0,3}?(?:persona|alter\sego|personality)\b"
        r"|\b(?:adopt|assume|take\son|embody|switch\sto|become|enter|change\sto)\s(?:a\s|an\s|the\s|your\s)?(?:new|different|another|"
        r"alternate|unrestricted|unfiltered|evil|following)\s(?:[\w-]{1,20}\s)?(?:persona|personality|identity|character|role)\b"
        r"|\byour\snew\s(?:persona|personality|identity|name|character|role)\s(?:is|will\sbe)\b"
        r"|\b(?:enter|enable|activate|switch\s(?:in)?to)\s(?:dan|developer|god|jailbreak|unrestricted|evil)\smode\b",
        ("persona", "identity", "character", "alter ego", " role", "new name", " mode"),
    ),
    (
        "no_restrictions",
        r"\byou\s(?:now\s)?(?:have|face|operate\s(?:with|under)|are\s(?:under|subject\sto))\s(?:absolutely\s)?(?:no|zero)\s"
        r"(?:[\w-]{1,15}\s){0,3}?" + _LIMITS + r"\b(?!\s(?:configured|set|defined|applied|enabled|yet|left)\b)"
        r"|\byou(?:'re|\sare)\s(?:now\s)?(?:free\s(?:from|of)|(?:no\slonger|not)\s(?:bound|restricted|limited|constrained)\sby|"
        r"(?:no\slonger|not)\ssubject\sto)\s(?:[\w-]{1,15}\s){0,4}?" + _LIMITS + r"\b"
        r"|\b(?:respond|answer|reply|speak|act|write|operate)\s(?:[\w-]{1,15}\s){0,2}?without\s(?:any\s)?(?:[\w-]{1,15}\s){0,2}?"
        r"(?:restrictions?|limitations?|filters?|censorship|guardrails|safeguards|moral|ethic)"
        r"|\byou\scan\sdo\sanything\snow\b|\b(?:unrestricted|unfiltered|uncensored|jailbroken)\s(?:ai|assistant|mode|model|chatbot|bot)\b",
        ("restriction", "limit", "filter", "rules", "constraint", "guideline", "boundar", "censor", "safeguard", "guardrail", "polic",
         "moral", "ethic", "anything now", "unrestricted", "jailbroken"),
    ),
    (
        "exfiltrate",
        r"\b(?:send|post|upload|forward|e-?mail|exfiltrate|transmit|leak|submit|copy|deliver|push)\s(?:[\w',-]{1,20}\s){0,4}?"
        + _SECRETS + r"\b(?:,?\s(?!headers?\b|param|body\b|in\b|as\b|with\b|via\b)[\w'-]{1,20}){0,3}?\s(?:to|at)\s(?:[\w'-]{1,12}[\s:]\s?){0,2}?"
        r"[\"'(<]?" + _ADDRESS,
        ("send", "post", "upload", "forward", "mail", "exfiltrate", "transmit", "leak", "submit", "copy", "deliver", "push"),
    ),
    (
        "coerce_tool",
        r"\b(?:call|run|execute|invoke|use|delete|send|perform|do(?!\snot\b)|install|push|approve)\b.{0,60}?\bwithout\s(?:ever\s|first\s|even\s)?(?:"
        r"(?:asking|telling|informing|notifying|alerting|warning|prompting|consulting|confirming\swith)\s(?:the\s|your\s|any\s|a\s)?"
        r"(?:users?|humans?|owners?|operators?|people|anyone|anybody|admins?)\b"
        r"|the\s(?:user|human|owner|operator)(?:'s|s'|s)?\s(?:consent|permission|knowledge|approval|knowing|noticing))",
        ("without",),
    ),
)  # fmt: skip
_GUARDED: Final = frozenset({"forget_all", "coerce_tool"})
# A second group of needs, for families whose first word is common.
_ALSO_NEEDS: Final[dict[str, tuple[str, ...]]] = {
    "ignore_previous": (
        "instruction", "rule", "message", "guideline", "prompt", "direct", "command", "order", "context", "constraint",
        "programming", "training", "restriction", "safeguard",
    ),
    "disregard": (
        "instruction", "rule", "message", "guideline", "prompt", "direct", "command", "order", "context", "constraint",
        "programming", "training", "restriction", "safeguard", "polic", "everything", "anything", "what",
    ),
    "system_prompt": ("prompt", "instruction", "message", "rules", "guideline"),
    "you_are_now": (" now", " henceforth"),
    "act_as_if": (" if you", " though you", " like you"),
    "important_override": ("ignore", "disregard", "forget", "override", "obey", "bypass", "must now"),
    "coerce_tool": ("user", "human", "owner", "operator", "people", "anyone", "anybody", "admin"),
}  # fmt: skip

_MARKER_NAMES = "|".join(re.escape(folded_shadow(m).text[1:-1]).replace(r"\ ", r"\s?") for m in MARKERS)
_BARE_NAMES = "|".join(m.lower().replace(" ", r"\s") for m in BARE_MARKERS)
# `(?<![^\n])` is a line start that also holds inside a window. A header followed by `(` is a Markdown link.
FORGED_MARKER: Final = (
    r"(?<![^\n])[\s#>*-]{0,4}(?:\[\s?/?\s?(?:" + _MARKER_NAMES + r")\s?\](?!\()"
    r"|(?:" + _BARE_NAMES + r")\s?(?:[:\n]|$)"
    r"|#{2,4}\s?(?:system|assistant|human|user|instructions?|response)\s?:?\s?(?:\n|$)"
    r"|(?:human|assistant)\s?:\s"
    r"|system\s?:\s?(?:you\b|ignore|new\b|override|disregard|forget|from\snow|the\sassistant|always\b|never\b))"
)


@cache
def patterns() -> tuple[Pattern, ...]:
    """All patterns, compiled on first use, in the order of their families."""
    sources: list[tuple[str, str, tuple[tuple[str, ...], ...]]] = [
        *((family, source, (needs, _ALSO_NEEDS.get(family, ("",)))) for family, source, needs in _SOURCES),
        ("forged_marker", FORGED_MARKER, (("[", "#", ":", "guidance"),)),
        *(("translated", source, (verbs, also)) for source, verbs, also in TRANSLATED),
    ]
    return tuple(
        Pattern(
            family=family,
            regex=re.compile(fold_pattern(source), re.DOTALL),
            needs=tuple(tuple(fold_pattern(need) for need in group) for group in needs),
            guarded=family in _GUARDED,
        )
        for family, source, needs in sources
    )
