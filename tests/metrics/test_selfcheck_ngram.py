"""The n-gram metric, and with it what all SelfCheckGPT metrics share."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest
from opik.evaluation.metrics.score_result import ScoreResult

from opik_checkembed import SelfCheckNgramMetric, SelfCheckResult, evaluate_locally
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.splitters import Sentence

OUTPUT = "She was born in Bergen in 1901. She died in Oslo in 1970."
SAMPLES = ["She was born in Oslo in 1901. She died in Oslo.", "She was born in 1901 in Oslo. She died in Oslo in 1970."]


def scored(output: str = OUTPUT, samples: Any = SAMPLES, **options: Any) -> ScoreResult:
    metric = SelfCheckNgramMetric(**{"store": None, "track": False, **options})
    result = metric.score(output=output, samples=samples)
    assert isinstance(result, ScoreResult)
    return result


def sentences(result: ScoreResult) -> list[dict[str, Any]]:
    assert result.metadata is not None
    found: list[dict[str, Any]] = result.metadata["evidence"]["sentences"]
    return found


def test_the_rarest_word_is_worked_out_by_hand() -> None:
    result = scored()

    # 8 + 7 tokens in the output, 8 + 5 and 8 + 7 in the samples: Bergen is one of 43. 1970 is two of them.
    assert result.value == pytest.approx(math.log(43))
    first, second = sentences(result)
    assert first["score"] == pytest.approx(math.log(43))
    assert second["score"] == pytest.approx(math.log(43 / 2))
    assert first["detail"]["rarest"] == "Bergen"
    assert OUTPUT[first["detail"]["rarest_start"] : first["detail"]["rarest_end"]] == "Bergen"
    assert first["detail"]["in_samples"] == []
    assert first["support"] is None
    assert second["detail"]["rarest"] == "1970"
    assert second["detail"]["in_samples"] == [1]
    place = second["support"]
    assert SAMPLES[place["sample"]][place["start"] : place["end"]] == place["text"] == "She died in Oslo in 1970."


def test_the_reason_names_the_worst_sentence_and_why() -> None:
    assert scored().reason == (
        "Sentence 1 of 2 is supported least, 3.761 (-log p, 0 upward without bound, lower is better): "
        "'She was born in Bergen in 1901.'; 'Bergen' is in 0 of 2 samples."
    )


def test_the_mean_is_the_papers_passage_score() -> None:
    result = scored(aggregate="mean")

    assert result.value == pytest.approx((math.log(43) + math.log(43 / 2)) / 2)
    assert str(result.reason).startswith("The mean of 2 sentences is 3.415; sentence 1 of 2 is supported least, 3.761")


def test_the_mean_counts_the_sentences_that_it_is_of() -> None:
    result = scored("She was born in Bergen in 1901.", aggregate="mean")

    # Bergen is one of 8 + 13 + 15 tokens.
    assert result.value == pytest.approx(math.log(36))
    assert str(result.reason).startswith("The mean of 1 sentence is 3.584; sentence 1 of 1 is supported least, 3.584")


def test_the_average_over_a_sentences_tokens() -> None:
    result = scored("cat hat.", ["cat cat.", "cat hat."], statistic="avg", min_tokens=1)

    # cat 4 times, hat 2, the full stop 3, of 9.
    assert result.value == pytest.approx((math.log(9 / 4) + math.log(9 / 2) + math.log(9 / 3)) / 3)


def test_spans_are_the_outputs_own_whatever_lower_case_does_to_lengths() -> None:
    output = "- İstanbul'da doğdu ve orada öldü.\n- İzmir'de okudu ve çalıştı."  # lower() lengthens a dotted I

    for one in sentences(scored(output, ["Ankara'da doğdu.", "Orada öldü."], language="tr")):
        assert output[one["start"] : one["end"]] == one["text"]
        detail = one["detail"]
        assert output[detail["rarest_start"] : detail["rarest_end"]] == detail["rarest"]


def test_white_space_is_never_the_rarest_word() -> None:
    samples = ["She was born in Bergen.", "In Bergen she was born."]
    result = scored("She was born  in Bergen.", samples)

    # 7 tokens with the second space, and twice 6: it is one of 19, every word three.
    assert result.value == pytest.approx(math.log(19))
    (one,) = sentences(result)
    assert one["detail"]["rarest"] == "She"
    assert one["detail"]["white_space_is_rarer"] is True
    assert str(result.reason).endswith("; 'She' is in 2 of 2 samples; its white space is rarer.")
    # As rare a word is named without more.
    other = scored("She was born  in Oslo.", samples)
    assert str(other.reason).endswith("; 'Oslo' is in 0 of 2 samples.")


@pytest.mark.parametrize(
    ("language", "output", "samples", "rarest"),
    [
        ("ja", "彼女は大阪で生まれた。", ["彼女は東京で生まれた。"] * 2, "大"),
        ("th", "เธอเกิดที่ยะลา", ["เธอเกิดที่เลย"] * 2, "ะ"),
        ("ko-KR", "그녀는 부산에서 태어났다.", ["그녀는 서울에서 태어났다."] * 2, "부"),
        ("vi_VN", "Cô ấy sinh ra ở Huế.", ["Cô ấy sinh ra ở Vinh."] * 2, "Huế"),
        ("zh-CN", "她出生在大阪市区。", ["她出生在东京市区。"] * 2, "大"),
        ("en-US", "She was born in Bergen.", ["She was born in Oslo."] * 2, "Bergen"),
    ],
)
def test_no_language_needs_another_package(
    language: str, output: str, samples: list[str], rarest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("sudachipy", "natto", "pythainlp", "pyvi"):
        monkeypatch.setitem(sys.modules, package, None)

    result = scored(output, samples, language=language)

    assert not result.scoring_failed, result.reason
    (one,) = sentences(result)
    assert one["detail"]["rarest"] == rarest
    assert output[one["detail"]["rarest_start"] : one["detail"]["rarest_end"]] == rarest


def test_a_region_changes_no_score() -> None:
    output, samples = "Sie kam am 3. Mai z. B. an. Dann ging sie.", ["Sie kam am 4. Mai an."] * 2

    scores = {scored(output, samples, language=code).value for code in ("de", "de-AT", "de_CH", "DE")}

    assert len(scores) == 1


def test_an_ngram_is_shown_whole() -> None:
    (one,) = sentences(scored("She was born in Bergen.", ["She was born in Oslo."] * 2, n=3))

    # "born in Bergen" and "in Bergen ." occur once each.
    assert one["detail"]["rarest"] == "born in Bergen"


def test_the_result_reads_back() -> None:
    result = scored()
    assert result.metadata is not None

    again = SelfCheckResult.from_dict({k: result.metadata["evidence"][k] for k in ("sentences", "aggregate")})

    assert again.value == result.value
    assert [s.text for s in again.flagged(3.5)] == ["She was born in Bergen in 1901."]
    evidence = dict(result.metadata["evidence"])
    assert evidence.pop("options")["n"] == 1
    assert json.loads(json.dumps(again.to_dict())) == json.loads(json.dumps(evidence))


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ("Hello!", "the output holds no sentence to check ('Hello!')"),
        ("Paris", "no piece of it outside code has 4 tokens; lower min_tokens"),
        ("```python\nx = 1\ny = 2\nprint(x + y)\n```", "the output holds no sentence to check"),
    ],
)
def test_an_output_without_a_sentence_is_not_scored(output: str, says: str) -> None:
    result = scored(output)

    assert result.scoring_failed
    assert says in str(result.reason)


def test_one_word_is_scored_if_asked_for() -> None:
    assert scored("Paris", ["Paris", "Lyon"], min_tokens=1).value == pytest.approx(math.log(3 / 2))


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("```\nx = 1815\n```", "1 fenced code block was not scored."),
        ("- ```\n  x = 1815\n  ```\n~~~\ny = 2\n~~~", "2 fenced code blocks were not scored."),
    ],
)
def test_code_that_is_left_out_is_said(code: str, says: str) -> None:
    with_code = scored(f"{OUTPUT}\n{code}\n")
    assert with_code.value == scored().value
    assert [one["text"] for one in sentences(with_code)] == [one["text"] for one in sentences(scored())]
    assert str(with_code.reason).endswith(says)
    assert "code" not in str(scored().reason)


def test_what_is_left_out_is_said() -> None:
    result = scored("Hi! She was born in Oslo. OK.")

    assert len(sentences(result)) == 1
    assert "2 of 3 sentences have fewer than 4 tokens and were not scored" in str(result.reason)


@pytest.mark.parametrize(
    ("output", "count"),
    [
        ("- She was born in Oslo\n- She died in Bergen\n", 2),
        ("東京は日本の首都です。大阪は西にある都市です。", 2),
        ("| name | born in |\n|---|---|\n| Ada | 1815 or so |", 2),
        (" ".join(f"Fact number {i} is here." for i in range(200)), 200),
    ],
)
def test_lists_tables_scripts_and_long_outputs(output: str, count: int) -> None:
    result = scored(output)

    assert not result.scoring_failed
    assert len(sentences(result)) == count


def test_one_sample_will_do_if_asked_for() -> None:
    assert "1 of 1 samples are usable, 2 are needed" in str(scored(samples=SAMPLES[:1]).reason)
    assert not scored(samples=SAMPLES[:1], min_samples=1).scoring_failed


def test_identical_samples_are_said() -> None:
    assert "samples are identical" in str(scored(samples=SAMPLES[:1] * 3).reason)


def test_samples_in_another_order_change_nothing() -> None:
    assert scored(samples=SAMPLES[::-1]).value == scored().value


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"n": 0}, "n must be a whole number of at least 1"),
        ({"n": True}, "n must be"),
        ({"n": 1.5}, "n must be"),
        ({"statistic": "min"}, "statistic must be 'max' or 'avg'"),
        ({"smoothing": -1}, "smoothing must be a number from 0 up"),
        ({"smoothing": math.nan}, "smoothing must be"),
        ({"smoothing": True}, "smoothing must be"),
        ({"language": "zz"}, "a code that spaCy has rules for"),
        ({"language": "English"}, "language must be a code like 'en', 'de' or 'pt-BR'"),
        ({"aggregate": "median"}, "aggregate must be 'max' or 'mean'"),
        ({"min_tokens": 0}, "min_tokens must be a whole number of at least 1"),
        ({"splitter": 3}, "splitter must be the name or folder of a spaCy pipeline"),
        ({"splitter": "no_such_pipeline"}, "python -m spacy download"),
        ({"num_samples": 0, "min_samples": 0}, "num_samples must be a whole number of at least 1"),
        ({"num_samples": 1}, r"min_samples \(2\) cannot exceed num_samples \(1\)"),
    ],
)
def test_bad_configuration_raises_at_construction(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        SelfCheckNgramMetric(**{"store": None, "track": False, **options})


class Marks:
    """Sentences by full stops, tokens by spaces; enough to see that one's own is used."""

    def split(self, text: str) -> list[Sentence]:
        found, at = [], 0
        for piece in text.split("."):
            if piece.strip():
                found.append(Sentence(at, at + len(piece), len(piece.split())))
            at += len(piece) + 1
        return found


def test_ones_own_splitter_is_used() -> None:
    assert [s["text"] for s in sentences(scored("a b c d. e f g h i", ["a b"] * 2, splitter=Marks()))] == [
        "a b c d",
        " e f g h i",
    ]


def test_it_runs_without_opik_and_is_written_as_json(tmp_path: Path) -> None:
    metric = SelfCheckNgramMetric(store=None)
    results = evaluate_locally([{"output": OUTPUT, "samples": SAMPLES}], None, [metric], progress=False)

    results.to_json(tmp_path / "r.json")

    assert results.directions == {"selfcheck_ngram": False}
    assert results.summary()["selfcheck_ngram"].mean == pytest.approx(math.log(43))
