"""Words whose full stop does not end a sentence, by language; what holds in English holds everywhere."""

from __future__ import annotations

from edgevox.languages import ENGLISH

_NEVER_LAST = """
    en: adm approx ca capt cf col dr e.g eg fr gen gov hon i.e ie lt maj mme mr mrs ms mt prof rep rev sen sgt
    en: st viz vs
    de: bspw bzw d.h dipl evtl frl ggf hr hrn inkl jh max min mind mio mrd o.ä od sog str u.a u.u usw vgl z.b
    de: z.t zzgl
    es: admón aprox avda dra dña ej excma excmo gral p.ej sr sra sres srta ud uds vda
    fr: av bd env m mlle mm mmes p.ex ste
    it: avv dott egr geom gent ing on p.es sig v
    nl: bijv blz d.w.z dhr drs evt incl max mevr min mw o.a resp t.a.v t/m
    pl: dr godz im inż itp m.in mgr np ok pl ppłk śp św tel tj tzn tzw ul wg
    pt: av dra exma exmo p.ex sr sra srta
"""
_BEFORE_NUMBERS = """
    en: jan feb mar apr jun jul aug sep sept oct nov dec art ch eq fig no nos p pp sec tel vol
    de: abb abs bd kap nr s ziff
    es: cap núm pág págs
    fr: chap n num p
    it: cap n num pag
    nl: hfst nr p
    pl: nr r rozdz s str
    pt: cap n núm pág
"""


def _by_language(table: str) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in table.strip().splitlines():
        language, _, words = line.strip().partition(":")
        found[language] = found.get(language, frozenset()) | frozenset(words.split())
    return found


_NEVER_LAST_IN = _by_language(_NEVER_LAST)
_BEFORE_NUMBERS_IN = _by_language(_BEFORE_NUMBERS)


def never_last(language: str) -> frozenset[str]:
    """In small letters and without their last stop: something always follows these."""
    return _NEVER_LAST_IN[ENGLISH] | _NEVER_LAST_IN.get(language, frozenset())


def before_numbers(language: str) -> frozenset[str]:
    """Likewise, where it is a number that follows."""
    return _BEFORE_NUMBERS_IN[ENGLISH] | _BEFORE_NUMBERS_IN.get(language, frozenset())
