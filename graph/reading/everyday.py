"""Words of everyday sentences: verbs, nouns and adverbs with which people tell why, for whom and how nicely.

By themselves they ask a site for nothing. Words that can (`free`, `shared`, `license`, `database`, `offline`) are not
here, nor is any word that turns a sentence round (`not`, `without`, `except`).
"""

from __future__ import annotations

__all__ = ["EVERYDAY"]

_WORDS = """
    postproc preproc calc calcs prod params config configs
    aber abrechnung accept acceptable accepted accomplished according achieve actual actually actuaries add added
    adding addition advance advice aerosol afin afternoon's afterwards aim aims ainsi air aircraft airport align
    aligned alignment alle allocate allocated allot allowed alloys alone along alors already also alternative
    alternatively although always amount amounting analyse analysed analyses analysing analysis analyze analyzed
    analyzing anbei animals answer antennas anybody anyone anything anyway apparently appreciate appreciated
    archives arrange arranged article ask asked asking asks assemble assembled assembling assembly assign assigned
    assimilation assumed astronomy astrophysics attempt attendu attendus attention auch auftrag aus ausgeben aussi
    auswertung autosomes avez avoir avons aware away awful bad basically bathymetry batteries beantrage beantragen
    beaucoup became become becomes beekeeping beetles begin beginner beginning begins behalf behave behaves bekommen
    believe belong belongs benchmark besides beträgt biology birds birthday blades blow board body boiler bon bonne
    books boss bosses bother bothering bought brains braucht brauchte breakfast breaks bridge bright bring brings
    brought building buildings built busy c'est cafeteria calcul calculate calculated calculating calculs calibrate
    calibrated calibration call calls came campaign car care careful careless carried cars cases catalysts cause ce
    ceci cela cells certain certainly ces cet cette chacune chair chance chapter chat check checked checking
    chemistry chers chew chez chimie choice choose chose chosen church chère city client clients climate close
    closes club coal coast coffee collaboration collaborators colleague come comes comfort coming comme comment
    compare compared comparing comparison complain complaining complete completed completely computed concern
    concerned conclude conference connect connects consider considered consist consisting consists consumed consumes
    contact continue continues convenient cope core's corpus corrected cosmology council count country counts couple
    course cover covering crash crashed crashing crew criticality crops crunch crystals curious currently customer
    customers dabei damit dann dass dauer dauert daughter dazu deal dean debit decide decided deconvolution delay
    deliver deliverable delivered demande demanded demands demo department depends deputy deren describe described
    deshalb desk details develop developed developer developing devrait died dies different difficult dinner dire
    director discuss discussed discussion dispatch disposal dissertation distribute dock docking doctor doctorant
    doctorante doing doktorarbeit donc dort dose downscaling drawing due duration durch dust duty dye eager earlier
    earthquakes easily easy eat eats ecology economics effort eilt einfach either elapse elapsed emergency employ en
    encore end ended engineer engineering engineers engines enjoy ensure entirely entre epidemiology equip equipped
    ergibt error erst es especially essential est et etwas evacuation even evening's event eventually everybody
    everything exactly example excited exciting executes execution exercise exist exists expects experiment
    experiments explain exploit explore exposure extra extremely fact faculty fair faire fairly fait faithfully fall
    familiar family fan fantastic favor favour federation feel feels fehlt fichiers figure figured figures fill film
    films final finally finance fine-tune fine-tuned fine-tuning finetune finetuning finir finish finished finishes
    finishing fire fires first-year fish fit fits fitted flatmates flood flutter follow followed forecast forecasts
    foremost foresee foreseen forests forever forget forgive forward forwarded found frau freigabe friend friends
    frozen fun future führt galaxies gas gather gave general generally generate generated generation genes genetics
    genome genomes geology gets getting gibt girl given glaciers glad global goal goes gone grant granted grateful
    grid guess guy guys gyrokinetics haben habit haha halfway halt hand handed handle handled happen happened
    happens happily happy hardly hat he hear heard heavy heißt hej helpdesk helping hence her hers herself hier
    hiermit highly hii him himself hindcast hint hinweis his historian hiya hm hmm hoffe holds holiday holidays
    honest honestly hopefully hospital host hosts housing however huge humming hurricanes hurry hydrology
    hyperparameter hätten ice ici idea ideal idk ihr ihre ihrem ihren ill ils images imagine immer imperative
    important improve including increase indeed index indispensable industry indépendantes indépendants inference
    inform information inherited initial insects insist inspect instance instances institute institution
    instructions insurance intend intended intends interest interested interesting intern interns interviews
    introduce inversion investigate investigating investigation invoices issue issues ist it'd it'll itself j'ai
    j'aimerais j'aurais ja je jedoch jemand join joined journal keeps kept kick kid kidding kids killed kindness
    klassifizierung klimaläufe klinik knew knows kollege kollegen kollegin kommen kostet können könnt könnte könnten
    könntest lab label laboratory lack lake lakes landscape language laptop largely lasers lately launched lay lea
    lead leading learn learned learning leave leaves lecture lecturer led left leider lesson letter leur level lie
    liebe lieber liebes lies life likely lily limited linguistics listed little live lives loans lol long
    long-running longer longevity look looked looks loop loose lors lorsque lose losgehen lost love lovely luckily
    lucky luftbildern lunch là lösung mache machen main mainly mais man manage manager managing mandatory map maps
    marketing markets matches materials mathematics matter matters meaning means meant meantime meanwhile measure
    measured measures medicine meet meeting meets mehrere member members membranes mention mentioned mentor mentors
    merely mesh message met metagenome metasurface meteorology method methods microscope mieux mind mir mission
    mistake mistakes mit modèle molecules moment moon morning's mostly mountain mounted move moved moves museums
    myself même möglich n'est namely ne nearly necessarily necessary neurology newbie newspapers nobody noch noise
    none notamment note noted notes nothing notice noticed nouveau novice nun nämlich ob obtain obtained obtenir
    obvious obviously occasion occupied occupies occupy occur ocean oceanography odd offer offered offers office
    officer oft often oh oil operate operated operation operational operators opinion ordinary organise organize
    ought ourselves outcome overview own owner où pain paper parce particular particularly partner party pass passed
    past patience patient patients pay paying payload payments people perfect perfectly performed person peu peut
    pflicht pharmacology phase phd phylogenetics physics physique picture pictures pinn pipes pity placed planets
    planned plans plant plasmas plaît pleasant pleased pleasure plot plots plus plusieurs point points polite pollen
    polymers poor portfolios position post-doc postdoc postprocessing pourquoi pourrait pourriez pourriez-vous
    pouvez pouvez-vous practical practice precise precisely prediction prefer preferable preferred premier première
    preparation prepare prepared preprocessing prerequisites presence present presentation presented presumably
    presuppose presupposes pretraining pretty previous price priced prices principle pro probably problem problems
    procedure processed prochain produce produced produces production professor projekt propagation propellers
    proper properly proposal proposals propose proteins prototype prove provide provided provides providing
    publication publish puis pull pulsar pumps pupil pupils purpose purposes push qu'elle qu'il quand quarter que
    quel quelle question questions qui quiet quietly rain range raw reach reached reactor reactors read reader
    reading reads real realise realize reason reasons recall receive received recent recently rechnet rechnung
    recognises recommend recommended recommends recon recordings redo reduce refaire refer referee referees regard
    regarding regardless region regional regression reichen reicht related relies remain remains remarkable remember
    remind render rendered rendering repaired repeat replace reply repo report reported reports represent research
    researcher researchers reservoir rest resulting retired retrieve returned review reviewer reviewers reviews
    revise revised revision ridiculous rien right risk rivers roads rock rotors rough route routine rule réseau
    s'agit s'il sadly said sake salute sam samples sand satellites satisfied saw say saying says scale scan scans
    scenarios scene schedule schon school science scientist scientists sea search season secretary secretary's
    section see seem seemed seems seen segmentation sehr seine seismic seismology seit selbst select selected selon
    semester seminar send sending sense sensitivity sensors sent sera serait series serious seront serve service ses
    session sets setting settings shall share she ships shortly show showing shown shows si sich sick sie sign silly
    simulate simulated simulating simultaneous sind sinon sit sits situation sketch skript sky slides slow slowly
    smoke smooth snow soil soirée soit sollten solution solve solved solving somehow sometimes somewhat son songs
    sonst sont soon sound sounds source souvent special specific specifically speech spend spent spills sports
    spring squeeze stand standard stars state stated statistics stay staying step steps stick stipulated stopped
    storms story strange strongly structures stuck studied studies study studying stuff stupid style subject
    subjects submission succeeded suche suffisent suffit suggest suggested suis suit suitable suited suits summer
    sun supervisor supplied supply surely surgery surprise survey suspect swamped sweep système ta talk talks target
    tea teach teacher teaching technical technique telescope tells term terminer terribly tested testing that'll
    theatres theirs them themselves theory there'll there's therefore thesis they're they've thing things think
    thinks thought throw thrown thèse tickets tidy timing tired tissue title tokenize told tolerates took topic
    touch toujours tourner tous tout toute toutes toward towards town track traders traffic train trained trainee
    trainees training trains transcribe transcribing treat trees trial tricky tried trigger trip trouble true truly
    trust truth très tsunamis tunnel turbines turn turned tutor typical unable understands unfortunately unique unit
    university uns useful usually vacation valid validate validated validation valley value values vanished variante
    various vehicles verify vers vibration videos vielleicht view village visibilities visit visitor visits vital
    vite voices voici voilà vom vos votre voudrait vouloir vous wait waiting waits walk wann warm warning warten
    warum was watch water wave way ways we'll weather website wedding weil weird welche welcome wenn went
    werden whatever whats wherever whether whichever who's whom wie wieder willing wind wing winter wird wirklich
    wish wished wishes wo wollen wollte woman won word worden words worked workflow workflows workshop world worry
    worst worth write writes writing wrong wrote wurde während wäre wären y yes yesterday's yet young yourself zeit
    zoology zuerst zuletzt zurückholen zwar à ça étant étude über übrigens
"""
EVERYDAY = frozenset(_WORDS.split())
