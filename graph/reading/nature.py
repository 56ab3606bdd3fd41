"""What is measured or counted in nature or in a model, which no site has: `2 million atoms`, `5 km grid`, `100 ns`."""

from __future__ import annotations

from graph.reading.draft import Draft

__all__ = ["hide_named_measures", "pass_over_measures"]

_ABOUT = r"(?<![\w.,/:=^-])(?:about |some |roughly |over |around |~)?"
_SCALE = r"(?: ?(?:million|billion|thousand|hundred|mio|k|m|bn))?"
_THINGS = (
    r"(?:(?:grid |mesh |finite )?(?:cells?|points?|elements?|volumes?|levels?|layers?)|atoms?|particles?|residues?"
    r"|molecules?|timesteps?|time steps?|(?:md |training |gradient |integration )?(?:steps|iterations)|epochs?"
    r"|base pairs|bp|unknowns|degrees of freedom|dofs?|(?:movie |video |animation )?frames"
    r"|(?:short |long |paired |raw )?reads|(?:protein |dna |rna |amino acid )?sequences|proteins|ligands|compounds"
    r"|conformers?|snapshots?|photons?|galaxies|stars|pixels|voxels|parameters|neurons|k[- ]?points?|bands"
    r"|photographs|photos)"
)
_UNITS = r"(?:km|cm|mm|nm|µm|kpc|mpc|ev|kev|mev|gev|tev|kelvin|degrees?|deg|kg|atm)"
_SIDES = r"\d{1,6}(?: ?[x\u00d7*] ?\d{1,6}){1,2}"
MEASURES = (
    rf"{_ABOUT}\d[\d,.]*{_SCALE}(?: |-)?(?:{_UNITS}|{_THINGS})(?![\w/-])",
    rf"{_ABOUT}\d[\d,.]* ?(?:ns|ps|fs|µs|microseconds|nanoseconds|picoseconds)"
    r"(?: (?:of )?(?:md|simulation|simulated time|trajector(?:y|ies)|dynamics|molecular dynamics|sampling|production)"
    r"(?: (?:run|simulation|time))?)?(?![\w/-])",
    r"(?<![\w-])(?:with |a |the |of )*(?:mini-?)?batch[ -]?sizes?(?: of|:| ?=)? ?\d{1,7}(?![\w.]\w)",
    r"(?<![\w-])(?:with |a |the )*(?:learning rate|lr|time step|timestep|dt|tolerance|cutoff)(?: of|:| ?=)? ?"
    r"\d[\d.]*(?:e-?\d{1,3})?(?: ?(?:fs|ps|ns|ry|ev|å))?(?![\w.])",
    rf"(?<![\w.-])(?:with |an? |the |on )*(?:(?:grid|mesh|domain|box|lattice|resolution|image size)(?: size)?"
    rf"(?: of|:| ?=)? ?(?:{_SIDES}|\d{{1,6}}\^\d)|(?:{_SIDES}|\d{{1,6}}\^\d) (?:grid|mesh|lattice|box|domain))"
    r"(?: (?:points|cells|elements|pixels|voxels|nodes of the grid))?(?![\w-])",
    r"(?<![\w-])(?:at |with |an? )*resolution(?: of|:| ?=)? ?\d[\d./]* ?(?:°|deg(?:rees?)?|km|m|mm)(?![\w-])",
    r"(?<![\w.-])(?:an? |the )?\d{1,3}(?:\.\d)?b(?: parameters?)?(?:-parameter)? (?:llm|language )?"
    r"(?:model|network)(?![\w-])",
)
NAMED = (
    r"(?<![\w.-])(?:with |at |an? |the )*(?:re|ra|ma|pr|mach|reynolds|rayleigh|prandtl|mach)(?: number)?(?: of|:| ?=) ?"
    r"\d[\d.,]*(?:e\d{1,2}|x10\^?\d{1,2})?(?![\w.])"
)
"""`Re = 10000`: a number of fluid mechanics, no version of a program."""


def hide_named_measures(draft: Draft) -> None:
    """Set numbers aside that stand behind a sign as a version does."""
    for match in draft.line.find(NAMED):
        if "=" in match[0] or "number" in match[0] or match[0].split()[0] != "re":
            draft.aside(*match.span())
            draft.line.claim(*match.span())


def pass_over_measures(draft: Draft) -> None:
    """Set what no rule read aside where it is a measure of the work itself."""
    for rule in MEASURES:
        for match in draft.line.find(rule):
            draft.aside(*match.span())
