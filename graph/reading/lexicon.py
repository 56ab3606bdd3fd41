"""Words of the field in other spellings and languages, number words, and words that carry no requirement.

No names of applications are here: what a request asks to run is found by where it stands, not by a list.
"""

from __future__ import annotations

__all__ = [
    "FOREIGN_ALONE",
    "FOREIGN_UNITS",
    "FOREIGN_WORDS",
    "FUNCTION_WORDS",
    "KEYWORDS",
    "NUMBER_WORDS",
    "PADDING",
    "UNIT_WORDS",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _pairs(text: str) -> dict[str, str]:
    return {word: meaning.replace("_", " ") for word, _, meaning in (pair.partition("=") for pair in text.split())}


NUMBER_WORDS = {
    word: int(value)
    for word, value in _pairs("""
    zero=0 one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 eleven=11 twelve=12 thirteen=13
    fourteen=14 fifteen=15 sixteen=16 seventeen=17 eighteen=18 nineteen=19 twenty=20 thirty=30 forty=40 fifty=50
    sixty=60 seventy=70 eighty=80 ninety=90 hundred=100
    """).items()
}

UNIT_WORDS = _words("""
    core cores cpu cpus day days gpu gpus hour hours memory minute minutes node nodes process processes rank ranks
    second seconds task tasks thread threads week weeks
""")
"""Words that a typing error is looked for in, after a number or `per`."""

FOREIGN_UNITS = _pairs("""
    knoten=nodes kern=core kerne=cores kernen=cores prozesse=processes prozessen=processes aufgaben=tasks
    stunde=hour stunden=hours tag=day tage=days tagen=days minuten=minutes sekunden=seconds woche=week wochen=weeks
    journée=day journées=days prozess=process prozessor=cpu prozessoren=cpus
    heures-cœur=core-hours heures-coeur=core-hours heures-cœurs=core-hours heures-nœud=node-hours
    heures-nœuds=node-hours heures-gpu=gpu-hours heures-cpu=core-hours core-stunden=core-hours
    kern-stunden=core-hours kernstunden=core-hours knotenstunden=node-hours
    knoten-stunden=node-hours gpu-stunden=gpu-hours cpu-stunden=core-hours viertelstunde=quarter_hour
    dreiviertelstunde=3_quarters_of_an_hour arbeitstage=days mal=times
    grafikkarten=gpus grafikkarte=gpu speicher=memory arbeitsspeicher=memory std=hours rechenknoten=nodes nœud=node
    nœuds=nodes noeud=node noeuds=nodes cœur=core cœurs=cores coeur=core coeurs=cores tâche=task tâches=tasks
    taches=tasks tache=task processus=processes heure=hour heures=hours jour=day jours=days secondes=seconds
    semaine=week rechner=computer rechnern=computers ordinateur=computer ordinateurs=computers maschine=machine
    maschinen=machines serveur=server serveurs=servers rang=rank rangs=ranks ränge=ranks rängen=ranks
    prozessorkerne=cores prozessorkernen=cores
    prozessorkern=core rechenkerne=cores rechenkernen=cores gpu-karten=gpus
    teilaufgaben=tasks teilaufgabe=task knotens=node kerns=core rechenknotens=node hauptspeicher=memory
    semaines=weeks mémoire=memory go=GB mo=MB to=TB gio=GiB mio=MiB tio=TiB
    knotenzahl=nodes kernzahl=cores prozesszahl=processes
""")
"""German and French unit words; `go`, `mo` and `to` count only right after a number."""

FOREIGN_WORDS = _pairs("""
    auf=on mit=with pro=per je=per und=and für=for bis=by vor=before nach=after oder=or höchstens=at_most mind=min
    entweder=either maximal=at_most mindestens=at_least brauche=need benötige=need jeweils=each ein=a eine=a einem=a
    einen=a zwei=2 drei=3 vier=4 fünf=5 acht=8 ich=i bitte=please die=the der=the das=the den=the dem=the jedem=each
    danke=thanks lang=long version=version starte=run starten=run rechne=run sur=on avec=with par=per et=and pour=for
    pendant=for avant=before après=after ou=or chacun=each un=a une=a deux=2 trois=3 quatre=4 huit=8 besoin=need
    merci=thanks de=of le=the la=the les=the des=of lancer=run lancez=run exécuter=run svp=please
    demi=half demie=half halbe=half halben=half
    programm=program programme=program il=it faut=need kann=can haben=have können=can
    wir=we möchte=want möchten=want würde=would würden=would gerne=please gern=please bräuchte=need bräuchten=need
    brauchen=need benötigen=need muss=must müssen=must soll=should sollte=should sollen=should sein=be fertig=done
    laufzeit=runtime rechenzeit=runtime projekt=project konto=account warteschlange=queue insgesamt=altogether
    gesamt=total nur=only wenn=if falls=if erfolgreich=successful mein=my meine=my meinen=my unser=our unsere=our
    unserem=our einer=a eines=a dieser=this dieses=this diese=this typ=type vom=of von=of am=on im=in zum=for zur=for
    als=as mehr=more weniger=less gleichzeitig=at_once spätestens=no_later_than jeder=each jedes=each jede=each
    pro=per anderthalb=1.5 eineinhalb=1.5 zweieinhalb=2.5 zwölf=12 zehn=10 sechs=6 sieben=7 neun=9 sechzehn=16
    neuer=newer älter=older démarrer=start
    démarre=starts débuter=start sont=are données=data liegen=are liegt=is höher=higher neuere=newer nicht=not
    keine=no kein=no keinen=no ohne=without lässt=let lassen=let
    laufen=run rechnen=run laufe=run führe=run ausführen=run gerechnet=run nutzen=use verwenden=use befehl=command
    kommando=command ergebnisse=results ergebnis=result eingabe=input daten=data datei=file dateien=files
    standort=site beim=at bei=at zurück=back etwa=about ungefähr=about circa=about ca=about
    au=at moins=least plus=more récent=recent récente=recent ultérieure=later supérieur=higher supérieure=higher
    maximum=most seul=single seule=single commande=command compte=account projet=project chaque=each durée=duration
    limite=limit nous=we voudrais=want voudrions=want souhaite=want souhaitons=want aimerais=want
    faudrait=need doit=must être=be fini=done finie=done terminé=done terminée=done utiliser=use utilisant=using
    dans=in sans=without pas=not résultats=results résultat=result données=data fichier=file fichiers=files
    maximale=maximum minimale=minimum carte=card cartes=cards uniquement=only ende=end erfolgreichem=successful
    erfolgreichen=successful erfolgreiche=successful abschluss=completion möglichst=as_possible höchst=most
    sie=you faible=low latence=latency conteneur=container chacun=each braucht=needs benötigt=needs
    niemals=never nie=never keinesfalls=never liebsten=preferably ganzer=whole ganzen=whole ganze=whole
    exklusiv=exclusive exclusif=exclusive veux=want
    trois=3 quarts=quarters d'heure=of_an_hour
    d'un=of_a d'une=of_a läufe=runs lauf=run bald=soon früh=early
    nein=no doch=rather lieber=rather réussite=success du=of_the entrée=input environ=about dix=10 douze=12 seize=16
    sept=7 cinq=5 neuf=9 moi=me
    logiciel=software logiciels=software libre=free libres=free frei=free exclusifs=exclusive
    exclusives=exclusive sobald=once egal=no_matter ob=if ist=is demain=tomorrow heute=today morgen=tomorrow
    aber=but lizenz=license lizenzen=licenses réservation=reservation d'entrée=input
    indizes=indices indizien=indices tableau=array jobfeld=array jobarray=array läuft=runs
    dreieinhalb=3.5 viereinhalb=4.5 fünfeinhalb=5.5 sechseinhalb=6.5 siebeneinhalb=7.5 achteinhalb=8.5 elf=11
    vierzehn=14 fünfzehn=15 achtzehn=18 zwanzig=20 vierundzwanzig=24 dreißig=30 zweiunddreißig=32 sechsunddreißig=36
    vierzig=40 achtundvierzig=48 fünfzig=50 sechzig=60 vierundsechzig=64 neunzig=90 hundert=100 zweiundsiebzig=72
    onze=11 quatorze=14 quinze=15 vingt=20 trente=30 quarante=40 cinquante=50 soixante=60 länger=longer
    dauern=take verbrauchen=use dépenser=spend dépasser=exceed dépasse=exceed überschreiten=exceed
    eile=hurry hâte=hurry urgence=urgency aucune=no aucun=no doivent=must prêts=ready prêt=ready prêtes=ready
    prête=ready nachdem=after beendet=finished abgeschlossen=completed durchgelaufen=finished échoue=fails
    réussit=succeeds
    scheitert=fails fehlschlägt=fails même=even tâches=tasks rechnet=run réussi=succeeded échoué=failed
    denen=which deren=whose dessen=whose welchem=which welchen=which ergebnisdatei=result_file
    ausgabedatei=output_file ergebnisdateien=result_files d'exécuter=run totale=total équipés=equipped équipé=equipped
    nécessaires=needed nécessaire=needed lequel=which lesquels=which hätte=want_it berechnen=run durchführen=run
    ma=my mes=my notre=our nos=our quart=quarter
    zwischen=between entre=between statt=instead_of anstatt=instead_of reservierung=reservation später=later
    spätere=later aufwärts=upwards freier=free freien=free freies=free freie=free platz=space speicherplatz=disk_space
    plattenplatz=disk_space lokalen=local lokaler=local lokale=local lokales=local lokal=local platte=disk
    festplatte=disk festplatten=disks disque=disk disques=disks locale=local eingabedatei=input_file
    eingabedateien=input_files eingabedaten=input_data ausgabedateien=output_files espace=space
    unterbrechung=interruption dateisystem=file_system dateisysteme=file_systems netz=network netzwerk=network
    netzes=network réseau=network erforderlich=required notwendig=needed nötig=needed jobname=job_name
    umgebungsvariable=environment_variable umgebungsvariablen=environment_variables gesetzt=set
    sollten=should müsste=must müssten=must dürfen=may est=is     durchrechnen=run projektkonto=project_account
    rechenkonto=account abrechnungskonto=account kontingent=allocation
    fassung=version rechendauer=runtime laufdauer=runtime auftragsname=job_name programmaufruf=command abbild=image
    unabhängige=independent unabhängigen=independent indépendants=independent indépendantes=independent meinem=my
    portable=laptop bürorechner=workstation arbeitsplatzrechner=workstation mais=but s'appelle=is_called
    messdaten=data rohdaten=data simulationsdaten=data quelldaten=data
    hétérogène=heterogeneous heterogener=heterogeneous heterogenes=heterogeneous sera=will_be seront=will_be

    seulement=only si=if rückgabe=output
    kostenstelle=account grafikspeicher=gpu_memory
    videospeicher=gpu_memory davon=of_them verteilt=distributed
    réparti=distributed répartis=distributed réparties=distributed unter=under üblichen=usual bisherigen=previous
    habituels=usual habituelles=usual anzahl=number_of nombre=number
    obligatoire=mandatory rechenjob=job gemeinsam=together
    gleichzeitige=simultaneous tournent=run
    tourne=runs tourner=run
""")
"""Function words, taken only where a German or French unit word shows the language."""

FOREIGN_ALONE = _words("""
    auf mit und für bitte projekt starten ich wir nicht nach eine einen bräuchte möchte zum avec pour sur nous dans
    bonjour merci projet besoin depuis est une einem einer sobald oder je demain les sont données ne doit liegen daten
    sind ist ni du des une par au aux cette mon notre votre nos vous chez dont durée compte calcul calculs fichier
    fichiers cherche faut mein meine unser unsere vom kein keine noch auch wird werden haben brauche brauchen benötigen
    hatten hatte dafür jetzt genügen reicht reichen sollen sollten möchten gerne beim damit dort ihr uns mich danke
    dass müssen müsste läuft laufen rechnen dieses dieser il ça c'est qui que très ici être peut deux ces leur
    benötige laufzeit rechnung diesmal statt insgesamt mindestens höchstens
""")
"""Two of these tell German or French where no unit does."""

PADDING = _words("""
    plz whichever wherever anywhere somebody anybody yo dude group groups user users student students thesis year
    years luck exam think guess believe suppose suffice suffices plenty i.e e.g ie eg btw fyi hybrid ticket details
    wins preferred pick erst hätte moin servus set summary info specs keep stay put plain vanilla stock tool model
    connected
    bonjour bonsoir salut cordialement zusammen viele freundliche freundlichen freundlichem d'avance bien
    instead actually danke dank dr fax grüße grüßen gruß guten hallo mfg oops phone prof sorry tel vielen wishes
    across spread distributed evenly split among
    a able about above admins afternoon again all allocate allocation also altogether am an and another any app
    application applications approximately apps are around as ask asking at availability available backend be
    because been being below best between big bit book both but by calculation calculations can  capable carry
    cheers clock cluster clusters cmd code codes colleagues command commands compatible computation computations
    compute computer computing connectivity could  current currently dear deploy did do does
    done down during each enough
    environment estimate estimated evening every everyone execute executed executes executing
    expect expected fabric file filesystem filesystems find finds fine first folks following follows for from full
    get give gives going good got great greetings had has have having he hello help here hey hi hope hoping how
     hpc i i'd i'll i'm i've  if in installation installed  interconnect into is  it it's
    its job jobs just kind kindly know large last lasting lasts launch launching let let's lets letting like limit
    line look looking lot machine machines madam make many may  me might mine morning mpi much must my
    necessary need needed needing needs network new newer next nice normally now of off ok okay on one ones onto
    other our out over overall package packages parallel part per perform performing  piece place plan
    planning please pls    program programs quick quite ran rather ready really regards
    release request requested requesting requests requirement requirements
    require required requires requiring reserve resource resources
    roughly run running runs  schedule scheduling script second shall she should simple simply simulation
    simulations since sincerely single sir site sites size sized small so software some someone something somewhat
    somewhere  start started starting starts storage submit submitting sufficient suitable supercomputer support
    supported supporting supports sure system systems take takes taking team tell than thank thanks that that's the
    their then there there's these they they're third this those through thx time to today's too tool tools total
    try trying type typically under up us use used uses using usual usually utilize utilizing version versions very
    via wall walltime want wanted wanting wants was we we'd we're we've well what what's when where which who whole
    whose will wish with within  wonder wondering work working workload workloads works would would've you
    you're your yours
""")
"""Words that say nothing a site could be asked for, by themselves."""

FUNCTION_WORDS = _words("""
    batch stdin stdout stderr same mode script file folder directory
    without not no never except preferably ideally or if than rather every maybe possibly perhaps possible
    optionally attached enclosed other others avoid neither nor unless otherwise else hopefully sbatch qsub bsub salloc
    qsub msub sinteractive interactive today tomorrow tonight yesterday overnight night nightly daily weekly whatever
    somehow similar something like don't doesn't isn't can't won't cannot couldn't shouldn't wouldn't test tests
""")
"""Words that are told back when they are left, but never name software."""

KEYWORDS = UNIT_WORDS | _words("""
    aus laufen ausführen hr hrs ppn tpn rpn cpn nds thr
    every daily nightly weekly preferably ideally maybe twice again
    account across after and as asap at before budget but by cheap cheapest cost deadline each fastest for from h
    immediately in input inputs least max maximum mem min mins most need needs no not now on once only or output
    outputs over partition per per-node please project qos queue quickly ram require requires requiring result
    results so soonest start starting thanks that then through today tomorrow tonight under until urgent urgently
    using via when where which while with within
""")
"""Words that end a command written in the middle of a sentence."""
