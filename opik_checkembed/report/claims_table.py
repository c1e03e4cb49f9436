"""What the methods catch of labelled claims, as tables for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Literal

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from opik_checkembed.benchmarks.claims import AGREEMENT, PUBLISHED, ClaimsResult, MethodName, Rate
from opik_checkembed.benchmarks.claims_data import INJECTED, SUPPORTED, ClaimSet
from opik_checkembed.report.table import empty_table
from opik_checkembed.wording import shortened

HEADERS = {"causal": "causal or absolute"}
"""Columns of categories that are headed by more than their name."""

_VERIFIED: tuple[Literal["A", "B"], ...] = ("A", "B")


def claims_tables(result: ClaimsResult, claims: ClaimSet) -> Group:
    """Recall by category and false positives with the published rows beside, the cross table, and what was missed.

    Returns:
        For `rich.console.Console().print`.
    """
    parts: list[RenderableType] = [_rates(result, claims)]
    if "A" in result.methods:
        parts.append(_cross(result, claims))
    parts.append(_missed(result, claims))
    return Group(*parts)


def method_names(result: ClaimsResult) -> dict[MethodName, str]:
    """The rows' names."""
    held = "not contradicted by" if result.contradiction_only("A") else "agreement of"
    told = "contradicted by" if result.contradiction_only("B") else "not supported by"
    return {
        "A": f"A: {held} {len(next(iter(result.regenerations.values()), ()))} answers",
        "B": f"B: {told} the source",
        "guard": "guard: numbers, names, wording",
    }


def _rates(result: ClaimsResult, claims: ClaimSet) -> Table:
    table = empty_table("Flagged, % (95 % Wilson interval)")
    table.caption = Text(
        f"Verifier {result.verifier}; answers by {result.generator or 'nobody: method A was not run'}. Recall by "
        "category (higher is better), false positives among the supported (lower). "
        + _flagging(result)
        + (
            "The classifier has no entailment label: it tells contradicted from not contradicted, nothing of support. "
            if any(result.contradiction_only(method) for method in _VERIFIED)
            else ""
        )
        + "".join(_unread(result, method) for method in _VERIFIED if method in result.methods)
        + f"Published: gpt-4o-mini, A at an agreement of {AGREEMENT:g} or less, on {_other_set(result, claims)}."
    )
    table.add_column("method", overflow="fold")
    for header in (*(HEADERS.get(name, name) for name in INJECTED), "all", "false positives", "AUROC"):
        table.add_column(header, justify="right")
    groups = [*(claims.in_category(name) for name in INJECTED), claims.unsupported, claims.supported]
    for method, title in method_names(result).items():
        if method in result.methods:
            area = result.auroc(method, claims)
            cells = [_cell(result.rate(method, group)) for group in groups]
            table.add_row(title, *cells, "-" if area is None else f"{100 * area:.1f}")
    for name, figures in PUBLISHED.items():
        table.add_row(f"published {name}", *(_cell(Rate(*figures[n])) for n in (*INJECTED, "all", "false")), "-")
    return table


def _flagging(result: ClaimsResult) -> str:
    """From which figures on claims are flagged."""
    by_a = (
        f"A flags what {result.agreement:g} of the answers or less do not contradict"
        if result.contradiction_only("A")
        else f"A flags at an agreement of {result.agreement:g} or less"
    )
    by_b = (
        f"B flags above a P(contradicted) of {1 - result.threshold:g}"
        if result.contradiction_only("B")
        else f"B flags below a P(supported) of {result.threshold:g}"
    )
    return f"{by_a}; {by_b}. " if "A" in result.methods else f"{by_b}. "


def _unread(result: ClaimsResult, method: Literal["A", "B"]) -> str:
    """What a method could not judge, or judged by some of the answers only, and why."""
    unread = [one for one in result.outcomes if one.score(method) is None]
    partly = [one for one in result.outcomes if method == "A" and one not in unread and one.unread_answers]
    said = ""
    for words, found in (("Not judged", unread), ("Some answers not read", partly)):
        if found:
            why = found[0].unread_why if method == "A" else found[0].problem
            said += f"{words} by {method}: {len(found)} of {len(result.outcomes)} ({why}). "
    return said


def _other_set(result: ClaimsResult, claims: ClaimSet) -> str:
    worked = {one.claim_id for one in result.outcomes}
    here = Counter(claim.category for claim in claims.claims if claim.claim_id in worked)
    published = {**{name: PUBLISHED["A"][name][1] for name in INJECTED}, SUPPORTED: PUBLISHED["A"]["false"][1]}
    if dict(here) == published:
        return "another set of the same make-up"
    return f"another set ({PUBLISHED['A']['all'][1]} unsupported claims, {published[SUPPORTED]} supported ones)"


def _cross(result: ClaimsResult, claims: ClaimSet) -> Table:
    counts = result.cross(claims.unsupported)
    table = empty_table("Unsupported claims caught")
    judged, worked = result.judged_by_both(claims.unsupported)
    if judged < worked:
        table.caption = Text(f"Over the {judged} of {worked} unsupported claims that both methods judged.")
    for header in ("", "B caught", "B missed"):
        table.add_column(header, justify="right" if header else "left")
    for caught in (True, False):
        table.add_row("A caught" if caught else "A missed", str(counts[caught, True]), str(counts[caught, False]))
    return table


def _missed(result: ClaimsResult, claims: ClaimSet) -> Table:
    table = empty_table("Unsupported claims missed")
    agreement = "share of answers that do not contradict" if result.contradiction_only("A") else "agreement"
    for header in ("by", "claim", "category", agreement, "P(supported)", "P(contradicted)", "text"):
        table.add_column(header, overflow="fold")
    for row in _missed_rows(result, claims):
        table.add_row(*row)
    return table


def _missed_rows(result: ClaimsResult, claims: ClaimSet) -> Iterator[tuple[str, ...]]:
    missed = {
        method: {claim.claim_id for claim, _ in result.missed(method, claims.claims)}
        for method in result.methods
        if method != "guard"
    }
    outcomes = {one.claim_id: one for one in result.outcomes}
    for claim in claims.unsupported:
        by = [method for method, ids in missed.items() if claim.claim_id in ids]
        if by:
            one = outcomes[claim.claim_id]
            figures = [_number(value) for value in (one.agreement, one.p_supported, one.p_contradicted)]
            yield ", ".join(by), claim.claim_id, claim.category, *figures, shortened(claim.text, 90)


def _cell(rate: Rate) -> Text:
    share, interval = rate.share, rate.interval
    if share is None or interval is None:
        return Text("-", style="dim")
    text = Text(f"{100 * share:.0f} ({rate.flagged}/{rate.judged})")
    text.append(f"\n{100 * interval[0]:.0f}..{100 * interval[1]:.0f}", style="dim")
    return text


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
