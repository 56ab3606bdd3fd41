"""Verbs with which people ask, give, have and do: beside what was read they ask a site for nothing by themselves.

Verbs that can state a requirement (`share`, `mount`, `encrypt`, `pin`, `hold`, `stop`, `repeat`) are not here.
"""

from __future__ import annotations

from itertools import chain

__all__ = ["VERBS"]

_REGULAR = """
    accomplish account achieve acquire address adopt advise afford aim allocate allot allow amount analyse analyze
    answer anticipate appear apply appoint appreciate approve arrange ask assign assist assume attach attain
    attribute await award base belong boast book call carry cater cause choose claim collect combine command
    commence complete comprise compute concern conclude conduct confirm connect consider consist constitute
    construct consult contact contain contribute cooperate cover create credit debit decide deem deliver demand
    depend deploy derive describe deserve desire destine detail determine develop devote direct discuss dispatch
    dispose distribute earmark elapse embody employ encounter end endow engage enjoy enter entail entitle envisage
    equip establish estimate evaluate examine exceed execute exercise exist expect experience explain exploit
    explore express extract facilitate favour favor feature fetch figure finish foresee form forward fulfil fulfill
    function furnish gather grant guarantee handle happen harbour host house implement imply include incur indicate
    inform initiate inquire insist intend invest investigate invite invoke involve issue join justify kick land last
    lie locate look maintain manage measure meet mention name necessitate notify obey observe obtain occupy occur
    offer operate order organise organize originate outline owe own participate pass perform permit place plan
    please plot point possess postulate predict prepare prescribe present presume presuppose proceed process produce
    project propose prove provide publish purchase pursue qualify question raise rate reach realise realize reason
    receive reckon record refer regard rely remain render report represent request require reserve reside respect
    respond result return review route satisfy save schedule score secure select serve settle ship solve specify
    spend sponsor spread state strive submit succeed suffice suggest suit summarise summarize supply support suppose
    tackle target tend test thank think time train transcribe transfer translate treat try turn undergo undertake
    use utilise utilize validate value verify view visit wait want warrant weigh welcome wish witness wonder work
    yield
"""
_IRREGULAR = """
    am are be been being is was were bear bears bore borne bearing become becomes became begin begins began begun
    beginning bring brings brought bringing buy buys bought buying choose chooses chose chosen choosing come comes
    came coming cost costs costing deal deals dealt dealing do does did done doing draw draws drew drawn drawing
    feed feeds fed feeding feel feels felt feeling find finds found finding get gets got gotten getting give gives
    gave given giving go goes went gone going have has had having holding holds held hand hands handed handing keep
    keeps kept keeping know knows knew known knowing lay lays laid lead leads led leading learn learns learnt
    learned learning leave leaves leaving lend lends lent lending let lets letting lie lies lay lain lying make
    makes made making mean means meant meaning meet meets met meeting pay pays paid paying permitted permitting put
    puts putting read reads reading run runs ran running say says said saying see sees saw seen seeing sell sells
    sold send sends sent sending set sets setting show shows showed shown showing sit sits sat sitting spend spends
    spent spending stand stands stood standing submitted submitting take takes took taken taking tell tells told
    telling think thinks thought thinking undergo undergoes undergone understand understood undertake undertaken win
    wins won write writes wrote written writing transferred referred preferring occurred incurred fulfilled
    fulfilling equipped equipping allotted allotting planned planning shipped shipping plotted
"""
_VOWELS = frozenset("aeiou")


def _forms(verb: str) -> tuple[str, ...]:
    if verb.endswith("e"):
        return verb, f"{verb}s", f"{verb}d", f"{verb[:-1]}ing"
    if verb.endswith("y") and verb[-2] not in _VOWELS:
        return verb, f"{verb[:-1]}ies", f"{verb[:-1]}ied", f"{verb}ing"
    third = f"{verb}es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else f"{verb}s"
    return verb, third, f"{verb}ed", f"{verb}ing"


VERBS = frozenset(chain.from_iterable(map(_forms, _REGULAR.split()))) | frozenset(_IRREGULAR.split())
