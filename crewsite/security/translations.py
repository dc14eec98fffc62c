"""Ignoring what came before, forgetting everything and pretending, in eight more languages. Data only.

Written as people write them; `patterns` folds accents and look-alike letters the way the shadow of a text is folded.
"""

# ruff: noqa: E501, ISC004 - an alternation broken over more lines is harder to check, not easier

from __future__ import annotations

from typing import Final

# Per language: the expression and two groups of substrings it needs.
TRANSLATED: Final[tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]] = (
    # French
    (
        r"\b(?:ignore[zr]?|oublie[zr]?|ne\s(?:tiens|tenez)\s(?:pas|plus|aucun)\scompte)\b.{0,40}?\b(?:instructions?|consignes?|règles|directives?|messages?)"
        r"(?:\s[\w'-]{1,12}){0,2}?\s(?:précédente?s?|antérieure?s?|ci-dessus|au-dessus|données|reçues)\b"
        r"|\bignore[zr]?\stout\s(?:ce\squi\s(?:précède|est)|le\s(?:texte|reste))"
        r"|\boublie[zr]?\s(?:absolument\s)?tout(?:es?)?(?:\s(?:ce\sque|ce\squi|tes|vos|les)\b|\s?[.,;:!\n]|\s?$)"
        r"|\b(?:fais|faites)\s(?:semblant\s(?:d'être|que\s(?:tu|vous))|comme\ssi\s(?:tu|vous))\b",
        ("ignore", "oublie", "compte", "semblant", "comme si"),
        ("instruction", "consigne", "règle", "directive", "message", "tout", "semblant", "comme si"),
    ),
    # German
    (
        r"\b(?:ignorier(?:e|en|t)?|missachte[nt]?|vergiss|vergessen\ssie|vergesst|beachte\snicht)\b.{0,40}?"
        r"\b(?:vorherige[nrs]?|vorige[nr]?|vorangegangenen?|bisherige[nr]?|obige[nr]?|frühere[nr]?|alle|deine|ihre)"
        r"(?:\s[\w-]{1,15}){0,2}?\s(?:\w{0,12})(?:anweisung(?:en)?|instruktion(?:en)?|regeln|befehle|vorgaben|nachrichten)\b"
        r"|\b(?:vergiss|vergessen\ssie|vergesst|ignorier(?:e|en|t)?)\salles(?:\s(?:was|oben|obige|bisherige|andere|davor|zuvor|vorherige)\b|,|\s?[.;:!\n]|\s?$)"
        r"|\btu\sso,?\sals\s(?:ob|wärst|seist|wärest)\b|\bgib\svor,?\s(?:[\w-]{1,20}\s){0,6}?zu\ssein\b",
        ("ignorier", "missacht", "vergiss", "vergess", "beachte", "tu so", "gib vor"),
        ("anweisung", "instruktion", "regeln", "befehle", "vorgaben", "nachrichten", "alles", "tu so", "gib vor"),
    ),
    # Spanish
    (
        r"\b(?:ignora[rd]?|ignore[n]?|olvida[rd]?|olvide[n]?|descarta|haz\scaso\somiso\sde|no\shagas\scaso)\b.{0,40}?"
        r"\b(?:instrucciones|reglas|indicaciones|órdenes|mensajes|directrices)(?:\s[\w-]{1,12}){0,2}?\s"
        r"(?:anteriores|previas|previos|de\sarriba|precedentes|recibidas)\b"
        r"|\b(?:olvida|olvide|ignora|ignore)\s(?:absolutamente\s)?todo\s?(?:\slo\s(?:anterior|de\sarriba|que\s(?:sabes|sepas|te|se|has))\b|[.,;:!\n]|$)"
        r"|\b(?:finge|finja|simula)\s(?:que\s(?:eres|es|no|tienes)|ser)\b|\bhaz\scomo\ssi\s(?:fueras|no|tuvieras)\b",
        ("ignor", "olvid", "descarta", "caso omiso", "no hagas", "finge", "finja", "simula", "como si"),
        ("instruc", "reglas", "indica", "órdenes", "mensajes", "directrices", "todo", "finge", "finja", "simula", "como si"),
    ),
    # Portuguese
    (
        r"\b(?:ignore[m]?|ignora[r]?|esqueça[m]?|esquece[r]?|desconsidere[m]?|desconsidera[r]?)\b.{0,40}?"
        r"\b(?:instruções|regras|ordens|mensagens|diretrizes)(?:\s[\w-]{1,12}){0,2}?\s(?:anteriores|acima|prévias|precedentes|recebidas)\b"
        r"|\b(?:esqueça|esquece|ignore)\s(?:absolutamente\s)?tudo\s?(?:\s(?:o\sque|acima|isso)\b|[.,;:!\n]|$)"
        r"|\b(?:finja|finge|fingir)\s(?:que\s(?:você|tu|és|é|não)|ser)\b",
        ("ignor", "esque", "desconsider", "finj", "fing"),
        ("instru", "regras", "ordens", "mensagens", "diretrizes", "tudo", "finj", "fing"),
    ),
    # Italian
    (
        r"\b(?:ignora(?:re|te)?|dimentica(?:re|te)?|trascura(?:re|te)?|non\sconsiderare)\b.{0,40}?"
        r"\b(?:istruzioni|regole|direttive|messaggi|indicazioni|ordini)(?:\s[\w-]{1,12}){0,2}?\s(?:precedenti|sopra|anteriori|ricevut[ei]|di\ssopra)\b"
        r"|\b(?:ignora|dimentica)(?:te|re)?\stutte\sle\s(?:precedenti\s)?(?:istruzioni|regole)\b"
        r"|\b(?:dimentica|ignora)(?:te|re)?\stutto\s?(?:\s(?:quello|ciò|quanto)\b|[.,;:!\n]|$)"
        r"|\b(?:fingi|fingete)\sdi\s(?:essere|non|avere)\b|\b(?:fai|fate)\sfinta\s(?:di|che)\b",
        ("ignora", "dimentica", "trascura", "non considerare", "fing", "finta"),
        ("istruzioni", "regole", "direttive", "messaggi", "indicazioni", "ordini", "tutto", "fing", "finta"),
    ),
    # Russian
    (
        r"\b(?:игнорируй(?:те)?|проигнорируй(?:те)?|забудь(?:те)?|не\sобращай(?:те)?\sвнимания\sна|отбрось(?:те)?)\b.{0,40}?"
        r"\b(?:предыдущие|прежние|прошлые|вышеуказанные|все|свои|ранние)(?:\s\w{1,15}){0,2}?\s(?:инструкции|правила|указания|команды|сообщения)\b"
        r"|\b(?:забудь(?:те)?|игнорируй(?:те)?)\s(?:абсолютно\s)?вс[её](?:,?\s(?:что|выше|ранее|сказанное)\b|\s?[.,;:!\n]|\s?$)"
        r"|\bпритворись(?:те)?,?\s|\bпредставь(?:те)?,?\sчто\s(?:ты|вы)\b|\bсделай\sвид,?\sчто\s(?:ты|вы)\b",
        ("игнорир", "забудь", "внимания", "отбрось", "притвор", "представь", "сделай вид"),
        ("инструкции", "правила", "указания", "команды", "сообщения", "вс", "притвор", "представь", "сделай вид"),
    ),
    # Chinese, simplified and traditional
    (
        r"(?:忽略|忽視|忽视|无视|無視|忘记|忘記|忘掉|不要理会|不要理會|不理会|抛弃)[^。!?\n]{0,12}?"
        r"(?:之前|先前|以上|前面|上面|上述|此前|所有|一切|全部|你的)[^。!?\n]{0,12}?(?:指令|指示|规则|規則|命令|提示|要求|内容|內容|设定|設定)"
        r"|(?:忘记|忘記|忘掉)(?:你)?(?:所)?(?:一切|所有|全部|知道的)"
        r"|(?:假装|假裝|装作|假扮)(?:你|自己)?(?:是|没有|沒有)",
        ("忽", "视", "視", "忘", "理会", "理會", "抛弃", "假", "装作"),
        ("指", "规", "規", "命令", "提示", "要求", "内容", "內容", "设定", "設定", "一切", "所有", "全部", "知道", "假", "装作"),
    ),
    # Japanese
    (
        r"(?:これまで|今まで|以前|前|上記|先ほど|すべて|全て|全部|あなた)[^。!?\n]{0,12}?(?:指示|命令|ルール|規則|指令|プロンプト|内容)"
        r"[^。!?\n]{0,8}?(?:無視|忘れ|破棄|従わ)"
        r"|(?:すべて|全て|全部|何もかも)(?:のこと)?(?:を)?忘れ(?:て|ろ|なさい)"
        r"|(?:ふり|振り|フリ)をし(?:て|ろ|なさい)|になりきっ(?:て|ろ)",
        ("無視", "忘れ", "破棄", "従わ", "ふり", "振り", "フリ", "なりき"),
        ("指示", "命令", "ルール", "規則", "指令", "プロンプト", "内容", "すべて", "全て", "全部", "何もかも", "ふり", "振り", "フリ", "なりき"),
    ),
)  # fmt: skip
