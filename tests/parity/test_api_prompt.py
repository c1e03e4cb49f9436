"""The prompt method against selfcheckgpt's, both asking one scripted server."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from opik.evaluation.metrics.score_result import ScoreResult

from opik_checkembed.functional.selfcheck import SelfCheckResult
from opik_checkembed.metrics.selfcheck_api_prompt import SelfCheckAPIPromptMetric
from opik_checkembed.splitters import RuleSplitter, Sentence
from opik_checkembed.testing import ChatCall, FakeOpenAI

OUTPUT = "Ernst Öpik was an astronomer. He was born in Kunda in 1893.\nHe wrote {books} on meteors. He died in Bangor."
SAMPLES = [
    "Ernst Öpik was an Estonian astronomer.\n\nHe was born in Kunda in 1893.",
    "Öpik was born in {Tallinn} in 1895. He died in Bangor.",
    "He was a painter.\nHe lived in Paris.",
]


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Scores of the reference and of ours, and the server that both asked, for an answer that depends on the prompt."""
    servers: list[FakeOpenAI] = []

    def run(answer: Callable[[ChatCall], str], sentences: Sequence[Sentence], output: str, samples: list[str]) -> Any:
        from selfcheckgpt.modeling_selfcheck_apiprompt import SelfCheckAPIPrompt

        servers.append(FakeOpenAI(answer))
        monkeypatch.setenv("OPENAI_BASE_URL", servers[-1].base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        reference = SelfCheckAPIPrompt(client_type="openai", model="judge")
        with reference.client:
            theirs = reference.predict([one.of(output) for one in sentences], samples)

        class Given:
            def split(self, text: str) -> list[Sentence]:
                return list(sentences)

        metric = SelfCheckAPIPromptMetric(
            judge="openai/judge", fence=False, splitter=Given(), min_tokens=1, min_samples=1, store=None, track=False
        )
        ours = metric.score(output=output, samples=samples)
        assert isinstance(ours, ScoreResult)
        return np.asarray(theirs), ours, servers[-1]

    yield run
    for server in servers:
        server.close()


def sentence_scores(result: ScoreResult) -> list[float]:
    assert result.metadata is not None
    found = [one.score for one in SelfCheckResult.from_dict(result.metadata["evidence"]).sentences]
    assert None not in found
    return [score for score in found if score is not None]


def by_prompt(*replies: str) -> Callable[[ChatCall], str]:
    return lambda call: replies[zlib.crc32(call.prompt.encode()) % len(replies)]


def test_the_same_prompts_and_the_same_scores(both: Callable[..., Any]) -> None:
    sentences = RuleSplitter().split(OUTPUT)
    # What both sides read alike, since the reference looks at the first letters.
    answer = by_prompt("Yes", "No", "yes.", "NO", "No, it is not", "Yes, it is", "No.\nThe", "yes because it")

    theirs, ours, server = both(answer, sentences, OUTPUT, SAMPLES)

    assert len(sentences) == 4
    assert len(set(theirs)) > 1
    np.testing.assert_allclose(sentence_scores(ours), theirs, atol=1e-4, rtol=0)
    asked = [call.body for call in server.calls]
    assert len(asked) == 24
    # The reference asks sentence by sentence, ours sample by sample; to the letter they ask the same.
    assert sorted(str(body["messages"]) for body in asked[:12]) == sorted(str(body["messages"]) for body in asked[12:])
    assert {body["temperature"] for body in asked} == {0.0}
    assert [body["max_tokens"] for body in asked] == [5] * 12 + [16] * 12


def test_on_passages_of_wikibio(both: Callable[..., Any], wikibio: list[dict[str, Any]]) -> None:
    for passage in wikibio[:3]:
        output, place = passage["gpt3_text"], 0
        sentences = []
        for text in passage["gpt3_sentences"]:
            place = output.index(text, place)
            sentences.append(Sentence(place, place + len(text), 9))

        theirs, ours, _ = both(by_prompt("Yes", "No"), sentences, output, passage["gpt3_text_samples"][:4])

        np.testing.assert_allclose(sentence_scores(ours), theirs, atol=1e-4, rtol=0)


# reply: what the reference makes of it, and what it says
FAULTS = {
    # Its parser compares the first two or three letters of the whole reply, and takes a half for anything else ...
    "**No**": (0.5, 1.0),
    '"Yes"': (0.5, 0.0),
    "Answer: No": (0.5, 1.0),
    '{"answer": "no"}': (0.5, 1.0),
    "Nein": (0.5, 1.0),
    # ... so that a longer word that begins with them is a verdict, ...
    "Not mentioned": (1.0, None),
    "None": (1.0, None),
    "Nothing in the context": (1.0, None),
    "Yesterday": (0.0, None),
    "Yes and no": (0.0, None),
    # ... and a reply that says neither counts as undecided, where nobody decided anything.
    "N/A": (0.5, None),
    "Unclear": (0.5, None),
}


@pytest.mark.parametrize(("reply", "scores"), FAULTS.items(), ids=FAULTS)
def test_where_the_reference_misreads_a_reply(
    reply: str, scores: tuple[float, float | None], both: Callable[..., Any]
) -> None:
    output = "He died in Bangor."
    theirs, ours, _ = both(lambda _: reply, [Sentence(0, len(output), 4)], output, SAMPLES[:1])

    assert theirs == pytest.approx([scores[0]])
    if scores[1] is None:
        assert ours.scoring_failed
        assert "no verdict could be read" in ours.reason
    else:
        assert sentence_scores(ours) == [scores[1]]
