"""Words that can state a requirement, or turn one round: none of them is passed over where no rule read it.

They stand in their base forms, in English, German and French. Beside them the closed words of the three languages count
(`not`, `until`, `sans`), but for those that only point, link or make a verb of another time.
"""

from __future__ import annotations

from graph.reading.lexicon import FUNCTION_WORDS, KEYWORDS, NUMBER_WORDS, UNIT_WORDS

__all__ = ["BEARING", "HOW_IT_WAS", "LOOSE", "SCORN", "TIMES", "TURNING"]

TURNING = frozenset(
    """
    not no never none nor neither without except only but unless until till before after more less fewer fewest other
    another else otherwise or either instead rather maybe perhaps possibly ideally preferably same again both each per
    every least most beyond against any all if unless provided while during alternatively optionally avoid exclude
    impossible forbid forbidden prohibit ban reject refuse skip drop cancel disregard ignore stop wrong correction
    correct must mustn't don't doesn't isn't aren't can't won't cannot shouldn't wouldn't nothing nobody nowhere
    nicht ohne kein keine keinen keiner keinem keines nie niemals nur außer bevor vor nach mehr weniger statt sondern
    oder entweder weder bis solange falls wenn sonst egal gleich andere anderer anderes anderen
    ne pas sans sauf seulement uniquement jamais aucun aucune plutôt avant après jusque jusqu'à moins plus ou ni sinon
    autre autres même pareil
    """.split()  # noqa: SIM905
)
"""Words that turn a sentence round, bound it, or choose in it."""

_TIMES = """
    today tomorrow tonight yesterday christmas easter xmas week weekend month night nightly overnight evening
    morning afternoon noon
    midnight monday tuesday wednesday thursday friday saturday sunday january february march april june july august
    september october november december daily weekly date deadline due early earliest late
    latest soon soonest now immediately instantly once twice thrice quick quickly fast fastest slow long longest short
    shortest duration time period slot moment schedule holiday daytime working-hours hurry rush urgent urgently
    priority asap continuous continuously permanent permanently periodic recurring hourly monthly shift
    montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag januar februar märz juni juli oktober
    dezember
    weihnachten ostern silvester neujahr feiertag lundi mardi mercredi jeudi vendredi samedi dimanche janvier février
    avril juin juillet août septembre octobre novembre décembre noël pâques
    heute morgen gestern woche wochenende monat jahr nacht nachts abend abends täglich datum
    frist früh spät bald sofort eilig eile dringend schnell langsam lange kurz dauer zeit einmal zweimal mehrmals
    aujourd'hui demain hier semaine mois nuit soir matin midi minuit date délai tôt tard bientôt urgent vite
    rapide rapidement lent long court durée temps fois
"""
_AMOUNTS = """
    half quarter third double triple dozen pair couple
    percent bound cap ceiling maximum maximal minimum minimal max min limit unlimited exact exactly total sum equal
    multiple plenty enough large small high low fat thin
    halb doppelt dutzend paar einige mehrere hundert tausend grenze genau groß klein hoch niedrig viel wenig
    moitié demi double douzaine plusieurs quelques cent mille limite plafond exact grand petit haut bas
"""
_LOOSE = """
    several few handful dozen hundred thousand million billion large larger small smaller big bigger high higher low
    lower fat thin thick old older new newer early earlier late
    later long longer short shorter fast faster slow slower quick quicker single common together independent total
    sum language power pressure water centre center hospital library building country region
    local public national laptop workstation computer desktop phone purse machine board box light chain plugin
    script programme
    einige mehrere groß klein hoch niedrig alt neu gemeinsam sprache land leistung rechner
    plusieurs quelques grand petit haut bas vieux nouveau langage pays ordinateur
"""
_MACHINES = """
    accelerator adjacent alike architecture arm bandwidth bare-metal board box cable cache card chip chiplet cluster
    computer cooling
    cool core cpu disk drive driver drive ethernet fabric firmware fpga frequency gpu graphic graphics hardware host
    hyperthread hyperthreading instance interconnect kernel laptop latency link locality login machine mainframe
    memory node numa partition power processor rack ram rank scratch server socket ssd storage supercomputer swap
    switch system tape tensor thread throughput topology tpu turbo vector virtual workstation x86 intel amd nvidia
    water
    homogeneous heterogeneous identical isolate isolation alone undisturbed quiet solitary neighbour neighbor company
    diskless
    rechner rechenzentrum knoten kern karte grafikkarte prozessor speicher arbeitsspeicher platte festplatte netz
    netzwerk server gerät schrank strom energie leistung
    ordinateur calculateur nœud cœur carte processeur mémoire disque réseau serveur machine énergie courant
"""
_PROGRAMS = """
    app application binary build compile compiler container docker executable image install installation interpreter
    language launcher library licence license module package program python release runtime
    shell software solver-version source static statically dynamic debug debugger token tool toolchain toolkit version
    openmp mpi cuda rocm oneapi virtualenv conda pip spack apptainer singularity podman
    programm anwendung bibliothek lizenz modul paket skript sprache werkzeug fassung
    programme logiciel bibliothèque licence module paquet langage outil jeton
"""
_JOBS = """
    ahead overtake signal terminal prompt screen display debugger gui keyboard fortnight
    abort account admin allocation array automatic automatically batch begin block budget burst cancel
    class colocate command component concurrent concurrently constraint container copy cost credit dedicated default
    delete email e-mail sms depend dependency dependent element entry exclusive exclusively exit export fail failure
    feature finish
    fixed follow guarantee hold independent index interactive interactively interrupt job kill launch mail mode
    monitor name notify notification option order parallel pin placement policy preempt preemptible
    preemption prefer preference preferred process prolog qos queue quota rate region repeat requeue rerun
    reservation reserve resource resume retry restart root row run sequential sequentially serial share shared
    simultaneous simultaneously single spot spread stage standby start state step submit suspend task terminate
    throttle together topology type unit user wait window workflow worker zone
    auftrag aufgabe befehl konto projekt projektkonto warteschlange lauf läufe start neustart reihenfolge abbrechen
    warten wiederholen fehlschlagen gemeinsam gleichzeitig nacheinander
    tâche commande compte projet file lancement redémarrage ordre annuler attendre répéter échouer
    simultanément
"""
_PLACES = """
    itar hipaa act law legal lawyer consent health record
    abroad access air-gapped anonymous anonymised anonymized archive backup bucket building centre center certified
    certificate classified classify cloud compliance compliant confidential confidentially confidentiality continent
    copied copy country database dataset delete directory download drive embassy encrypt encryption eu
    europe export external file filesystem firewall folder gateway gdpr germany hospital in-house input internal
    internet isolate jurisdiction local locally location mirror mount national offline online on-premise output
    ownership path permission port premise premises privacy private protect protection provider proxy public
    reachable redundant region regulation remote restricted restriction result sandbox save secret secure security
    sensitive site site-local snapshot space store territory tenant transfer trust upload usb vendor vpn web world
    write
    writable
    ablage archiv datei datenschutz geheim gesetz land ordner ort platz standort verschlüsseln vertraulich
    verzeichnis sicher sicherung schutz übertragen
    archive chiffrer confidentiel dossier fichier lieu pays protéger répertoire sauvegarde secret sécurité
    sécuriser sortie entrée résultat site stockage transférer
"""
_SCORN = """
    hang crash break broken wrong buggy fail useless superfluous overkill waste wasted poison frown distrust curse
    cursed
    exhaust exhausted expire expired unrealistic outrageous disappoint illegal awful bad grief steer shun taboo
    unsuitable insecure unusable unacceptable embargo overcrowded object bar trouble worse worst hate hardly barely
    allergic unnecessary second-choice far berth abandon distance pointless ill-suited doubt doubtful
"""
_MONEY = """
    afford bill budget carbon coal gratis buck cash cent charge cheap cheapest coin cost credit currency discount
    dollar economic
    economical eco ecological efficiency efficient electricity emission energy euro expense expensive fee footprint
    franc free fund funds funding grant green greenest invoice money pay pound price pricey purse renewable
    sustainable
    billig günstig geld kosten kostenlos preis preiswert sparsam umweltfreundlich zahlen
    argent coût coûter écologique économe économique gratuit payer prix tarif
"""

_SAID_OFTEN = "project projects test tests something somehow similar hour hours minute minutes second seconds day days"
"""Words of the field that state nothing without a number or another of its words."""
TIMES = frozenset(_TIMES.split())
"""When something happens."""
SCORN = frozenset(_SCORN.split())
"""What speaks against something."""
LOOSE = frozenset(_LOOSE.split()) | SCORN
"""What says how much or of what kind beside a word of the field, and nothing where there is none."""
HOW_IT_WAS = (
    TIMES
    | LOOSE
    | KEYWORDS
    | FUNCTION_WORDS
    | UNIT_WORDS
    | {"copy", "copied", "upload", "download", "transfer"}
    | frozenset((_AMOUNTS + _MACHINES + _PROGRAMS + _JOBS).split())
)
"""What can be told of an earlier time, where it asks for nothing."""
BEARING = (
    TURNING
    | LOOSE
    | frozenset(NUMBER_WORDS)
    | frozenset((_TIMES + _AMOUNTS + _MACHINES + _PROGRAMS + _JOBS + _PLACES + _MONEY + _SCORN).split())
    | ((KEYWORDS | FUNCTION_WORDS) - frozenset(_SAID_OFTEN.split()))
)
"""Everything that is told back where it is left over."""
