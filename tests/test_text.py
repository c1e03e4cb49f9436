import gc
import itertools
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

import pytest
import sentencex
from hypothesis import given, settings
from hypothesis import strategies as st

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.text import Span, sentences, sentences_and_code, windows


def split(text: str, language: str = "en") -> list[str]:
    return [span.of(text) for span in sentences(text, language)]


CASES = {
    "nothing": ("", []),
    "white space": (" \n\t ", []),
    "abbreviations and decimals": (
        "Dr. Smith paid $3.5 m. to U.S. Steel Inc. Then he left.",
        ["Dr. Smith paid $3.5 m. to U.S. Steel Inc.", "Then he left."],
    ),
    "only an abbreviated sentence": (
        "Dr. Smith paid $3.5 m. to U.S. Steel Inc.",
        ["Dr. Smith paid $3.5 m. to U.S. Steel Inc."],
    ),
    "initials and dates": (
        "J. R. R. Tolkien was born on Jan. 3, 1892. He died in 1973.",
        ["J. R. R. Tolkien was born on Jan. 3, 1892.", "He died in 1973."],
    ),
    "abbreviations before numbers": (
        "See vol. 3, approx. 5 pages, Eq. (2). Add 2 tsp. sugar.",
        ["See vol. 3, approx. 5 pages, Eq. (2).", "Add 2 tsp. sugar."],
    ),
    "the same words at the end of a sentence": (
        "He met Ed. She left the vol. Then it rained.",
        ["He met Ed.", "She left the vol.", "Then it rained."],
    ),
    "question and exclamation marks": ("Is it? Yes! No... Done.", ["Is it?", "Yes!", "No...", "Done."]),
    "emoji": ("🎉 Party 👨‍👩‍👧. Next 🇪🇪 one! 😀", ["🎉 Party 👨‍👩‍👧.", "Next 🇪🇪 one! 😀"]),
    "symbols alone stay together": ("😀😀 \n 🎉 !", ["😀😀 \n 🎉 !"]),
    "symbols first go with what follows": ("***\n\nText.", ["***\n\nText."]),
    "a lone surrogate": ("Bad \ud800 text. Ok.", ["Bad \ud800 text.", "Ok."]),
    "blank lines": ("First line\n\nsecond line", ["First line", "second line"]),
    "windows line ends": ("One two.\r\nThree.\r\n\r\nFour", ["One two.", "Three.", "Four"]),
    "bullets": (
        "Causes:\n- rain. It fell.\n* wind\n• sun\n  still the sun\nEnd.",
        ["Causes:", "- rain.", "It fell.", "* wind", "• sun\n  still the sun", "End."],
    ),
    "numbered items": (
        "1. First. More.\n2) Second\n(3) Third\nb) Fourth\nIV. Fifth",
        ["1. First.", "More.", "2) Second", "(3) Third", "b) Fourth", "IV. Fifth"],
    ),
    "an empty item": ("- \n- a", ["- \n- a"]),
    "numbered items in a line": (
        "Steps: 1. Open it. 2. Close it.",
        ["Steps:", "1. Open it.", "2. Close it."],
    ),
    "a number that ends a sentence": ("It cost $5. Then it rose.", ["It cost $5.", "Then it rose."]),
    "headings and rules": ("# Mr. Title\nText.\n\n---\n\nMore.", ["# Mr. Title", "Text.\n\n---", "More."]),
    "block quotes": ("> One. Two.\n> Three", ["> One.", "Two.", "> Three"]),
    "table": (
        "| name | born |\n|---|---|\n| A. Smith. Jr. | 1 |\nx | y | z\nEnd.",
        ["| name | born |\n|---|---|", "| A. Smith. Jr. | 1 |", "x | y | z", "End."],
    ),
    "fenced code": (
        "Run this:\n```python\nx = 1. \n\nprint(x)! Yes\n```\nDone. Bye.",
        ["Run this:", "```python\nx = 1. \n\nprint(x)! Yes\n```", "Done.", "Bye."],
    ),
    "a fence of tildes holds backticks": ("~~~\na.\n```\nb.\n~~~\nc", ["~~~\na.\n```\nb.\n~~~", "c"]),
    "a fence never closed": ("Code:\n```\nx. Y.\n\nz", ["Code:", "```\nx. Y.\n\nz"]),
    "a fence in a list item": (
        "- ```\n  x = 1815. Y\n  ```\n- It runs. Well.",
        ["- ```\n  x = 1815. Y\n  ```", "- It runs.", "Well."],
    ),
    "a fence in a numbered item": ("1. ```python\n   a. B\n   ```\n2. b", ["1. ```python\n   a. B\n   ```", "2. b"]),
    "a fence in a block quote": ("> ~~~\n> a. B\n> ~~~\n> c", ["> ~~~\n> a. B\n> ~~~", "> c"]),
    "a block quote within a fence closes nothing": ("```\na\n> ```\nb\n```\nc", ["```\na\n> ```\nb\n```", "c"]),
    "a heading holds no fence": ("# ```\nShe left. He sat.", ["# ```\nShe left.", "He sat."]),
    "code in a line is no fence": ("```x``` is it. Yes.", ["```x``` is it.", "Yes."]),
    "fields": ("Name: Ernst Öpik\nBorn: 1893", ["Name: Ernst Öpik", "Born: 1893"]),
    "wrapped lines": (
        "He was a very famous astronomer who lived in the town of\nTartu. He saw\nthe sky.",
        ["He was a very famous astronomer who lived in the town of\nTartu.", "He saw\nthe sky."],
    ),
    "an abbreviation at the end of a wrapped line": (
        "The committee met again on Monday afternoon to hear Dr.\nSmith. He left.",
        ["The committee met again on Monday afternoon to hear Dr.\nSmith.", "He left."],
    ),
    "a colon ends a long line": (
        "These are the many reasons for the war that they gave us:\nGreed was one",
        ["These are the many reasons for the war that they gave us:", "Greed was one"],
    ),
    "paragraphs of one line each": (
        "A" + " very" * 30 + " long paragraph\nAnother paragraph",
        ["A" + " very" * 30 + " long paragraph", "Another paragraph"],
    ),
    "short quotations stay whole": (
        'He said "It is late. Go home." Then he left. “Yes.” he added.',
        ['He said "It is late. Go home."', "Then he left.", "“Yes.” he added."],
    ),
    "an answer in quotation marks": (
        '"' + "The first one is here. And the second is there. " * 5 + 'End."',
        ['"The first one is here.', "And the second is there."]
        + ["The first one is here.", "And the second is there."] * 4
        + ['End."'],
    ),
    "an unpaired quotation mark": (
        'The 5" screen is good. It is large. Ok.',
        ['The 5" screen is good.', "It is large.", "Ok."],
    ),
    "apostrophes are no quotation marks": (
        "It's the '90s. They don’t care. The dogs' home. 'Ok then.' She left.",
        ["It's the '90s.", "They don’t care.", "The dogs' home.", "'Ok then.'", "She left."],
    ),
    "Chinese": ("你好。今天天气很好！是吗？3.5米", ["你好。", "今天天气很好！", "是吗？", "3.5米"]),
    "Chinese quotation": ("他说：“你好。”然后走了。", ["他说：“你好。”", "然后走了。"]),
    "Japanese": (
        "これは本です。「そうですか？」と彼は言った。とても良い。",
        ["これは本です。", "「そうですか？」と彼は言った。", "とても良い。"],
    ),
    "Japanese speech of two sentences": (
        "「はい。いいえ。」「うん。」",
        ["「はい。いいえ。」", "「うん。」"],
    ),
    "Chinese and English": ("你好。Dr. Wu left. Ok。", ["你好。", "Dr. Wu left.", "Ok。"]),
    "Hindi and Urdu marks": ("यह है। वह है। ٹھیک ہے۔ ہاں۔", ["यह है।", "वह है।", "ٹھیک ہے۔", "ہاں۔"]),
    "a footnote mark": ("He won.[1] She lost.[2] Ok.", ["He won.[1]", "She lost.[2]", "Ok."]),
}


HOSTILE = [
    *["Ab!Cd!", "привет!Ты!", "“a. B” ", '"A b. ', "「。", "' ", "|", "- - ", "`", "\n", "(a. B", "🎉. A"],
    *['"` "', "`a` ", "``` ", "` ", '" ', "» ", "“ ", "„ ", "‹a ", "<a ", "( ", "[", "{ ", "（a", "「「"],
    *["```\n", "- ```\n", "> ```\n> ~~~\n", "- \n", "1. ", "| a | b |\n", "vol. 3 ", "Dr. A ", ".[1] ", "a: 1. "],
    *['`“a. B” (c <d` "', '- "`a`| \n', "`a. B` «c»\t", "A. “ "],
]


class TestSentences:
    @pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES.keys())
    def test_boundaries(self, text: str, expected: list[str]) -> None:
        assert split(text) == expected

    def test_abbreviations_of_the_language(self) -> None:
        text = "Er kam am 3. Mai 1990. Dr. Müller z. B. war da."
        assert split(text, "de") == ["Er kam am 3. Mai 1990.", "Dr. Müller z. B. war da."]
        assert split(text) != split(text, "de")

    @pytest.mark.parametrize("code", ["de-DE", "de_AT", "DE", "de-Latn-DE-1996"])
    def test_a_region_changes_nothing(self, code: str) -> None:
        assert split("Er kam am 3. Mai 1990. Dann ging er.", code) == ["Er kam am 3. Mai 1990.", "Dann ging er."]

    @pytest.mark.parametrize("code", ["", "German", "d"])
    def test_what_is_no_code_is_refused(self, code: str) -> None:
        with pytest.raises(ConfigurationError, match="language must be a code like 'en', 'de' or 'pt-BR'"):
            sentences("One. Two.", code)

    @pytest.mark.parametrize(
        ("text", "prose", "code"),
        [
            ("```x``` is it. Yes.", ["```x``` is it.", "Yes."], []),
            ("Run:\n```\nx = 1\n```\nDone.", ["Run:", "Done."], ["```\nx = 1\n```"]),
            ("***\n```\nx = 1\n```\n---\nDone.", ["Done."], ["***\n```\nx = 1\n```\n---"]),
            ("Text.\n~~~\n***\n~~~", ["Text.\n~~~\n***\n~~~"], []),
            ("~~~\n***\n~~~", [], ["~~~\n***\n~~~"]),
            ("***\n~~~\n***\n~~~", ["***\n~~~\n***\n~~~"], []),
            ("* ~~~\n  x. Y\n", [], ["* ~~~\n  x. Y"]),
        ],
    )
    def test_code_is_told_from_sentences(self, text: str, prose: list[str], code: list[str]) -> None:
        assert [[span.of(text) for span in spans] for spans in sentences_and_code(text)] == [prose, code]

    @pytest.mark.parametrize("shift", range(0, 120, 17))
    def test_a_block_read_in_parts_falls_where_its_sentences_end(self, shift: int) -> None:
        said = [f"Fact no. {i} of vol. 3 was told (they say) by Dr. J. R. Smith of the U.S. Army." for i in range(150)]
        quoted = [f"We saw the {i} ships come in." for i in range(180)]
        text = " ".join([*["so"] * shift, *said, '"', *quoted])
        # The quotation is far longer than a part, and each part but the first begins within it.
        text = text.replace('" We', '"We') + '" He left. He said "Yes. Go." Then it rained.'

        found = split(text)

        assert [piece.removeprefix("so " * shift) for piece in found[:150]] == said
        assert [piece.strip('"') for piece in found[150:-3]] == quoted[: len(found) - 153]
        assert len(found) == 150 + 180 + 3
        assert found[-3:] == ["He left.", 'He said "Yes. Go."', "Then it rained."]

    def test_a_block_without_an_end_in_its_first_parts(self) -> None:
        text = "many words of Dr. Smith and so on, " * 300 + "and an end. Then another."

        assert split(text) == [text.removesuffix(" Then another."), "Then another."]

    @given(
        st.text(max_size=300)
        | st.text(alphabet="ab1. !?\n\"'“”()-*|`#>。？「」と😀\u00e9\ud800\t", max_size=120)
        | st.lists(st.sampled_from([text for text, _ in CASES.values()]), max_size=4).map("".join)
    )
    @settings(max_examples=300)
    def test_spans_tile_the_text(self, text: str) -> None:
        spans = sentences(text)
        covered = set()
        end = 0
        for span in spans:
            assert end <= span.start < span.end <= len(text)
            assert span.of(text) == span.of(text).strip()
            end = span.end
            covered |= set(range(span.start, span.end))
        assert all(at in covered for at, character in enumerate(text) if not character.isspace())
        if any(character.isalnum() for character in text):
            assert all(any(character.isalnum() for character in span.of(text)) for span in spans)

    def test_a_run_of_1000_characters_without_a_space_is_kept_whole_wherever_it_stands(self) -> None:
        for before in range(1001):
            run = "Abc!" * 250
            assert split(f"{'x' * before} {run} Yes.")[-2:] == [run, "Yes."]
        assert len(split("Abc!" * 249 + "Abc")) == 250

    def test_many_blocks_of_a_text_with_a_dash_are_read_once(self) -> None:
        def seconds(blocks: int) -> float:
            started = time.process_time()
            sentences("– x.\n\n" + "a\n\n" * blocks)
            return time.process_time() - started

        assert seconds(32_000) < 8 * max(seconds(8_000), 0.04)

    @pytest.mark.parametrize("unit", HOSTILE)
    def test_work_grows_with_the_length_of_hostile_texts(self, unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
        real = sentencex.segment
        given: list[int] = []

        def counting(language: str, text: str) -> list[str]:
            given.append(len(text))
            found: list[str] = real(language, text)
            return found

        monkeypatch.setattr(sentencex, "segment", counting)

        def work(size: int) -> float:
            text = unit * (size // len(unit))
            given.clear()
            gc.disable()  # its time grows with all that other tests have loaded
            started = time.process_time()
            sentences(text)
            took = time.process_time() - started
            gc.enable()
            # The splitter's time grows with the square of what it is given: so much at a time, and of all characters
            # each about two times, in each of two passes.
            assert max(given, default=0) <= 3072
            assert sum(given) <= 5 * len(text)
            return took

        # What is quadratic takes 16 times as long; a few hundredths of a second say nothing.
        assert work(32_000) < 8 * max(work(8_000), 0.04)


def words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def characters(texts: Sequence[str]) -> list[int]:
    return [len(text) for text in texts]


def with_special(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) + 2 for text in texts]


def greedy_joins(texts: Sequence[str]) -> list[int]:
    """Joining costs: two tokens for every run of white space, so the parts add up to less than the whole."""
    return [len(text.split()) + 2 * max(len(text.split()) - 1, 0) for text in texts]


def merges(texts: Sequence[str]) -> list[int]:
    """Like byte pairs: neighbours merge, so the parts add up to more than the whole."""
    return [(len(text) + 2) // 3 for text in texts]


class TestWindows:
    def test_text_within_the_limit_is_one_window(self) -> None:
        assert windows("  One. Two. \n", words, 2) == [Span(2, 11)]

    @pytest.mark.parametrize("text", ["", " \n "])
    def test_nothing_to_read(self, text: str) -> None:
        assert windows(text, words, 5) == []

    def test_windows_end_at_sentences_and_share_one(self) -> None:
        text = "One two. Three four. Five six. Seven."
        assert [w.of(text) for w in windows(text, words, 4)] == [
            "One two. Three four.",
            "Three four. Five six.",
            "Five six. Seven.",
        ]

    @pytest.mark.parametrize(
        ("overlap", "expected"),
        [
            (0, ["He ran. She sat. It fell.", "We won. They left."]),
            (1, ["He ran. She sat. It fell.", "It fell. We won. They left."]),
            (2, ["He ran. She sat. It fell.", "She sat. It fell. We won.", "It fell. We won. They left."]),
            (9, ["He ran. She sat. It fell.", "She sat. It fell. We won.", "It fell. We won. They left."]),
        ],
    )
    def test_overlap(self, overlap: int, expected: list[str]) -> None:
        text = "He ran. She sat. It fell. We won. They left."
        assert [w.of(text) for w in windows(text, words, 6, overlap)] == expected

    def test_overlap_gives_way_where_it_does_not_fit(self) -> None:
        text = "One two three. Four five six. Seven."
        assert [w.of(text) for w in windows(text, words, 4)] == ["One two three.", "Four five six. Seven."]

    def test_long_sentence_is_cut_at_white_space(self) -> None:
        text = "Short one. " + "This sentence goes on and on without any end in sight at all. " + "Last one."
        found = [w.of(text) for w in windows(text, words, 5)]
        assert found == [
            "Short one. This sentence goes",
            "on and on without any",
            "end in sight at all.",
            "Last one.",
        ]

    def test_script_without_white_space_is_cut_between_characters(self) -> None:
        text = "天" * 25
        assert [len(w.of(text)) for w in windows(text, characters, 10)] == [10, 10, 5]

    def test_one_long_word_among_others(self) -> None:
        text = "See " + "x" * 20 + " there now"
        found = [w.of(text) for w in windows(text, characters, 8)]
        assert "".join(found).replace(" ", "") == text.replace(" ", "")
        assert max(map(len, found)) <= 8

    def test_special_tokens_count_once_a_window(self) -> None:
        text = "One two. Three four. Five six."
        assert [w.of(text) for w in windows(text, with_special, 6, overlap=0)] == [
            "One two. Three four.",
            "Five six.",
        ]

    def test_parts_that_add_up_to_less_than_the_whole_are_laid_out_again(self) -> None:
        text = "One two. Three four. Five six. Seven eight."
        assert greedy_joins([text])[0] == 22
        found = windows(text, greedy_joins, 10, overlap=0)
        assert [w.of(text) for w in found] == ["One two. Three four.", "Five six. Seven eight."]
        assert max(greedy_joins([w.of(text) for w in found])) == 10

    @pytest.mark.parametrize(("limit", "overlap"), [(0, 1), (-3, 0), (5, -1)])
    def test_impossible_arguments(self, limit: int, overlap: int) -> None:
        with pytest.raises(ValueError, match="limit must be at least 1 and overlap at least 0"):
            windows("One two.", words, limit, overlap)

    def test_no_room_beside_special_tokens(self) -> None:
        with pytest.raises(ValueError, match="limit 2 leaves no room beside 2 special tokens"):
            windows("One two. Three.", with_special, 2)

    def test_one_character_over_the_limit(self) -> None:
        def by_byte(texts: Sequence[str]) -> list[int]:
            return [len(text.encode()) for text in texts]

        with pytest.raises(ValueError, match="'😀' alone is over the limit"):
            windows("ab 😀😀", by_byte, 3)

    def test_counter_that_loses_a_text(self) -> None:
        def loses_one(texts: Sequence[str]) -> list[int]:
            return words(texts)[: max(2, len(texts) - 1)]

        with pytest.raises(ValueError, match="zip"):
            windows("One two. Three four. Five six.", loses_one, 2)

    @given(
        st.text(max_size=200)
        | st.lists(st.sampled_from([text for text, _ in CASES.values()]), max_size=6).map(" ".join),
        st.sampled_from([words, characters, with_special, greedy_joins, merges]),
        st.integers(3, 30),
        st.integers(0, 3),
    )
    @settings(max_examples=300)
    def test_nothing_lost_and_nothing_over(
        self, text: str, count: Callable[[Sequence[str]], list[int]], limit: int, overlap: int
    ) -> None:
        found = windows(text, count, limit, overlap)
        covered = set()
        for earlier, later in itertools.pairwise(found):
            assert earlier.start < later.start
            assert earlier.end < later.end
        for window in found:
            assert window.of(text) == window.of(text).strip()
            assert count([window.of(text)])[0] <= limit
            covered |= set(range(window.start, window.end))
        assert all(at in covered for at, character in enumerate(text) if not character.isspace())
        if overlap == 0:
            assert all(a.end <= b.start for a, b in itertools.pairwise(found))

    def test_long_text_takes_few_calls(self) -> None:
        calls: list[int] = []

        def count(texts: Sequence[str]) -> list[int]:
            calls.append(len(texts))
            return with_special(texts)

        text = "The cat of Dr. Foo sat on the mat in the sun. " * 4_300
        assert len(text) > 190_000
        started = time.perf_counter()
        found = windows(text, count, 256)
        elapsed = time.perf_counter() - started
        # 12 words a sentence, 21 sentences a window, one of them shared with the next.
        assert len(found) == 215
        assert calls == [2, 4_300, 215]
        assert elapsed < 10  # a hang guard

    def test_words_of_long_sentences_are_counted_in_one_batch(self) -> None:
        calls: list[int] = []

        def count(texts: Sequence[str]) -> list[int]:
            calls.append(len(texts))
            return words(texts)

        windows(("Many " + "words " * 39 + "end. Short one. ") * 3, count, 16)
        # Six sentences, three of them of 41 words; three windows for each, the last with a short one.
        assert calls == [2, 6, 123, 9]


def test_span_is_ordered_and_cuts() -> None:
    assert Span(1, 3).of("abcd") == "bc"
    assert sorted([Span(2, 3), Span(0, 9), Span(0, 1)]) == [Span(0, 1), Span(0, 9), Span(2, 3)]


def test_importing_loads_no_splitter() -> None:
    code = "import sys, opik_checkembed.text; print('sentencex' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("mark", ['A " or " or " is a mark.', "A \ud800\ud800\ud800 mark."])
def test_stray_marks_shift_no_sentence(mark: str) -> None:
    assert split(f"{mark} Next one is here. And a third.") == [mark, "Next one is here.", "And a third."]
