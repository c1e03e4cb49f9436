"""The claims of an item: given by the dataset, the answer's sentences, or those that an LLM splits sentences into.

And what any metric over claims says of them beside its own findings: what was not checked, not judged, and paid.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from opik_checkembed.errors import AnswerError, ConfigurationError, ModelError
from opik_checkembed.functional.claim_split import says_the_same
from opik_checkembed.functional.claims import Claim, NoClaim, no_claim
from opik_checkembed.language import bare_language
from opik_checkembed.models.judge import JudgePrompt
from opik_checkembed.models.replies import LLMReplies, joined_bills, replies_bill
from opik_checkembed.models.verifier import Verification
from opik_checkembed.samples.request import Fields, judged_output
from opik_checkembed.samples.sample import SampleSet, Status, status_of
from opik_checkembed.samples.sampler import samplers_of
from opik_checkembed.splitters import Sentence, SentenceSplitter, sentences_of, splitter_of
from opik_checkembed.wording import kind_of, shortened

if TYPE_CHECKING:
    from opik.evaluation.models import OpikBaseModel

ClaimsFrom = Literal["sentences", "llm"]

SPLIT_PROMPT = (
    "Sentence: {sentence}\n\nWrite down every statement that the sentence makes, each on a line of its own and as a "
    "full sentence. Use the sentence's own words, leave nothing out and add nothing. If it makes only one statement, "
    "repeat it.\n\nStatements:\n"
)
"""What an LLM is asked with `claims="llm"`."""

# Shorter sentences hardly make two statements, and are not worth a call.
_COMPOUND_TOKENS = 8
_REPLY_TOKENS = 400
_WORD = re.compile(r"[^\W_]+")
_BULLET = re.compile(r"^\s*(?:[-*+•–—]|\(?\d{1,3}[.)]|#+)\s+")


@dataclass(frozen=True)
class ReadClaims:
    """What is to be checked.

    Attributes:
        claims: At least one.
        skipped: Sentences that are no claims, by the reason.
        notes: What the score's reason must say.
        bill: What splitting took, as `replies_bill` has it; None where no model was asked.
    """

    claims: tuple[Claim, ...]
    skipped: Mapping[str, int]
    notes: tuple[str, ...]
    bill: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class CheckedClaims:
    """Claims and what a verifier found.

    Attributes:
        read: The claims.
        found: What was found; of each claim, or of each claim and sample.
    """

    read: ReadClaims
    found: Verification

    @property
    def evidence(self) -> dict[str, Any]:
        """What a metric's evidence holds beside its result: `skipped`, and `judging` where a model was asked."""
        bill = joined_bills(self.found.judging, self.read.bill)
        return {"skipped": dict(self.read.skipped), **({} if bill is None else {"judging": bill})}

    def notes(self, unjudged: int) -> tuple[str, ...]:
        """What the score's reason must say.

        Args:
            unjudged: Claims of which nothing was found.
        """
        left_out = f"{unjudged} of {len(self.read.claims)} claims could not be judged and are left out"
        return (*((left_out,) if unjudged else ()), *self.read.notes, *self.found.notes)

    def nothing(self) -> ModelError:
        """Why there is no score, where no claim could be judged."""
        problem = next(filter(None, (one.problem for one in self.found.supports)))
        told = "; ".join([problem, *self.found.notes])
        return ModelError(f"none of {len(self.read.claims)} claims could be judged: {told}")


class ClaimReader:
    """Reads the claims of an item.

    An item's own `claims` (a list of texts, or of objects with `text`) are taken as they are. Else the sentences of
    its output are claims, but for questions, greetings, hedges, headings, remarks about the answer (see `no_claim`) and
    fragments of fewer than `min_tokens` tokens. With "llm" a model splits sentences of eight tokens or more; each part
    keeps its sentence's place. A sentence stays whole where the model's statements hold a name or number that it does
    not have, or leave one out.

    Args:
        claims: "sentences" or "llm".
        claims_model: A litellm name or `OpikBaseModel`; needed with "llm".
        claims_parameters: See `LLMReplies`: completion and connection parameters, `store`, `budget`, ...
        splitter: See `SelfCheckMetric`.
        language: Language code for the rules.
        min_tokens: See above.
        max_claims: Claims beyond are not checked, which the reason says; None for no limit.

    Raises:
        ConfigurationError: An argument cannot work; says what to do.
    """

    def __init__(
        self,
        claims: ClaimsFrom = "sentences",
        *,
        claims_model: str | OpikBaseModel | None = None,
        claims_parameters: Mapping[str, Any] | None = None,
        splitter: SentenceSplitter | str | None = None,
        language: str = "en",
        min_tokens: int = 3,
        max_claims: int | None = 100,
    ) -> None:
        if claims not in get_args(ClaimsFrom):
            raise ConfigurationError(
                f"claims must be 'sentences' or 'llm', not {claims!r}; claims of your own stand in the item's field "
                "`claims`"
            )
        if (claims == "llm") != (claims_model is not None):
            raise ConfigurationError("claims='llm' and claims_model= go together: name the model that splits sentences")
        if claims_parameters is not None and (not isinstance(claims_parameters, Mapping) or claims_model is None):
            raise ConfigurationError("claims_parameters is a dict like {'max_tokens': 500}, beside claims_model=")
        if isinstance(min_tokens, bool) or not isinstance(min_tokens, int) or min_tokens < 1:
            raise ConfigurationError(f"min_tokens must be a whole number of at least 1, not {min_tokens!r}")
        if max_claims is not None and (
            isinstance(max_claims, bool) or not isinstance(max_claims, int) or max_claims < 1
        ):
            raise ConfigurationError(f"max_claims must be a whole number of at least 1 or None, not {max_claims!r}")
        self.language = bare_language(language)
        self.min_tokens = min_tokens
        self.max_claims = max_claims
        self.splitter = splitter_of(splitter, language)
        self._prompt = JudgePrompt(SPLIT_PROMPT, ["sentence"])
        self._llm = (
            None
            if claims_model is None
            else LLMReplies(
                claims_model, role="claim splitter", **{"reply_tokens": _REPLY_TOKENS, **(claims_parameters or {})}
            )
        )

    def samplers(self) -> list[object]:
        """See `AsksModels.samplers`."""
        return samplers_of(self._llm, self.splitter)

    def read(self, fields: Fields) -> ReadClaims:
        """The claims of an item.

        Raises:
            AnswerError: There is no output, it holds no claim, or `claims` is something else than a list of texts.
            ItemError: A reply of the splitting model is missing in replay.
        """
        if fields.get("claims") is not None:
            return self._limited(_given(fields), {}, ())
        output, notes = judged_output(fields)
        if status_of(output) is Status.REFUSED:
            raise AnswerError(f"the judged output is a refusal ({shortened(output)!r}): it claims nothing to check")
        found = sentences_of(self.splitter, output)
        kinds = [self._kind(sentence, output) for sentence in found]
        kept = [sentence for sentence, kind in zip(found, kinds, strict=True) if kind is None]
        skipped = Counter(kind.value for kind in kinds if kind is not None)
        if not kept:
            ways = "; lower min_tokens, or give `claims`" if NoClaim.FRAGMENT.value in skipped else ""
            raise AnswerError(f"the output holds no claim to check ({shortened(output)!r}){_listed(skipped)}{ways}")
        if skipped:
            many = f"{len(found) - len(kept)} of {len(found)} sentences claim nothing and were not checked"
            notes = (*notes, f"{many}{_listed(skipped)}")
        whole = [Claim(sentence.of(output), sentence.start, sentence.end) for sentence in kept]
        if self._llm is None:
            return self._limited(whole, skipped, notes)
        # Each sentence makes a claim at least, so that those beyond the cap need not be split.
        claims, said, bill = self._split(self._llm, whole[: self.max_claims], kept[: self.max_claims])
        return self._limited([*claims, *whole[len(kept[: self.max_claims]) :]], skipped, (*notes, *said), bill)

    def _kind(self, sentence: Sentence, output: str) -> NoClaim | None:
        kind = no_claim(sentence.of(output))
        return NoClaim.FRAGMENT if kind is None and sentence.tokens < self.min_tokens else kind

    def _limited(
        self,
        claims: Sequence[Claim],
        skipped: Mapping[str, int],
        notes: tuple[str, ...],
        bill: Mapping[str, Any] | None = None,
    ) -> ReadClaims:
        kept = tuple(claims[: self.max_claims])
        if len(kept) < len(claims):
            notes = (*notes, f"only the first {len(kept)} of {len(claims)} claims were checked (max_claims)")
        return ReadClaims(kept, dict(skipped), notes, bill)

    def _split(
        self, llm: LLMReplies, whole: Sequence[Claim], sentences: Sequence[Sentence]
    ) -> tuple[list[Claim], tuple[str, ...], Mapping[str, Any]]:
        asked = [place for place, sentence in enumerate(sentences) if sentence.tokens >= _COMPOUND_TOKENS]
        drawn = llm.ask([self._prompt.fill(sentence=whole[place].text) for place in asked])
        replies = dict(zip(asked, drawn, strict=True))
        claims: list[Claim] = []
        problems: Counter[str] = Counter()
        for place, claim in enumerate(whole):
            try:
                parts = self._parts(claim.text, replies[place]) if place in replies else [claim.text]
            except _NotItsOwn as problem:
                problems[str(problem)] += 1
                parts = [claim.text]
            claims += [Claim(part, claim.start, claim.end) for part in parts]
        notes = tuple(
            f"{count} of {len(asked)} sentences were checked whole: {problem}" for problem, count in problems.items()
        )
        return claims, notes, replies_bill([sample for one in drawn for sample in one.samples])

    def _parts(self, sentence: str, drawn: SampleSet) -> list[str]:
        """The statements that a reply makes of a sentence.

        Raises:
            _NotItsOwn: There is no reply of use, or its statements are not the sentence's.
        """
        if not drawn.usable:
            raise _NotItsOwn(f"the model gave no statements ({'; '.join(drawn.warnings())})")
        lines = [_BULLET.sub("", line).strip() for line in drawn.usable[0].text.splitlines()]
        told = [line for line in lines if no_claim(line) is None and len(_WORD.findall(line)) >= self.min_tokens]
        parts = list(dict.fromkeys(told))
        if not parts or not says_the_same(sentence, parts, self.language):
            raise _NotItsOwn("the model's statements say something else")
        return parts


class _NotItsOwn(Exception):
    """Why a sentence is not split."""


def _given(fields: Fields) -> list[Claim]:
    given = fields["claims"]
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise AnswerError(f"`claims` must be a list of texts, not {kind_of(given)}")
    texts = [one.get("text") if isinstance(one, Mapping) else one for one in given]
    for number, text in enumerate(texts):
        if not isinstance(text, str) or not text.strip():
            raise AnswerError(
                "`claims` must be a list of texts, or of objects with a `text`; "
                f"entry {number} is {given[number]!r:.80}"
            )
    if not texts:
        raise AnswerError("`claims` is empty: there is nothing to check")
    output = _output(fields)
    placed: list[Claim] = []
    after: dict[str, int] = {}
    for text in (str(one).strip() for one in texts):
        # One that is given twice may stand there twice.
        start = output.find(text, after.get(text, 0))
        start = output.find(text) if start < 0 else start
        after[text] = start + 1
        placed.append(Claim(text) if start < 0 else Claim(text, start, start + len(text)))
    return placed


def _output(fields: Fields) -> str:
    """The judged text, if there is one: given claims need none."""
    try:
        return judged_output(fields)[0]
    except AnswerError:
        return ""


def _listed(skipped: Mapping[str, int]) -> str:
    return f" ({', '.join(f'{kind}: {count}' for kind, count in skipped.items())})" if skipped else ""
