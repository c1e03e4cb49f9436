"""A comparison as Markdown, for a job's summary or a comment on a pull request."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator

from opik_checkembed.gate.comparison import Comparison
from opik_checkembed.gate.decision import Decision
from opik_checkembed.gate.wording import (
    LONGEST_ID,
    LONGEST_TEXT,
    Lacking,
    answer_of,
    asked_of,
    changes,
    direction,
    interval,
    lacking,
    level,
    number,
    one_sided,
    overview,
    shares,
    trials,
    why_lost,
)
from opik_checkembed.wording import shortened

# As character references these are no Markdown, no HTML, no emoji, mention, link or formula.
_MARKED = frozenset(string.punctuation) - frozenset(",.;?%'-/")
_ADDRESS = re.compile(r"www\.|&#64;|&#58;(?=//)", re.IGNORECASE)
_JOINER = "&#8288;"
_LISTED = 10  # reasons, and ids of each: a comment may hold 65,536 characters


def markdown_report(comparison: Comparison, decision: Decision, *, worst: int = 5) -> str:
    """The outcome, its reasons, the metrics as a table, and the items that lost most with both answers.

    A text out of an item cannot break out of its place: it stands in `<code>`, on one line, with every character that
    Markdown or HTML could read as a character reference, and longer ones are cut visibly.

    Args:
        comparison: The two runs compared.
        decision: What the gate says of it.
        worst: Items to show, at most.
    """
    lines = [f"### Gate: {decision.outcome.words}", "", _code(overview(comparison), LONGEST_TEXT), ""]
    lines += [f"- {_plain(reason, LONGEST_TEXT)}" for reason in decision.reasons]
    lines += ["", *_metrics(comparison), ""]
    if decision.thresholds:
        lines += ["| threshold | candidate | holds |", "| --- | ---: | --- |"]
        lines += [
            f"| {_code(str(one.threshold))} | {one.shown} | {'yes' if one.passed else '**no**'} |"
            for one in decision.thresholds
        ]
        lines.append("")
    lines += _lists("Without a score", lacking(comparison.unscored))
    lines += _lists("On one side only", one_sided(comparison))
    lines += _worst(comparison, worst)
    return "\n".join(lines).rstrip() + "\n"


def _metrics(comparison: Comparison) -> Iterator[str]:
    yield (
        f"| metric | verdict | baseline | candidate | difference, {level(comparison.alpha)} interval | p (Holm) "
        "| better / worse / equal | margin | detectable | items |"
    )
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for one in comparison.metrics:
        cells = (
            f"{_code(one.name)}, {direction(one)}",
            f"**{one.verdict}**",
            number(one.baseline_mean),
            number(one.candidate_mean),
            f"{number(one.difference, sign=True)} {interval(one)}",
            number(one.p_adjusted),
            shares(one),
            number(one.margin),
            number(one.detectable),
            str(one.pairs),
        )
        yield f"| {' | '.join(cells)} |"


def _lists(title: str, found: list[Lacking]) -> Iterator[str]:
    if not found:
        return
    yield f"#### {title}"
    yield ""
    for one in found[:_LISTED]:
        ids = ", ".join(_code(identity) for identity in one.ids[:_LISTED])
        more = f" and {len(one.ids) - _LISTED} more" if len(one.ids) > _LISTED else ""
        yield f"- {_code(one.what, LONGEST_TEXT)}: {ids}{more}"
    if len(found) > _LISTED:
        yield f"- and {len(found) - _LISTED} more reasons; the JSON report has all"
    yield ""


def _worst(comparison: Comparison, count: int) -> Iterator[str]:
    items = comparison.worst(count)
    if not items:
        return
    yield "#### Items that lost most"
    yield ""
    for item in items:
        yield f"<details><summary>{_code(item.id)} {_plain(changes(item, comparison), LONGEST_TEXT)}</summary>"
        yield ""
        asked = asked_of(item.baseline)
        for label, text in (
            ("asked", asked),
            ("baseline", answer_of(item.baseline)),
            ("candidate", answer_of(item.candidate)),
            ("why", why_lost(item, comparison)),
        ):
            if label == "why" and not text:
                continue
            yield f"- {label}: {_code(text, LONGEST_TEXT)}"
        yield f"\n</details>{trials(item)}"
        yield ""


def _code(text: str, limit: int = LONGEST_ID) -> str:
    return f"<code>{_plain(text, limit)}</code>"


def _plain(text: str, limit: int) -> str:
    """Text on one line, cut visibly, that Markdown and HTML show as it is."""
    shown = "".join(
        f"&#{ord(c)};" if c in _MARKED else c if c.isprintable() or c == "\u200d" else "\ufffd"
        for c in shortened(text, limit)
    )
    # GitHub links addresses in plain words, and reads character references first: a joiner without width parts them.
    return _ADDRESS.sub(lambda found: found[0].replace(".", "&#46;") + _JOINER, shown)
