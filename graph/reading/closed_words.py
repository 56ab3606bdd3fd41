"""Words that only a sentence has, in English, German and French: none of them is an argument behind a program.

These classes can be listed as a whole: conjunctions, prepositions, pronouns, modal verbs, negations, contractions and
the adverbs of time, place and manner. Left out are words that are also names of programs, files or options (`up`,
`all`, `par`, `car`, `les`, `die`, `aux`), and base forms of verbs (`test`, `run`).
"""

from __future__ import annotations

import re

__all__ = ["is_closed_word", "joins_clauses"]

_CONJUNCTIONS = frozenset(
    """
    although though even albeit despite regardless irrespective notwithstanding whether whereas whereby wherein lest
    unless because since while whilst until till if when whenever wherever whichever whatever whoever however
    therefore hence thus moreover furthermore besides otherwise nevertheless nonetheless provided providing supposing
    assuming considering given seeing granted than rather nor neither either both but yet so and or
    obwohl obgleich trotzdem trotz während weil denn sondern damit sodass sofern solange sobald nachdem bevor ehe ob
    wenngleich falls wenn oder aber jedoch allerdings deshalb deswegen daher sonst ansonsten und weder entweder sowie
    bien quoique malgré puisque parce lorsque quand tandis afin pourvu sinon donc mais ou ni comme cependant
    toutefois pourtant néanmoins dès
    """.split()  # noqa: SIM905
)
_PRONOUNS = frozenset(
    """
    i we they he she it its it's you your yours my mine our ours their theirs his hers this that these those which who
    whom whose everyone everybody everything someone somebody something anyone anybody anything nobody nothing myself
    ourselves itself themselves
    ich wir ihr mein meine meinen meinem meiner unser unsere unserem unseren dein deine euer eure dieser diese dieses
    diesem diesen jeder jede jedes jedem jeden welcher welche welches jemand niemand etwas nichts alles sich uns mich
    mir euch ihnen ihm der dem
    je nous vous ils elle elles mon ma mes notre nos votre vos leur leurs ce cet cette ces ceci cela celui celle qui
    que quoi dont quelqu'un quelque chaque lequel laquelle rien personne
    """.split()  # noqa: SIM905
)
_MODALS = frozenset(
    """
    can cannot cant could would should shall will may might must ought wont dont doesnt didnt isnt arent wasnt werent
    havent hasnt hadnt shouldnt couldnt wouldnt is are was were be been being am has have had having does did doing
    kann kannst können könnte könnten konnte darf dürfen dürfte soll sollen sollte sollten muss muß müssen musste
    müsste will wollen möchte möchten mag mögen wird werden wurde wurden würde würden ist sind sei wäre wären hat
    haben hatte hätte
    peut peuvent pourrait pourraient doit doivent devrait devraient faut faudrait veut voudrais est sont était sera
    seront serait ont avait aura
    """.split()  # noqa: SIM905
)
_PREPOSITIONS = frozenset(
    """
    about above across after against along alongside amid among amongst around at before behind below beneath beside
    between beyond by concerning during except excepting excluding following for from in including inside into like
    near nearby of on onto opposite outside outwith over past per regarding respecting through throughout to toward
    towards under underneath unlike upon versus via with within without barring minus excl incl
    an auf aus außer außerhalb bei beim bis durch für gegen gegenüber hinter im innerhalb ins mit mitsamt nach neben
    ohne pro seit statt anstatt anstelle über um unter vom von vor wegen zu zum zur zwischen am aufs binnen mittels
    laut gemäß samt abzüglich
    avant après avec chez contre dans de depuis dehors derrière devant durant en entre envers excepté hormis hors
    jusque jusqu'à malgré parmi pendant pour sans sauf selon sous sur vers via moins
    """.split()  # noqa: SIM905
)
_ADVERBS = frozenset(
    """
    always never ever seldom rarely often sometimes soon sooner later earlier early late lately now today tomorrow
    tonight yesterday already again still just only also too very quite rather almost nearly perhaps maybe else
    anyway somehow somewhat altogether together apart instead meanwhile afterwards beforehand thereafter therein
    everywhere nowhere anywhere somewhere elsewhere here there far away well hardly barely not no-one none-the-less
    twice once asap please anytime anymore midnight noon
    immer nie niemals nicht kein keine keinen keinem keiner keines nur auch schon noch wieder bald später früher
    heute morgen gestern jetzt sofort gleich oft manchmal selten überall nirgends nirgendwo irgendwo woanders
    anderswo dort hier dabei dafür dazu danach davor zuerst zuletzt bitte gerne gern lieber eher möglichst mindestens
    höchstens spätestens frühestens ungefähr etwa circa ca vielleicht keinesfalls auf zusammen allein sehr ziemlich
    toujours jamais souvent parfois rarement bientôt tôt tard déjà encore aussi ensuite alors puis ici ailleurs
    partout maintenant aujourd'hui demain hier plutôt peut-être seulement uniquement exclusivement immédiatement
    rapidement pas plus environ presque seul seule ensemble vite merci svp
    """.split()  # noqa: SIM905
)
_MORE_ADVERBS = frozenset(
    """
    aboard adjacent afterward ago ahead alone alright anew anyhow anyplace aside astride atop commencing due
    enough failing gone hereby inasmuch indeed likewise longer me them oneself yourself yourselves overall
    pursuant someday sometime such thence thereby thereupon unto us whatsoever whence why what how upfront
    hopefully beforehand forthwith excluded disallowed prohibited forbidden permitted required wanted desired
    expected allowed preferred needed unwanted undesired
    abends abseits als andernfalls anfangs angesichts anhand aufgrund ausgenommen außerdem beinahe bereits
    besonders bestenfalls bisher dadurch dagegen dahin damals dann daran darauf darum darüber dennoch doch
    draußen drinnen eben ebenfalls ebenso eigentlich einfach einige endlich entlang erneut erst erstmals
    folglich ganz gelegentlich gemeinsam genau genug gewiss gleichzeitig hauptsächlich hingegen immerhin indem
    infolge insbesondere insgesamt inzwischen irgendwann jedenfalls jederzeit jemals jenseits kaum keineswegs
    knapp künftig langsam lediglich leider letztlich mehr mehrmals mithilfe mitten mittlerweile nachts nahe
    nämlich nebenbei nochmals normalerweise notfalls plötzlich schnell schließlich seitdem selbst sogar somit
    sooft sowieso sowohl stattdessen stets täglich teilweise tagsüber überhaupt übrigens umso unbedingt
    ungeachtet ungern unterdessen unterhalb oberhalb vorab voraussichtlich vorbei vorher vorläufig vormittags
    nachmittags mittags wahrscheinlich wann warum weiterhin wenigstens weshalb wiederholt wohl womit wobei
    zeitgleich zudem zufolge zugleich zumal zumindest zunächst zurück zusätzlich zuvor zwar zwischendurch
    erlaubt verboten gewünscht erforderlich nötig
    actuellement ainsi assez aucun aucune auparavant auprès auquel aussitôt autant autour autrefois autrement
    beaucoup certainement chacun chacune combien comment concernant davantage debout dedans désormais dessous
    dessus dorénavant également enfin exprès facilement finalement là lentement loin longtemps lors même mieux où près
    notamment outre peu plusieurs pourquoi probablement quelquefois sitôt soudain suivant surtout tant tellement
    très trop voici voilà volontairement vraiment interdit autorisé souhaité requis nécessaire
    """.split()  # noqa: SIM905
)
_VERB_FORMS = frozenset(
    """
    fails crashes writes creates produces ends finishes begins completes succeeds becomes hangs exits consumes
    allocates occupies seems depends allows reads generates loads saves stops waits goes comes gives makes keeps
    means lets says belongs remains happens behaves contains includes provides receives sends performs computes
    calculates simulates solves tells takes uses needs wants requires gets runs starts works lasts expects
    needing requiring taking using lasting consuming avoiding depending starting beginning ending finishing allowing
    preferring expecting hoping wanting
    scheitert schreibt liest erzeugt endet beginnt braucht benötigt dauert läuft startet rechnet nutzt verwendet
    échoue écrit produit nécessite utilise tourne démarre commence finit dure
    """.split()  # noqa: SIM905
)
_ALSO_NAMES = frozenset(("even", "an", "in", "of", "ma", "will", "de", "en", "hier", "well", "late", "early", "minus"))
"""Words that other rules end a command at, or that stand as arguments as often."""
_CLOSED = (_CONJUNCTIONS | _PRONOUNS | _MODALS | _PREPOSITIONS | _ADVERBS | _MORE_ADVERBS | _VERB_FORMS) - _ALSO_NAMES
_BEFORE_A_WORD = frozenset(
    (
        "the", "off", "out", "down", "even", "an", "in", "of", "de", "en", "exclude", "avoid", "late", "early", "well",
        "any", "some", "same", "more", "less", "fewer", "much", "many", "several", "whole", "long", "next", "last",
    )
)  # fmt: skip
"""Words of a sentence where another word stands behind them (`off titan`, `the same way`, `even if`)."""
_MANNER = re.compile(r"[a-zé]{3,}(?:[^\W\d_]ly|ically)")
_NO_MANNER = frozenset(
    (
        "apply", "reply", "supply", "multiply", "comply", "imply", "assembly", "reassembly", "disassembly", "family",
        "anomaly", "butterfly", "firefly", "july", "poly", "italy", "daily", "weekly", "monthly", "yearly", "hourly",
    )
)  # fmt: skip
_CONTRACTION = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*['’][^\W\d_]+")  # noqa: RUF001  # as typed
_SHORTENED = re.compile(
    r"[a-z]{2,6}n['’]t|(?:i|we|you|he|she|it|they|that|there|what|who|let|here)['’][a-z]{1,2}"  # noqa: RUF001  # as typed
    r"|(?:[djlmnst]|qu|jusqu|lorsqu|puisqu)['’][^\W\d_]+"  # noqa: RUF001  # as typed
)
"""Contractions, but no names (`O'Brien`), which an option can have."""
_SHOUTED = 5
"""So long a word in capitals is shouted, and no name."""
_JOINING = (_MODALS | _CONJUNCTIONS) - _ALSO_NAMES - {"either", "both", "given", "ou", "ni", "mag", "sei", "none"}


def is_closed_word(word: str, following: str) -> bool:
    """Whether a word behind a command belongs to the sentence: a word of a closed class, or a contraction."""
    if word.isupper() and 1 < len(word) < _SHOUTED and not following.isupper():
        return False  # `./x CAN`, `./x US`
    low = word.lower()
    if low in _CLOSED or _CONTRACTION.match(low) is not None:
        return True
    if (low in ("other", "others") and following.lower() == "than") or (low == "up" and following.lower() == "to"):
        return True
    if low in _BEFORE_A_WORD:
        return re.match(r"[^\W\d_]", following) is not None
    return _MANNER.fullmatch(low) is not None and low not in _NO_MANNER


def joins_clauses(word: str) -> bool:
    """Whether no option has a word as its value: a conjunction, a modal verb or a contraction."""
    if word.isupper() and len(word) > 1:
        return False
    low = word.lower()
    return low in _JOINING or _SHORTENED.fullmatch(low) is not None
