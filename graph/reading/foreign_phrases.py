"""German and French turns of phrase of several words, in the English ones that the other rules know.

Single words are in `lexicon.py`. A phrase is here where its words, one by one, would say something else (`eilt nicht`,
`file d'attente`) or stand in another order (`disque local`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["foreign_phrases"]

_DOTTED = (
    r"(?!\d{1,2}\.\d{1,2}\.20\d\d)v?\d+(?:\.\d+)+(?![.\d])"
    r"(?! ?(?:[kmgt]i?[bo]|h|std|stunden?|heures?|uhr|jours?|tagen?|€|eur|%)(?!\w))"
)
"""A version, no date, hour or amount."""
_COUNT = (
    r"(?:\d|ein|eine|einen|einem|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf|une?|deux|trois|quatre|cinq"
    r"|six|sept|huit|neuf|dix|douze)(?![a-zà-ÿ])"
)
_WHOLLY = r"(?:(?:überhaupt|gar|absolut|wirklich|auch|ja|aber|so|sehr|besonders|unbedingt) ){0,3}"
_IT = r"(?:(?:er|sie|es|der|die|das|dieser|diese|dieses) )?(?:(?:job|lauf|rechnung|auftrag|simulation) )?"
_SOFTLY = r"(?:(?:dann|gern|gerne|ruhig|auch|automatisch|einfach|bitte|jederzeit) ){0,3}"
_OUTCOME = r"(?:ergebnis|ausgang|erfolg|ausgangs|erfolgs|ergebnisses)"
_GPU = r"(?:gpus?|grafikkarten?|cartes? graphiques?)"

_PHRASES: tuple[tuple[str, str], ...] = (
    # Versions
    (rf"(?:mindestens|ab|minimal) (?:in )?(?:der )?(?:version|fassung)(?= v?\d)|(?:à partir de|dès|depuis|au moins)"
     rf" (?:la |sa |en )?version(?= v?\d)|(?:à partir de|dès|depuis)(?= {_DOTTED})", "at least version"),
    (rf"(?:von|ab)(?= {_DOTTED} (?:aufwärts|an)(?![\w-]))", "at least version"),
    (r"(?<=\d )(?:oder|ou|et|und) (?:höher|neuer|neuere|später|jünger|spätere|aufwärts|plus récente?|plus nouvelle"
     r"|supérieure?|ultérieure?|postérieure?)(?![\w-])(?! (?:de|à|als))", "or newer"),
    (r"(?<=\d )(?:oder|ou|et|und) (?:älter|ältere|früher|antérieure?|plus anciennes?)(?![\w-])", "or older"),
    (r"(?:supérieure?|postérieure?)s? ou égale?s? à", "at least"),
    (r"(?:inférieure?|antérieure?)s? ou égale?s? à", "at most"),
    (rf"(?:mais |et |aber |und )(?:strictement |noch )?(?:(?:inférieure?|antérieure?) à|kleiner als|älter als|unter|vor"
     rf"|avant)(?: (?:la|der) version| version)?(?= (?:{_DOTTED}|\d{{1,2}}(?! ?[\w%€.:])))", "and below"),
    # Wishes
    (rf"(?:{_IT}|ça )(?:eilt|pressiert|drängt) {_WHOLLY}nicht(?: so| sehr)?"
     rf"|{_IT}(?:ist|wäre) {_WHOLLY}nicht {_WHOLLY}(?:eilig|dringend|zeitkritisch)"
     rf"|(?:{_IT}|das ganze )hat (?:noch |viel |alle |genug |ruhig )*zeit(?! (?:bis|zum|von|für)(?!\w))"
     r"|(?:(?:ça|ce|cela|il|elle) )?(?:ne |n')(?:presse|est|sont) (?:vraiment |absolument )?(?:pas|en rien)"
     r"(?: (?:du tout|trop|très|vraiment))?(?: (?:urgente?s?|pressée?s?))(?! que)|(?:ça|cela|rien) ne presse(?: pas)?"
     r"|(?:sans (?:aucune )?|pas d')urgence|pas (?:du tout |si |très )?(?:pressée?|urgente?)", "no hurry"),
    (r"(?:wann immer|wenn|falls|quand|lorsque|dès lors que|whenever)(?: (?:gerade|mal|irgendwo|irgendwann|eben|wieder"
     r"|bei (?:euch|ihnen)))* (?:platz|luft|kapazität(?:en)?|etwas frei|was frei|ruhe|il y (?:a|aura) de la place"
     r"|il y (?:a|aura) (?:un )?(?:créneau|trou)|la machine (?:est|sera) (?:libre|calme))(?: frei| vorhanden| da)?"
     r"(?: (?:ist|wird|sind|herrscht))?", "whenever there is room"),
    (r"(?:am wenigsten|möglichst wenig|so wenig) (?:energie|strom)(?: wie möglich)?(?: (?:verbraucht|braucht|benötigt"
     r"|kostet))?(?: (?:wird|werden))?|(?:consommer?a?|utiliser?a?|dépenser?a?) le moins (?:possible )?(?:d'énergie"
     r"|d'électricité|de courant)(?: possible)?|le moins (?:d'énergie|énergivore)(?: possible)?"
     r"|(?:la|le) plus (?:sobre|économe)(?: en énergie)?", "least energy"),
    (r"(?:wenn|falls|sofern|si) (?:(?:das|es|dies|ce|cela|ça) )?(?:nicht|n'est pas|n'était pas|kein)"
     r"(?: (?:möglich|geht|klappt|frei|verfügbar|possible|faisable|libre|disponible))(?: ist| sein sollte| wäre)?"
     r"|(?:wenn|falls) (?:das|es|dies) nicht (?:geht|klappt|möglich ist)", "if not possible"),
    (r"(?:wenn|falls|soweit|sofern)(?: es)?(?: irgend)? möglich(?: ist| wäre)?|nach möglichkeit|idealerweise"
     r"|si (?:c'est |cela est )?possible|dans la mesure du possible", "if possible"),
    (r"am liebsten|vorzugsweise|bevorzugt|de préférence|idéalement", "preferably"),
    (rf"(?:ersatzweise|hilfsweise|notfalls|zur not|andernfalls|ansonsten|sonst|wenn nicht,? dann|à défaut,?|sinon"
     rf"|faute de quoi,?)(?: (?:gehen|geht|gingen|ginge|reichen|genügen|wären|tun es|tut es|täten es|iraient"
     rf"|suffiraient))?"
     rf"(?: auch| eben| aussi)?(?= (?:(?:auf|mit|sur|avec|auch|eben|bien) )?{_COUNT})", "otherwise"),
    (rf"(?:oder )?alternativ(?: auch)?(?= (?:(?:auf|mit) )?{_COUNT})|(?:ou )?alternativement", "or"),
    # Bounds
    (r"au lieu (?:de|des|du)|en lieu et place de", "instead of"),
    (r"(?:ne |n')(?:(?:doit|devra|devrait|peut|pourra|va) )?(?:pas |jamais |point )?(?:dépass|excéd)(?:er|era|e|ent"
     r"|eront|erait)?(?: (?:pas|jamais))?(?= (?:les )?\d)|sans (?:dépasser|excéder)(?= \d)", "at most"),
    (r"höchstens aber", "but at most"),
    (r"dépend(?:ent|ra)? d(?:u|es|e)(?= (?:job|travail|calcul))", "depends on"),
    (r"au maximum", "at most"),
    (r"au minimum", "at least"),
    (r"(?:estimée?|fixée?|limitée?|évaluée?)s? à(?= \d)", "of"),
    (r"nicht (?:über|länger als|mehr als)(?= \d)|keinesfalls (?:über|länger als|mehr als)(?= \d)", "at most"),
    (r"nicht (?:unter|weniger als)(?= \d)|pas moins de(?= \d)", "at least"),
    (r"pas plus (?:de|longtemps que)(?= \d)", "at most"),
    # Jobs that are waited for, and starts
    (r"une fois que(?= )", "once"),
    (r"(?:qu'|seulement |uniquement )?après (?:la )?(?:fin réussie|réussite|bonne fin|fin (?:avec|en) succès) d(?:u|es"
     r"|e)"
     r"(?= )", "after successful completion of"),
    (r"(?:qu'|seulement |uniquement )?après (?:la )?(?:fin|terminaison) d(?:u|es|e)(?= (?:job|travail|calcul))",
     "after completion of"),
    (r"(?:durch|(?<!erfolgreich )(?:fertig|beendet|abgeschlossen|durchgelaufen|zu ende)) (?:ist|sind)", "is finished"),
    (r"en parallèle", "in parallel"),
    (r"heures? gpu", "gpu-hours"),
    (r"heures? (?:cpu|cœurs?|coeurs?)", "core-hours"),
    (r"heures? nœuds?", "node-hours"),
    (r"(?<=\d )(?:exécutions|lancements|tirages|passages)(?= (?:de|du|d') ?)", "runs"),
    (r"(?:qu'(?:il|elle) ait (?:réussi|abouti|échoué|planté)(?: ou (?:non|pas|échoué|réussi))?"
     r"|quel(?:le)? que (?:soit|sera) (?:son|sa|le|la|l') ?(?:résultat|issue|état|état final|succès)"
     rf"|(?:ganz )?unabhängig (?:vom|von dessen|von seinem|von deren|von ihrem) {_OUTCOME}|ungeachtet (?:des|seines)"
     rf" {_OUTCOME}|(?:ganz )?(?:gleich|egal),? wie (?:er|es|sie) (?:ausgeht|endet|ausgegangen ist|ausging)"
     r"|(?:ganz )?(?:gleich|egal|gleichgültig),? ob (?:(?:er|es|sie|das|mit|ohne|erfolgreich|gut|oder|nicht|fehler"
     r"|fehlern|erfolg|misserfolg|scheitert|klappt|geklappt|fehlgeschlagen|gescheitert|war|ist|hat|endet|läuft"
     r"|durchläuft|fehlschlägt) ?){1,6}(?= ?[,.;!)\n\u2013\u2014]|$))", "whatever its outcome"),
    (r"(?:falls|wenn|sollte) (?:mal |unterwegs |zwischendurch )?ein(?:er der)? (?:rechen)?knoten "
     r"(?:ausfällt|ausfallen(?: sollte)?|abstürzt|stirbt|wegbricht|ausfiele|wegfällt|kaputtgeht)"
     r"|si (?:jamais )?un (?:des )?(?:nœud|noeud)s? (?:tombe|tombait|plante|lâche|meurt|est perdu)(?: en panne)?"
     r"|en cas de (?:panne|perte) d'un (?:nœud|noeud)", "if a node fails"),
    (rf"(?:darf|kann) {_IT}{_SOFTLY}(?:neu|wieder|erneut|noch einmal|nochmal) (?:eingereiht|gestartet|eingestellt"
     r"|angestellt|aufgesetzt) werden|(?:peut|pourra) être (?:automatiquement )?(?:relancée?|redémarrée?"
     r"|resoumise?|remise? (?:en|dans la) (?:file|queue))(?: d'attente)?(?: automatiquement)?"
     r"|(?:wieder|neu)?einreihen (?:ist )?erlaubt|neustart(?: nach (?:einem |knoten)?(?:ausfall|absturz|fehler"
     r"|knotenausfall))? (?:ist |wäre )?(?:erlaubt|in ordnung"
     r"|ok|okay|möglich|erwünscht)", "requeueing is fine"),
    (rf"(?:darf|kann|soll) {_IT}{_SOFTLY}(?:nicht|keinesfalls|auf keinen fall) {_SOFTLY}(?:neu|wieder|erneut|noch"
     r" einmal) (?:eingereiht|gestartet|eingestellt) werden|ne (?:peut|doit|pourra) (?:pas|jamais) être (?:relancée?"
     r"|redémarrée?|resoumise?|remise? (?:en|dans la) (?:file|queue))", "do not requeue"),
    (r"ne (?:relancez|redémarrez|resoumettez|relancer|redémarrer) (?:pas|jamais)(?: (?:le|la|ce) (?:job|calcul|tâche))?"
     r"|ne pas (?:relancer|redémarrer|resoumettre)|(?:bitte )?kein(?:en)? neustart|nicht (?:automatisch )?(?:neu"
     r"|erneut|wieder)"
     r" (?:starten|einreihen|anwerfen)", "do not requeue"),
    # Places
    (r"(?:scheidet|fällt)(?: (?:leider|hier|für uns|diesmal))? (?:aus|weg|flach)|kommt (?:für uns "
     r"|hier )?nicht in (?:frage"
     r"|betracht)|ist (?:tabu|ausgeschlossen|gesperrt)|est (?:exclue?|hors de question|à éviter|proscrite?|à exclure)"
     r"|ne (?:convient|va) pas(?= ?[,.;!\n])", "is ruled out"),
    (r"surtout pas (?:de|sur|chez|à)|surtout pas(?= \w+ ?[,.;!])|auf keinen fall auf", "not on"),
    # Things of the field
    (rf"{_GPU} (?:brauch\w+|benötig\w+) (?:(?:wir|ich|es|man|er|sie) )?(?:dafür |hier |dazu )?(?:keine?|nicht)"
     rf"|{_GPU} (?:(?:werden|sind|wird|ist) )?(?:hier |dafür )?(?:nicht|keine) (?:benötigt|gebraucht|nötig|erforderlich"
     rf"|notwendig)|(?:pas (?:besoin )?de|aucune?) {_GPU}(?: nécessaires?)?"
     rf"|{_GPU} (?:inutiles?|non nécessaires?)", "no gpus"),
    (r"files? d'attente", "queue"),
    (r"(?:fichier|donnée)s? d'entrées?", "input file"),
    (r"fichiers? de sortie", "output file"),
    (r"fichiers? (?:de )?résultats?", "result file"),
    (r"(?:système|systeme)s? de fichiers?", "file system"),
    (r"(?:d')?espace disque local", "local disk space"),
    (r"cartes? graphiques?|cartes? gpu", "gpus"),
    (r"mémoire (?:vidéo|gpu|graphique)", "gpu memory"),
    (r"disques? loca(?:l|ux)|espace (?:disque )?local", "local disk"),
    (r"(?:d')?espace (?:disque )?libre(?: sur)?(?= (?:le |la |les |chaque )?disques? loca)", "free space on"),
    (r"(?:de |d')?espace disque(?: libre)?", "disk space"),
    (r"(?:auf|an) der lokalen (?:fest)?platte", "on the local disk"),
    (r"mémoire vive", "ram"),
    (r"pour mémoire|pour info(?:rmation)?|zur info(?:rmation)?", "fyi"),
    (r"centres? de coûts?", "account"),
    (r"(?:une petite|eine knappe|eine kleine) (?:heure|stunde)", "1 hour"),
    (r"zu je(?:weils)?(?= (?:(?:mindestens|höchstens) )?\d)", "with each"),
    (r"variables? d'environnement", "environment variable"),
    (r"en (?:mode )?exclusi(?:f|vité)|en exclusivité|zur alleinigen (?:nutzung|verfügung)|exklusiv für (?:uns|mich)",
     "exclusive"),
    (r"zur gleichen zeit|zur selben zeit|en même temps|à la fois|simultanément", "at the same time"),
    (r"par pas de(?= \d)|avec un pas de(?= \d)|(?:in|mit) (?:schritten von|(?:einer )?schrittweite)(?= \d)",
     "in steps of"),
    # Results
    (r"zurück (?:hätte|möchte|will|brauche|bräuchte|brauchen|möchten|hätten|wollen) (?:ich|wir)(?: gerne?)?"
     r"(?: (?:bitte|nur))?(?: haben)?|(?:zurück|zurückzuholen|zurückholen)(?= ?:)|à (?:rapatrier|récupérer|ramener"
     r"|renvoyer)(?= ?:)"
     r"|(?:(?:je|nous) (?:voudrais|veux|souhaite|souhaiterais|voudrions|souhaitons) |j'aimerais |merci de |à )?"
     r"(?:récupérer|rapatrier|ramener|rapporter|me renvoyer|nous renvoyer)(?= (?:[\w*./-]*\w\.\w|(?:le |les"
     r" )?fichiers? ))",
     "bring back"),
    (r"(?:zurückholen|zurückkopieren|zurückbringen|zurückschicken|zurücksenden|zurückgeben|zurück(?:geholt|kopiert"
     r"|gebracht|geschickt)(?: werden)?)(?= ?(?:[.,;!)\n]|$))", "to be brought back"),
)  # fmt: skip
_RULES = tuple((re.compile(rf"(?i)(?<![\w'-])(?:{words})(?![\w-])"), norm) for words, norm in _PHRASES)
_NO_LONGER = re.compile(
    rf"(?i)(?<![\w-])(?P<more>(?:länger|mehr) als)(?= {_COUNT}(?:[^.;!?\n,]|[.,]\d){{1,40}}? (?:läuft|dauert|braucht"
    rf"|darf"
    r"|soll|sollte|wird|kostet)(?![\w-])[^.;!?\n]{0,40}?(?<![\w-])(?P<not>nicht)(?! (?:mehr|nur))(?![\w-]))"
)
"""`mehr als 9 Stunden dauert das nicht`: a bound, whose denial stands at the end."""
_DAYS = re.compile(r"(?i)(?<![\w.,:/-])(?P<d>\d{1,3}) ?j(?:ours?)?(?:,| et)? (?P<h>\d{1,2}) ?h(?:eures?)?(?![\w:])")
_SHORT_DAYS = re.compile(r"(?<![\w.,:/-])(?P<d>\d{1,3}(?:,\d)?) ?j(?![\w.':-])")
_HOURS = re.compile(
    r"(?i)(?<![\w.,:/-])(?P<h>\d{1,2}|une) heures? (?P<m>[1-5]\d)(?: ?(?:minutes?|mn|min))?(?= ?(?:[.,;!)\n]|$))"
)
_OPENING = "([{\"'«“„*"


def foreign_phrases(text: str) -> Iterator[tuple[int, int, str]]:
    """Phrases of a German or French text, each with its place and the English for it."""
    text = text.replace("\u2019", "'")
    for rule, norm in _RULES:
        for match in rule.finditer(text):
            yield _with_opening(text, *match.span(), norm)
    for match in _NO_LONGER.finditer(text):
        yield _with_opening(text, *match.span("more"), "at most")
        yield _with_opening(text, *match.span("not"), "then")
    for match in _DAYS.finditer(text):
        yield _with_opening(text, *match.span(), f"{match['d']} days {match['h']} hours")
    for match in _SHORT_DAYS.finditer(text):
        yield _with_opening(text, *match.span(), f"{match['d']} days")
    for match in _HOURS.finditer(text):
        hours = match["h"] if match["h"].isdigit() else "1"
        yield _with_opening(text, *match.span(), f"{hours} hours {match['m']} minutes")


def _with_opening(text: str, start: int, end: int, norm: str) -> tuple[int, int, str]:
    """The place from the beginning of its word on: brackets and quotation marks before it are kept."""
    first = start
    while first > 0 and text[first - 1] in _OPENING:
        first -= 1
    return first, end, text[first:start] + norm
