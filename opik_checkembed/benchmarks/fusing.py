"""Several methods as one row: the mean of their z-scores, or weighed by a fit whose scores are out of fold."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from opik_checkembed.benchmarks.keys import Key, names_apart
from opik_checkembed.benchmarks.scoring import Cost, JudgedText, Method, MethodScores, PassageScore, score_all
from opik_checkembed.benchmarks.table import RANDOM
from opik_checkembed.calibration.model import normal_share
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.progress import Progress, show_progress

FOLDS = 10
"""Folds of the cross-validation behind fitted rows."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FusedMethod:
    """A row that joins others.

    Args:
        name: Name of the row; a fitted one says so after it.
        parts: What it joins: methods, which are scored once however often they are asked for, or scores there are.
        fitted: False takes the mean of the parts' z-scores, all alike, nothing fitted. True weighs them by a logistic
            regression on the labels, cross-validated, so that no text is scored by a fit that has seen it.

    Raises:
        ConfigurationError: It has fewer than two parts, or one twice.
    """

    name: str
    parts: Sequence[Method | MethodScores]
    fitted: bool = False

    def __post_init__(self) -> None:
        keys = [key_of(part) for part in self.parts]
        if len(keys) < 2:
            raise ConfigurationError(f"the fused row {self.name!r} needs at least two parts")
        twice = [key for key in keys if keys.count(key) > 1]
        if twice:
            raise ConfigurationError(f"the fused row {self.name!r} has the part {twice[0].method!r} twice")

    @property
    def key(self) -> Key:
        """What tells it from other rows."""
        return Key(f"{self.name} (fitted)" if self.fitted else self.name)


@dataclass(frozen=True)
class Targets:
    """What a fit learns to tell.

    Attributes:
        texts: For each text 0 to 1, how far it is hallucinated: 0 or 1 where it is only known whether.
        sentences: For each text its sentences' values on the same scale; None where sentences have no labels.
        groups: Texts of one group are never on both sides of a fold.
        seed: Seed of the folds.
    """

    texts: Array
    sentences: Sequence[Array] | None
    groups: Sequence[Hashable]
    seed: int = 0


def key_of(method: Method | MethodScores | FusedMethod) -> Key:
    """What tells this row from others."""
    if isinstance(method, MethodScores | FusedMethod):
        return method.key
    return Key.of(method.name, method.model, method.identity)


def check_sizes(**sizes: int | None) -> None:
    """Refuse a number of texts or resamples below 1.

    Raises:
        ConfigurationError: One is.
    """
    for name, value in sizes.items():
        if value is not None and value < 1:
            raise ConfigurationError(f"{name} must be at least 1, not {value!r}")


def run_methods(
    texts: Sequence[JudgedText],
    methods: Sequence[Method | FusedMethod],
    plan: Callable[[Method], tuple[Sequence[int], int]],
    targets: Targets,
    progress: bool | Progress = True,
) -> list[MethodScores]:
    """Score the texts with every method, and fuse those that are to be fused; no method is scored twice.

    Args:
        texts: What is scored.
        methods: In the order of the rows.
        plan: For a method the numbers of samples to score it with, and the one that its row is about.
        targets: For fitted rows, one for each text.
        progress: As in `evaluate_locally`; counts the texts of all methods.

    Raises:
        ConfigurationError: Two methods have one name, model and identity, or a part was scored over fewer texts than
            these.
        ItemError: As for `score_all`.
    """
    keys = [key_of(method) for method in methods]
    twice = next((key for key in keys if keys.count(key) > 1 or key.method == RANDOM), None)
    if twice is not None:
        raise ConfigurationError(f"the method {twice.method!r} stands twice in the table")
    wanted = {key_of(m): m for one in methods for m in _plain_methods(one)}
    done: dict[Key, MethodScores] = {}
    with show_progress(len(wanted) * len(texts), progress) as advance:

        def scores_of(method: Method | MethodScores) -> MethodScores:
            if isinstance(method, MethodScores):
                return method
            key = key_of(method)
            if key not in done:
                counts, headline = plan(method)
                done[key] = score_all(method, texts, counts, headline, advance)
            return done[key]

        rows = []
        for method in methods:
            if isinstance(method, FusedMethod):
                parts = [scores_of(part) for part in method.parts]
                rows.append(fused(method, parts, texts, targets if method.fitted else None))
            else:
                rows.append(scores_of(method))
    return rows


def _plain_methods(method: Method | FusedMethod) -> list[Method]:
    if isinstance(method, FusedMethod):
        return [part for part in method.parts if not isinstance(part, MethodScores)]
    return [method]


def fused(
    method: FusedMethod, parts: Sequence[MethodScores], texts: Sequence[JudgedText], targets: Targets | None = None
) -> MethodScores:
    """The scores of a fused row.

    Each part's scores become z-scores: their mean is taken off, and they are divided by their standard deviation, both
    over the texts (or sentences) that the part scored. A text's score is the place of their mean over the parts on the
    normal distribution, 0 to 1: what `EnsembleMetric` gives a text that all parts scored, with the moments of this
    data. A sentence's takes the sentences' z-scores of the parts that score sentences, and the texts' of those that
    score texts alone. A part that could not score something counts there as its mean, z-score 0; what no part could
    score has no score.

    The mean itself has no bounds, but labels end at 0 and 1, and so do places: a straight line fits the two better.
    The order, and what rests on it, is that of the mean, or of the sum.

    With k samples a part is read at the most samples up to k that it was scored with.

    Args:
        method: Names the row.
        parts: The scores of its parts.
        texts: The texts they are about, the first of them if parts have more.
        targets: What to fit weights to, instead of equal ones: for each fold of texts a logistic regression on the
            z-scores of the others, whose moments are taken over these others too. The scores are its probabilities. A
            label between 0 and 1 counts as that share of a 1 and the rest of a 0.

    Raises:
        ConfigurationError: A part was scored over fewer texts, or there are too few labels to fit.
    """
    short = next((part for part in parts if len(part.texts) < len(texts)), None)
    if short is not None:
        raise ConfigurationError(
            f"{short.title} was scored over {len(short.texts)} {texts[0].noun}s of {len(texts)}; score it again"
        )
    parts = [part.first(len(texts)) for part in parts]
    least = max(part.counts[0] for part in parts)
    counts = sorted({k for part in parts for k in part.counts if k >= least})
    by_count = {k: _joined([_read(part, k) for part in parts], texts, targets) for k in counts}
    scores = [
        {k: by_count[k][place] for k in counts} if by_count[counts[0]][place].value is not None else None
        for place in range(len(texts))
    ]
    failures = {
        text.id: "; ".join(dict.fromkeys(part.failures.get(text.id, "no score") for part in parts))
        for text, found in zip(texts, scores, strict=True)
        if found is None
    }
    return MethodScores(
        method=method.key.method,
        model=method.key.model,
        published=None,
        headline=max(part.headline for part in parts),
        varies=len(counts) > 1,
        texts=tuple(scores),
        failures=failures,
        seconds=sum(part.seconds for part in parts),
        parts=tuple(names_apart([part.key for part in parts])),
        notes=_notes(parts, texts, targets),
    )


def _notes(parts: Sequence[MethodScores], texts: Sequence[JudgedText], targets: Targets | None) -> tuple[str, ...]:
    how = "equal weights, z-scores over this data, nothing fitted"
    if targets is not None:
        how = "logistic regression on this data's labels, cross-validated, scores out of fold"
    lacking = sum(any(p.texts[place] is None for p in parts) for place in range(len(texts)))
    partly = (f"{lacking} of {len(texts)} {texts[0].noun}s lack a part",) if lacking else ()
    return (f"{' + '.join(names_apart([part.key for part in parts]))}: {how}", *partly)


def _read(part: MethodScores, k: int) -> list[PassageScore | None]:
    """The part's scores from at most k samples."""
    nearest = max(count for count in part.counts if count <= k)
    return [None if scores is None else scores[nearest] for scores in part.texts]


def _joined(
    parts: Sequence[Sequence[PassageScore | None]], texts: Sequence[JudgedText], targets: Targets | None
) -> list[PassageScore]:
    """One score for each text, its value None where no part has one."""
    whole = np.array([[np.nan if s is None or s.value is None else s.value for s in part] for part in parts]).T
    splits = [any(s is not None and s.sentences is not None for s in part) for part in parts]
    values = _weighed(whole, targets and replace(targets, sentences=None), np.arange(len(texts)))
    sentences = _sentences(parts, splits, whole, texts, targets) if any(splits) else None
    bounds = np.cumsum([0, *(len(text.sentences) for text in texts)])
    found = []
    for place in range(len(texts)):
        own = None if sentences is None else sentences[bounds[place] : bounds[place + 1]]
        costs = [s.cost for part in parts if (s := part[place]) is not None and s.cost is not None]
        found.append(
            PassageScore(
                _known(values[place]),
                None if own is None else tuple(_known(one) for one in own),
                Cost(sum(c.seconds for c in costs), sum(c.judge_calls for c in costs), sum(c.kept for c in costs)),
            )
        )
    return found


def _sentences(
    parts: Sequence[Sequence[PassageScore | None]],
    splits: Sequence[bool],
    whole: Array,
    texts: Sequence[JudgedText],
    targets: Targets | None,
) -> Array | None:
    """The sentences' scores, those of all texts in a row; None where there is no label to fit them to."""
    within = np.repeat(np.arange(len(texts)), [len(text.sentences) for text in texts])
    columns = []
    for place, part in enumerate(parts):
        if not splits[place]:
            columns.append(whole[within, place])
            continue
        scores: list[float] = []
        for text, score in zip(texts, part, strict=True):
            own = (None,) * len(text.sentences) if score is None or score.sentences is None else score.sentences
            scores += [np.nan if one is None else one for one in own]
        columns.append(np.array(scores))
    if targets is None:
        # A text's z-score is the same for all of its sentences, and its moments are those over texts.
        zs = [
            _z(column) if own else _z(whole[:, place])[within]
            for place, (own, column) in enumerate(zip(splits, columns, strict=True))
        ]
        return _places(np.array(zs).T)
    if targets.sentences is None:
        return None
    return _weighed(np.array(columns).T, targets, within)


def _weighed(features: Array, targets: Targets | None, within: NDArray[np.intp]) -> Array:
    """The places of the rows' mean z-scores, or out-of-fold predictions; NaN in rows without any score."""
    if targets is None:
        return _places(np.array([_z(column) for column in features.T]).T)
    labels = targets.texts if targets.sentences is None else np.concatenate(targets.sentences)
    known = ~np.isnan(features).all(axis=1)
    found = np.full(len(features), np.nan)
    for fold in _folds(targets)[:, within]:
        held, rest = fold & known, ~fold & known
        mean, deviation = _moments(features[rest])
        z = np.nan_to_num((features - mean) / deviation)
        if held.any():
            found[held] = _predicted(z[rest], labels[rest], z[held])
    return found


def _folds(targets: Targets) -> NDArray[np.bool_]:
    """For each fold which texts are held out, shape (folds, texts); no group is in two."""
    groups = list(dict.fromkeys(targets.groups))
    if len(groups) < 2:
        raise ConfigurationError("a fit needs at least two groups of texts: one to learn from, one to be scored")
    order = np.random.default_rng(targets.seed).permutation(len(groups)) % min(FOLDS, len(groups))
    fold_of = dict(zip(groups, order, strict=True))
    folds = np.array([fold_of[group] for group in targets.groups])
    held: NDArray[np.bool_] = folds == np.arange(order.max() + 1)[:, None]
    return held


def _predicted(known: Array, labels: Array, held: Array) -> Array:
    from sklearn.linear_model import LogisticRegression

    # Each row twice, as a 1 and as a 0; the likelihood is that of a fractional response (Papke & Wooldridge 1996).
    weights = np.concatenate([labels, 1 - labels])
    counts = weights > 0
    outcomes = np.repeat([1, 0], len(labels))[counts]
    if len(np.unique(outcomes)) < 2:
        raise ConfigurationError("a fold cannot be fitted: the others have no scores, or all the same label")
    rows = np.concatenate([known, known])[counts]
    fit = LogisticRegression().fit(rows, outcomes, sample_weight=weights[counts])
    probabilities: Array = fit.predict_proba(held)[:, 1]
    return probabilities


def _moments(columns: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of each column's known values; 0 and 1 where there is nothing to scale by."""
    known = ~np.isnan(columns)
    count = np.maximum(known.sum(0), 1)
    mean = np.where(known, columns, 0.0).sum(0) / count
    deviation = np.sqrt((np.where(known, columns - mean, 0.0) ** 2).sum(0) / count)
    # Equal values differ from their mean by no more than rounding.
    return mean, np.where(deviation > 1e-12 * np.maximum(np.abs(mean), 1e-300), deviation, 1.0)


def _z(column: Array) -> Array:
    mean, deviation = _moments(column[:, None])
    z: Array = (column - mean) / deviation
    return z


def _places(z: Array) -> Array:
    """Where each row's mean lies on the normal distribution, unknown values at their column's mean, 0."""
    places = np.array([normal_share(mean) for mean in np.nan_to_num(z).mean(axis=1)])
    places[np.isnan(z).all(axis=1)] = np.nan
    return places


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
