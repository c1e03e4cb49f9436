"""Results and comparisons as one HTML file that loads nothing: to look at, and to send to a colleague.

Texts of models and users reach the page escaped, or as JSON that its script turns into text nodes; the page's own
Content-Security-Policy runs no other script and loads nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from opik_checkembed._version import __version__
from opik_checkembed.gate.wording import level, share_of
from opik_checkembed.report.comparison_data import comparison_data
from opik_checkembed.report.page_data import page_data
from opik_checkembed.report.table import dollars

if TYPE_CHECKING:
    from opik_checkembed.gate.comparison import Comparison
    from opik_checkembed.gate.decision import Decision
    from opik_checkembed.results import LocalResults

_TEMPLATES = Path(__file__).parent / "templates"

# Control characters, lone surrogates and direction overrides: a page would obey or choke on them.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202d\u202e\ud800-\udfff]")

# What could end a script element, or a line of an old reader of JSON, or change the order in which an editor shows it.
_UNSAFE = re.compile("[<>&\u2028-\u202e]")

_GLYPHS = {"improved": "\u25b2", "no worse": "\u25cf", "worse": "\u25bc", "underpowered": "?"}


def results_page(results: LocalResults, *, title: str | None = None) -> str:
    """Finished results as an HTML page.

    It shows for each score its mean, distribution and failures; the items in a table that sorts and filters by any
    score; and of an item its answer with the sentences or claims coloured by score, what decided each, the samples
    side by side, the similarities of the answers, and the source.

    Args:
        results: What `evaluate_locally` returned, or `LocalResults.from_json` read.
        title: The page's heading; "Evaluation" if not given.

    Returns:
        The file's text, to be written as UTF-8.

    Example:
        >>> from opik_checkembed.results import ItemResult, LocalResults, Score
        >>> item = ItemResult("a", {"input": "Why?"}, {"output": "So."}, (Score("agreement", 0.5),))
        >>> results_page(LocalResults((item,))).splitlines()[0]
        '<!doctype html>'
    """
    found = page_data(results)
    return _page(
        "results",
        {
            "index": found.index,
            "texts": found.texts,
            **{f"item-{place}": details for place, details in enumerate(found.details)},
        },
        title=title or "Evaluation",
        items=len(results.items),
        scores=found.scores,
        failures=found.failures,
        unscored=found.unscored,
        calls=results.calls,
        cost=_cost(results.cost_usd),
        created=_moment(results.created),
    )


def comparison_page(comparison: Comparison, *, title: str | None = None, decision: Decision | None = None) -> str:
    """Two runs compared, as an HTML page.

    It shows the verdict on each score with the difference's interval against the margin, what is missing, and the
    items with both answers side by side, those that lost most first.

    Args:
        comparison: What `opik_checkembed.gate.comparison.compare` returned.
        title: The page's heading; "Comparison" if not given.
        decision: What a gate says of it; the page then begins with that, its reasons and the thresholds.

    Returns:
        The file's text, to be written as UTF-8.
    """
    found = comparison_data(comparison)
    return _page(
        "comparison",
        {"index": found.index},
        title=title or "Comparison",
        comparison=comparison,
        decision=decision,
        level=level(comparison.alpha),
        metrics=list(zip(comparison.metrics, found.intervals, strict=True)),
        missing=found.missing,
        one_sided=len(comparison.only_baseline) + len(comparison.only_candidate),
        glyphs=_GLYPHS,
    )


def _page(name: str, data: Mapping[str, Any], **shown: Any) -> str:
    script = Markup("\n" + _file("page.js") + "\n" + _file(f"{name}.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return (
        _environment()
        .get_template(f"{name}.html.j2")
        .render(
            script=script,
            script_hash=f"sha256-{digest}",
            style=Markup(_file("page.css")),
            version=__version__,
            data=[(name, _script_json(value)) for name, value in data.items()],
            **shown,
        )
    )


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_seen,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "breakable": _breakable,
        "count": _count,
        "figure": _figure,
        "share": share_of,
        "short": "{:.3g}".format,
        "signed": _signed,
        "thousands": "{:,}".format,
    }
    return environment


def _file(name: str) -> str:
    return (_TEMPLATES / name).read_text("utf-8")


def _script_json(value: Any) -> Markup:
    """JSON for a script element: nothing in it can end the element, and every character can be encoded."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    text = _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    # As an escape, JSON can hold a lone surrogate.
    return Markup(text.encode("utf-8", "backslashreplace").decode("utf-8"))


def _seen(value: Any) -> Any:
    """A text with what a page would obey, and not show, made visible."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return _UNSEEN.sub(lambda found: f"[U+{ord(found[0]):04X}]", value)


def _breakable(name: str) -> Markup:
    """A score's name that may break before an underscore."""
    return Markup("<wbr>_").join(escape(_seen(part)) for part in name.split("_"))


def _figure(value: float | None) -> str:
    if value is None:
        return "\u2013"
    # What rounding leaves of an exact 0 is shown as one.
    size = abs(value)
    return f"{value:z.3f}" if 0.0005 <= size < 1000 or size < 1e-9 else f"{value:.3g}"


def _signed(value: float | None) -> str:
    text = _figure(value)
    return text if value is None or not value > 0 else f"+{text}"


def _count(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def _cost(value: float | None) -> str:
    return "unknown, a price is missing" if value is None else dollars(value)


def _moment(created: str) -> str:
    """When the evaluation ended, in UTC; what is no such time as it is."""
    try:
        moment = datetime.fromisoformat(created)
    except ValueError:
        return created
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
