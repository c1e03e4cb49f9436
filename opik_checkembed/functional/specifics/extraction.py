"""All rules, one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from opik_checkembed.functional.specifics import chinese, codes, dates, numbers
from opik_checkembed.functional.specifics.names import given_names
from opik_checkembed.functional.specifics.names import names as found_names
from opik_checkembed.functional.specifics.scan import Scan
from opik_checkembed.functional.specifics.specific import Specific
from opik_checkembed.functional.specifics.vocabulary import WITHOUT_CAPITALS
from opik_checkembed.language import bare_language


def specifics(text: str, language: str = "en", *, names: Sequence[tuple[int, int]] | None = None) -> list[Specific]:
    """The checkable specifics of a text, in their order; none overlap.

    Args:
        text: Any text; Markdown is understood as far as it matters here.
        language: ISO 639-1 code, with a region or without. It decides between 1.234 and 1,234, reads words for numbers
            and months, and tells names from other capitalised words.
        names: Where names begin and end, if an entity recogniser has found them; they take the place of those that
            rules find. Those that touch a number, date or other specific are left out.

    Example:
        >>> [(one.text, one.kind) for one in specifics("Marie Curie was born on 7 November 1867 in Warsaw.")]
        [('Marie Curie', 'name'), ('7 November 1867', 'date'), ('Warsaw', 'name')]
    """
    scan = Scan(text, bare_language(language))
    latin = scan.language not in WITHOUT_CAPITALS
    # What is written in one way only comes first, names, which anything may be part of, last.
    codes.addresses(scan)
    codes.quotations(scan)
    codes.names_in_code(scan)
    if latin and scan.figures:
        codes.standards(scan)
    chinese.fractions(scan)
    numbers.proportions(scan)
    dates.dates(scan)
    if scan.figures:
        if latin:
            codes.serials(scan)
        codes.versions_and_hashes(scan)
        dates.ranges_of_years(scan)
        codes.designations(scan, latin)
        numbers.figures(scan)
    codes.mixed_case(scan)
    numbers.numerals(scan)
    dates.weekdays(scan, latin)
    if latin:
        dates.stretches(scan)
    if names is None:
        found_names(scan, latin)
    else:
        given_names(scan, names, latin)
    return scan.found()
