"""Local results as a table for a terminal: which answers to doubt comes first."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from rich import box
from rich.table import Table
from rich.text import Text

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.samples.request import INPUT_FIELDS

if TYPE_CHECKING:
    from opik_checkembed.results import ItemResult, LocalResults, Score

# Characters at most: of what was asked, of an id, and of a header's line that can be broken.
_ASKED = 72
_ID = 14
_HEADER = 10
_CAPTION = 76
_MANY = 8  # columns that are set closer
_IDS = 5  # named for each reason


def results_table(
    results: LocalResults,
    *,
    title: str | None = None,
    text_field: str | None = None,
    limit: int | None = None,
    extra: Mapping[str, Mapping[str, float]] | None = None,
) -> Table:
    """One row for each item, worst first: those that could not be scored, then by the first score.

    The caption says why items failed, and each score's mean, the calls made and their cost.

    A metric whose evidence holds `mean`, `std` and `confident`, as CheckEmbed's does, gets columns for them. What an
    item holds is shown as it is: markup and control characters in it have no effect.

    Args:
        results: What `evaluate_locally` returned.
        title: Above the table.
        text_field: The field to show as what was asked; None takes `input`, `question`, else the last of `messages`.
        limit: Show only so many rows; the caption says of how many.
        extra: More columns: a value for each item id, by header.

    Returns:
        For `rich.console.Console().print`.

    Raises:
        ConfigurationError: No item has the `text_field`, or `limit` is below 1.
    """
    if limit is not None and limit < 1:
        raise ConfigurationError(f"limit must be at least 1, not {limit!r}")
    fields = [{**item.item, **item.output} for item in results.items]
    if text_field is not None and fields and not any(text_field in one for one in fields):
        known = ", ".join(dict.fromkeys(str(name) for one in fields for name in one))
        raise ConfigurationError(f"no item has a field {text_field!r}; there are {known}")
    names = results.names
    ruled = _ruled(results)
    first = names[0] if names else ""
    way = results.directions.get(first)
    rows = sorted(zip(results.items, fields, strict=True), key=lambda row: _rank(row[0].score(first), way))[:limit]

    columns = [
        _Column("id", [Text(_tail(clean(item.id))) for item, _ in rows]),
        _Column("asked", [_asked(one, text_field) for _, one in rows]),
    ]
    for name in names:
        scores = [item.score(name) for item, _ in rows]
        columns.append(_Column(name, [_value(score) for score in scores], numbers=True))
        if name in ruled:
            verdicts = [_verdict(score) for score in scores]
            columns.append(_Column("mean", [_number(v and v.mean) for v in verdicts], numbers=True))
            columns.append(_Column("std", [_number(v and v.std) for v in verdicts], numbers=True))
            columns.append(_Column("confident", [_confident(v) for v in verdicts]))
    for header, values in (extra or {}).items():
        columns.append(_Column(header, [_number(values.get(item.id)) for item, _ in rows], numbers=True))
    if any(item.cost_usd != 0 for item in results.items):
        columns.append(_Column("cost", [Text(dollars(item.cost_usd)) for item, _ in rows], numbers=True))

    caption = _caption(results, [item for item, _ in rows])
    table = empty_table(
        None if title is None else clean(title),
        caption,
        min_width=min(_CAPTION, max(line.cell_len for line in caption.split())),
        gap=1 if len(columns) < _MANY else 0,
    )
    for column in columns:
        # Too narrow a terminal folds, the questions first, and cuts nothing.
        table.add_column(_header(column.name), justify="right" if column.numbers else "left", overflow="fold")
    for cells in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*cells)
    return table


def empty_table(title: str | None, caption: Text | None = None, *, min_width: int | None = None, gap: int = 1) -> Table:
    """A table without columns yet, as all of this package look: a rule below the headers, and no frame.

    Args:
        title: Above it, in bold.
        caption: Below it.
        min_width: Characters it is wide at least. Title and caption are folded to the table's width, and a narrow table
            is not to make a column of them.
        gap: Characters between columns.
    """
    return Table(
        title=None if title is None else Text(title, style="bold"),
        title_justify="left",
        caption=caption,
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, gap, 0, 0),
        pad_edge=False,
        min_width=min_width,
    )


@dataclass(frozen=True)
class _Column:
    name: str
    cells: list[Text]
    numbers: bool = False


class _Verdict(NamedTuple):
    mean: float
    std: float
    confident: bool
    identical: bool


def _rank(first: Score | None, higher_is_better: bool | None) -> tuple[int, float]:
    """Sorts failed items first, then those without this score, then the worst; higher is better unless said not to."""
    if first is None:
        return 1, 0.0
    if first.value is None:
        return 0, 0.0
    return 2, -first.value if higher_is_better is False else first.value


def _ruled(results: LocalResults) -> list[str]:
    """The scores with a rule's verdict, each verdict once: a metric's second score rests on the same evidence."""
    found: list[str] = []
    seen: list[list[_Verdict | None]] = []
    for name in results.names:
        verdicts = [_verdict(item.score(name)) for item in results.items]
        if any(verdicts) and not any(_same(verdicts, known) for known in seen):
            found.append(name)
            seen.append(verdicts)
    return found


def _same(verdicts: Sequence[_Verdict | None], known: Sequence[_Verdict | None]) -> bool:
    return all(one is None or one == other for one, other in zip(verdicts, known, strict=True))


def _verdict(score: Score | None) -> _Verdict | None:
    mean, std, confident = (score and score.evidence.get(name) for name in ("mean", "std", "confident"))
    if isinstance(mean, float) and isinstance(std, float) and isinstance(confident, bool):
        return _Verdict(mean, std, confident, bool(score and score.evidence.get("identical")))
    return None


def _confident(verdict: _Verdict | None) -> Text:
    if verdict is None:
        return _number(None)
    if verdict.identical:
        return Text("same", style="dim")
    return Text("yes", style="green") if verdict.confident else Text("no", style="yellow")


def _value(score: Score | None) -> Text:
    if score is not None and score.failed:
        return Text("failed", style="bold red")
    return _number(None if score is None else score.value)


def _number(value: float | None) -> Text:
    if value is None:
        return Text("-", style="dim")
    # What rounding leaves of an exact 0 is shown as one.
    size = abs(value)
    return Text(f"{value:.3f}" if 0.0005 <= size < 1000 or size < 1e-9 else f"{value:.3g}")


def dollars(value: float | None) -> str:
    """A cost in words; "unknown" for None."""
    if value is None:
        return "unknown"
    if value == 0:
        return "$0"
    return f"${value:.4f}" if value >= 0.0001 else f"${value:.0e}"


def _asked(fields: Mapping[str, Any], text_field: str | None) -> Text:
    name = text_field or next((n for n in (*INPUT_FIELDS, "messages") if fields.get(n) is not None), None)
    asked = None if name is None else fields.get(name)
    return _number(None) if asked is None else Text(_shortened(clean(text_in(asked))))


def text_in(value: Any) -> str:
    """What was asked in words: of a conversation its last turn, of content parts the texts."""
    if isinstance(value, list | tuple) and value and all(isinstance(part, Mapping) for part in value):
        last = value[-1]
        if "role" in last:
            return text_in(last.get("content"))
        return " ".join(str(part.get("text", f"[{part.get('type')}]")) for part in value)
    return str(value)


def clean(text: str) -> str:
    """One line that a terminal shows and does not obey; the joiner of emoji stays."""
    return "".join(c if c.isprintable() or c == "\u200d" else "\ufffd" for c in " ".join(text.split()))


def _shortened(text: str) -> str:
    return text if len(text) <= _ASKED else text[: _ASKED - 1].rstrip() + "…"


def _tail(text: str) -> str:
    # Opik's ids begin with the time, so that those of one run differ at the end.
    return text if len(text) <= _ID else "…" + text[1 - _ID :]


def _header(name: str) -> Text:
    """A header that breaks before an underscore or at a space, where it would be wider than the numbers need."""
    lines = [""]
    for piece in re.split("(?=_)|(?<= )", clean(name)):
        if lines[-1] and len(lines[-1] + piece.rstrip()) > _HEADER:
            lines.append("")
        lines[-1] += piece
    return Text("\n".join(line.rstrip() for line in lines))


def _caption(results: LocalResults, shown: Sequence[ItemResult]) -> Text:
    caption = Text()
    for reason, ids in _failures(shown).items():
        more = f" and {len(ids) - _IDS} more" if len(ids) > _IDS else ""
        caption.append(f"{', '.join(ids[:_IDS])}{more}: {reason}\n", style="red")
    lines = []
    for name, summary in results.summary().items():
        mean = "no mean" if summary.mean is None else f"mean {_number(summary.mean)}"
        way = {True: ", higher is better", False: ", lower is better", None: ""}[summary.higher_is_better]
        lines.append(f"{clean(name)}: {mean}, {summary.scored} scored, {summary.failed} failed{way}")
    if any(verdict.identical for item in shown for score in item.scores if (verdict := _verdict(score))):
        lines.append("same: all samples are identical; a sure answer, or a provider's cache")
    if len(shown) < len(results.items):
        lines.append(f"shown: the worst {len(shown)} of {len(results.items)} items")
    cost = results.cost_usd
    calls = f"{results.calls or 'no'} call{'' if results.calls == 1 else 's'} to the model"
    lines.append(f"{calls}, {'cost unknown' if cost is None else f'{dollars(cost)} paid'}")
    return caption.append("\n".join(lines), style="dim")


def _failures(shown: Sequence[ItemResult]) -> dict[str, list[str]]:
    """The items behind each reason, in the order of the rows."""
    found: dict[str, list[str]] = {}
    for item in shown:
        reasons: dict[str, list[str]] = {}
        for score in item.scores:
            if score.failed:
                reasons.setdefault(clean(score.reason or "no reason was given"), []).append(clean(score.name))
        for reason, names in reasons.items():
            whose = "failed" if len(names) == len(item.scores) else f"{', '.join(names)} failed"
            found.setdefault(f"{whose}: {reason}", []).append(_tail(clean(item.id)))
    return found
