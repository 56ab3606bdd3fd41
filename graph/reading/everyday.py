"""Words of everyday sentences: verbs, nouns and adverbs with which people tell why, for whom and how nicely.

By themselves they ask a site for nothing. Words that can (`free`, `shared`, `license`, `database`, `offline`) are not
here, nor is any word that turns a sentence round (`not`, `without`, `except`).
"""

from __future__ import annotations

__all__ = ["EVERYDAY"]

_WORDS = """
    aber accept acceptable accepted according achieve actual actually add added adding advance advice aim aims ainsi
    allocate allowed alone along alors already also alternative alternatively although always amount analyse
    analysed analyses analysing analysis analyze analyzed analyzing anbei answer anybody anyone anything anyway
    apparently appreciate appreciated arrange arranged article ask asked asking asks assemble assembled assembling
    assembly assign attempt auch aus aussi auswertung avez avoir avons aware away awful bad basically beantrage
    beantragen beaucoup became become becomes begin beginning begins behalf behave behaves bekommen believe belong
    belongs besides beträgt blow board bon bonne boss bother bought braucht brauchte bright bring brings brought
    building built busy calcul calculate calculated calculating calculs calibrate calibrated calibration call calls
    came campaign car care careful careless carried cases cause ce ceci cela certain certainly ces cet cette chacune
    chance chapter check checked checking chew chez chimie choice chose chosen client clients close closes come
    comes coming comme comment compare compared comparing comparison complain complaining complete completed
    completely computed concern concerned conclude conference connect connects consider considered consist consists
    contact continue continues convenient cope corrected count counts couple course cover covering crashed crew
    crunch curious currently customer customers dabei damit dann dass dauer dauert daughter dazu deal decide decided
    delay deliver delivered demande demo department depends deren describe described deshalb desk details develop
    developed developer developing devrait different difficult dire director discuss discussed discussion dispatch
    distribute doctor doctorant doctorante doing donc dort duration eager earlier easily easy eat eats effort eilt
    einfach either elapse elapsed employ encore end ended engineer engineers enjoy ensure entirely entre equip
    equipped ergibt error es especially essential est et etwas even event eventually everybody everything exactly
    example excited exciting executes exercise exist exists experiment experiments explain exploit explore extra
    extremely fact fair faire fairly fait fall familiar family fantastic favor favour feel feels fehlt fichiers
    figure figured figures fill final finally finance finish finished finishes finishing fit fits fitted follow
    followed forecast forecasts foremost foresee foreseen forever forget forgive forward forwarded freigabe friend
    friends frozen fun future führt gather general generally generate generated gets getting gibt girl given glad
    goal gone grant grateful guess guy guys haben habit halt hand handed handle handled happen happened happens
    happily happy hardly hat he hear heard heavy heißt hence her hers herself hier hiermit highly him himself hint
    hinweis his hoffe holds holiday holidays honest honestly hopefully hospital host hosts however huge humming
    hurry ici idea ideal ihr ihre ihrem ihren ils imagine immer important improve including increase indeed index
    indispensable industry indépendantes indépendants inform information initial insist inspect instance instances
    institute institution instructions intend intended intends interest interested interesting introduce investigate
    investigating investigation issue issues ist it'd it'll itself j'ai j'aurais ja je jedoch jemand join joined
    journal keeps kept kick kid kids kindness klassifizierung knew knows kollege kollegen kollegin kommen kostet
    können könnt könnte könnten lab label laboratory lack laptop largely lately launched lay lead leading learn
    learned learning leave leaves lecture led left leider lesson letter leur level lie lies life likely limited
    listed little live lives long long-running longer look looked looks loose lors lorsque lose losgehen lost lovely
    luckily lucky là mache machen main mainly mais man manage manager managing matches matter matters meaning means
    meant meanwhile measure measured measures meet meeting mehrere member members mention mentioned merely message
    met method methods mieux mind mir mission mistake mistakes mit modèle moment mostly mounted move moved moves
    myself même möglich namely ne nearly necessarily necessary nobody noch none notamment note noted notes nothing
    notice noticed nouveau novice nun nämlich ob obtain obtained obvious obviously occasion occupied occupies occupy
    occur offer offered offers office oft often operate operated operation operational opinion ordinary organise
    organize ought ourselves outcome own owner où pain parce particular particularly partner party pass passed past
    patience patient patients pay paying people perfect perfectly performed person peu peut phase phd physique
    picture pictures pity placed planned plans plaît pleasant pleased pleasure plot plots plus plusieurs point
    points polite poor position post-doc postdoc postprocessing pourquoi pourrait pourriez pourriez-vous practical
    practice precise precisely prefer preferable preferred premier première preparation prepare prepared
    preprocessing presence present presentation presented presumably pretty previous price priced principle pro
    probably problem problems procedure prochain produce produced produces production professor projekt proper
    properly proposal proposals propose prove provide provided provides providing publication publish puis pull
    purpose purposes push quand quarter que quel quelle question questions qui quiet quietly range raw reach reached
    read reader reading reads real realise realize reason reasons recall receive received recent recently recommend
    recommended redo reduce refaire refer referee referees regard regarding regardless regression reichen reicht
    related remain remains remarkable remember remind replace reply report reported reports represent research
    researcher researchers rest resulting retired retrieve returned review reviewer reviewers reviews revise revised
    revision rien right risk rough route routine rule réseau s'il said sake salute satisfied saw say saying says
    scale scan scans schedule schon school science scientist scientists season secretary section see seem seemed
    seems seen sehr seine seit selbst select selected semester seminar send sending sense sent sera serait series
    serious seront serve service ses session sets setting settings shall share she shortly show showing shown shows
    si sich sie sign silly simulate simulated simulating sind sinon sit sits situation sketch slow slowly smooth
    soirée soit sollten solution solve solved solving somehow sometimes somewhat son sonst sont soon sound sounds
    source souvent special specific specifically spend spent spills spring stand standard state stated stay step
    steps stick story strange strongly stuck studied studies study studying stuff stupid style subject submission
    succeeded suche suffisent suffit suggest suggested suis suit suitable suited suits summer supervisor supply
    surely surprise survey suspect swamped système talk talks target teach teacher teaching technical technique
    tells term terminer terribly tested testing that'll theirs them themselves theory there'll there's therefore
    thesis they're they've thing things think thinks thought throw thrown thèse timing tired title told took topic
    touch toujours tourner tous tout toute toutes toward towards track train trained training trains treat trial
    tricky trigger trip trouble true truly trust truth très turn turned typical unable unfortunately unique unit
    university uns useful usually vacation valid validate validated validation value values various verify vers
    vielleicht view visit visitor vital voici voilà vom vos votre vouloir vous wait waiting waits walk wann warm
    warten warum was watch wave ways we'll weather website weil weird welche welcome wenn went werden whatever
    wherever whether whichever who's whom wie wieder willing winter wird wirklich wish wished wishes wo wollen
    wollte woman won word worden words worked workflow workflows workshop world worry worst worth write writes
    writing wrong wrote wurde während wäre wären y yes yesterday's yet young yourself zuerst zuletzt zurückholen
    zwar à ça étude über übrigens
"""
EVERYDAY = frozenset(_WORDS.split())
