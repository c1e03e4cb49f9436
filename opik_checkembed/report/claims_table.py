"""What the methods catch of labelled claims, as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from opik_checkembed.benchmarks.claims import PUBLISHED, ClaimsResult, MethodName, Rate
from opik_checkembed.benchmarks.claims_data import INJECTED, ClaimSet
from opik_checkembed.wording import shortened


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
    told = "contradicted by the source" if result.contradiction_only else "not supported by the source"
    return {
        "A": f"A: agreement of {len(next(iter(result.regenerations.values()), ()))} answers",
        "B": f"B: {told}",
        "guard": "guard: numbers, names, wording",
    }


def _rates(result: ClaimsResult, claims: ClaimSet) -> Table:
    table = _table("Flagged, % (95 % Wilson interval)")
    table.caption = Text(
        f"Verifier {result.verifier}; answers by {result.generator or 'nobody: method A was not run'}. Recall by "
        "category (higher is better), false positives among the supported (lower). "
        + (
            "The classifier has no entailment label: it tells contradicted from not contradicted, nothing of support. "
            if result.contradiction_only
            else ""
        )
        + _unread(result)
        + "Published: gpt-4o-mini on another set of the same make-up."
    )
    table.add_column("method", overflow="fold")
    for header in (*INJECTED, "all", "false positives", "AUROC"):
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


def _unread(result: ClaimsResult) -> str:
    unread = [one for one in result.outcomes if one.support.doubt is None]
    if not unread:
        return ""
    return f"Not judged by B: {len(unread)} of {len(result.outcomes)} ({unread[0].problem}). "


def _cross(result: ClaimsResult, claims: ClaimSet) -> Table:
    counts = result.cross(claims.unsupported)
    table = _table("Unsupported claims caught")
    for header in ("", "B caught", "B missed"):
        table.add_column(header, justify="right" if header else "left")
    for caught in (True, False):
        table.add_row("A caught" if caught else "A missed", str(counts[caught, True]), str(counts[caught, False]))
    return table


def _missed(result: ClaimsResult, claims: ClaimSet) -> Table:
    table = _table("Unsupported claims missed")
    for header in ("by", "claim", "category", "agreement", "P(supported)", "P(contradicted)", "text"):
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


def _table(title: str) -> Table:
    return Table(
        title=Text(title, style="bold"),
        title_justify="left",
        caption_justify="left",
        caption_style="",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )


def _cell(rate: Rate) -> Text:
    share, interval = rate.share, rate.interval
    if share is None or interval is None:
        return Text("-", style="dim")
    text = Text(f"{100 * share:.0f} ({rate.flagged}/{rate.judged})")
    text.append(f"\n{100 * interval[0]:.0f}..{100 * interval[1]:.0f}", style="dim")
    return text


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
