import csv
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from opik_checkembed.benchmarks.claims_data import (
    CATEGORIES,
    DEFAULT_PROMPT,
    FIELDS,
    SUPPORTED,
    ClaimSet,
    LabelledClaim,
    load_claims,
)
from opik_checkembed.errors import ConfigurationError

SET = load_claims()

# Wording that a guard for causes and absolutes looks for. Supported claims must often have it too.
STRONG = re.compile(
    r"\b(?:because|caus\w+|led|due to|drove|enabled|contributed|reason|prov\w+|prevent\w*"
    r"|only|first|always|never|no|none|nobody|impossible)\b",
    re.IGNORECASE,
)
NUMBER = re.compile(r"(?<!\w)(?:\d[\d.,]*\d|\d)(?!\w)")
# A full stop that ends a sentence, not that of a title.
END = re.compile(r"(?<!\bDr)[.!?][\"']?(?=\s|$)")


def within(words: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, re.IGNORECASE) is not None


def plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


# --- the set that comes with the package --------------------------------------------------------------------


def test_the_set_has_the_published_counts() -> None:
    counts = Counter(claim.category for claim in SET.claims)
    assert counts == {"numerical": 11, "entity": 10, "causal": 25, "supported": 86}
    assert {name: len(SET.in_category(name)) for name in CATEGORIES} == counts
    assert (len(SET.documents), len(SET.claims)) == (13, 132)
    assert (len(SET.unsupported), len(SET.supported)) == (46, 86)
    assert all(claim.is_unsupported == (claim.category != SUPPORTED) for claim in SET.claims)


def test_the_file_says_what_it_is() -> None:
    assert {"written", "fictional", "license"} <= set(SET.about)


def test_ids_are_unique_and_name_the_document() -> None:
    assert len({claim.claim_id for claim in SET.claims}) == 132
    assert [document.doc_id for document in SET.documents] == [f"doc{number:02}" for number in range(1, 14)]
    for document in SET.documents:
        ids = [claim.claim_id for claim in SET.claims_of(document.doc_id)]
        assert ids == [f"{document.doc_id}_c{number:02}" for number in range(1, len(ids) + 1)]
        assert len(ids) in (10, 11)


def test_no_claim_is_there_twice() -> None:
    assert len({plain(claim.text) for claim in SET.claims}) == 132


def test_every_document_has_controls_and_injections() -> None:
    for document in SET.documents:
        claims = SET.claims_of(document.doc_id)
        assert sum(claim.is_unsupported for claim in claims) >= 2
        assert sum(not claim.is_unsupported for claim in claims) >= 6
        assert any(claim.category == "causal" for claim in claims)


def test_documents_are_told_apart_and_of_the_planned_length() -> None:
    assert len({document.title for document in SET.documents}) == 13
    assert len({document.kind for document in SET.documents}) == 13
    for document in SET.documents:
        assert 220 <= len(document.source_text.split()) <= 400
        assert document.prompt not in ("", DEFAULT_PROMPT)
        assert document.source_text[:60] not in document.prompt


@pytest.mark.parametrize("claim", SET.claims, ids=lambda claim: claim.claim_id)
def test_a_claim_is_one_sentence_with_its_evidence(claim: LabelledClaim) -> None:
    assert [match.end() for match in END.finditer(claim.text)] == [len(claim.text)]
    assert claim.evidence is not None
    assert claim.source.count(claim.evidence) == 1
    span = claim.evidence_span
    assert span is not None
    assert claim.source[slice(*span)] == claim.evidence
    # One whole sentence of the source.
    assert [match.end() for match in END.finditer(claim.evidence)] == [len(claim.evidence)]
    assert span[0] == 0 or re.search(r"(?:[.!?][\"']?\s+)$", claim.source[: span[0]])
    # Injections are worded for this document: they are not sentences of it.
    assert not (claim.is_unsupported and plain(claim.text) in plain(claim.source))


@pytest.mark.parametrize("claim", SET.unsupported, ids=lambda claim: claim.claim_id)
def test_what_was_injected_is_in_the_claim_and_not_in_the_evidence(claim: LabelledClaim) -> None:
    assert claim.injected is not None
    assert within(claim.injected, claim.text)
    assert claim.evidence is not None
    assert not within(claim.injected, claim.evidence)
    if claim.category in ("numerical", "entity"):
        assert not within(claim.injected, claim.source)
    if claim.category == "entity":
        # No part of the name either, such as a surname.
        assert not any(
            within(word, claim.source) for word in re.findall(r"\w{4,}", claim.injected) if word[0].isupper()
        )
    assert not claim.hedged


def test_controls_have_nothing_injected_and_no_number_that_the_source_lacks() -> None:
    for claim in SET.supported:
        assert claim.injected is None
        assert all(within(number, claim.source) for number in NUMBER.findall(claim.text))


def test_a_changed_number_is_all_that_is_wrong_with_a_numerical_claim() -> None:
    for claim in SET.in_category("numerical"):
        assert claim.injected is not None
        rest = claim.text.replace(claim.injected, "")
        assert all(within(number, claim.source) for number in NUMBER.findall(rest))


def test_many_controls_are_hedged_and_their_evidence_is_too() -> None:
    hedged = [claim for claim in SET.claims if claim.hedged]
    assert len(hedged) >= 20
    caution = re.compile(
        r"\b(?:may|might|could|should|probabl[ey]|likeliest|suggest\w*|not established|compatible)\b|been established"
    )
    for claim in hedged:
        assert claim.category == SUPPORTED
        assert caution.search(claim.text)
        assert caution.search(claim.evidence or "")


def test_strong_wording_does_not_tell_injections_from_controls() -> None:
    strong = [claim for claim in SET.supported if STRONG.search(claim.text)]
    assert len(strong) >= 30
    assert len({claim.doc_id for claim in strong}) == 13


# --- other files --------------------------------------------------------------------------------------------


def rows_of(claims: ClaimSet) -> list[dict[str, Any]]:
    return [claim.to_row() for claim in claims.claims]


def seed_row(number: int, **more: Any) -> dict[str, Any]:
    return {
        "claim_id": f"doc1_c{number}",
        "doc_id": "doc1",
        "source_text": "The pump failed on Monday, at 5.",
        "claim_text": f"The pump failed at {number}.",
        "category": "supported" if number == 5 else "numerical",
        "is_unsupported": number != 5,
        **more,
    }


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    if path.suffix == ".json":
        path.write_text(json.dumps(rows))
    elif path.suffix == ".jsonl":
        path.write_text("\n".join(map(json.dumps, rows)))
    else:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)))
            writer.writeheader()
            writer.writerows(rows)
    return path


@pytest.mark.parametrize("name", ["x.json", "x.jsonl", "x.csv"])
def test_every_form_of_file_holds_the_same(name: str, tmp_path: Path) -> None:
    read = load_claims(write(tmp_path / name, rows_of(SET)))
    assert read == SET
    assert read.fingerprint == SET.fingerprint
    assert read.about == {}


def test_a_file_like_the_shipped_one_is_read_too(tmp_path: Path) -> None:
    shipped = {
        "documents": [
            {
                "doc_id": one.doc_id,
                "title": one.title,
                "kind": one.kind,
                "prompt": one.prompt,
                "source_text": one.source_text,
            }
            for one in SET.documents
        ],
        "claims": [{k: v for k, v in row.items() if k not in ("source_text", "title")} for row in rows_of(SET)],
    }
    (tmp_path / "x.json").write_text(json.dumps(shipped), encoding="utf-8-sig")
    assert load_claims(str(tmp_path / "x.json")) == SET


def test_the_fields_of_the_seed_are_enough(tmp_path: Path) -> None:
    read = load_claims(write(tmp_path / "x.jsonl", [seed_row(5), seed_row(9), seed_row(7, doc_id=2, claim_id=3)]))
    first, second, third = read.claims
    assert set(seed_row(5)) == set(FIELDS)
    assert (first.text, first.category, first.is_unsupported) == ("The pump failed at 5.", "supported", False)
    assert (first.evidence, first.evidence_span, first.injected, first.hedged) == (None, None, None, False)
    assert first.document is second.document
    assert first.document.prompt == DEFAULT_PROMPT
    assert (third.claim_id, third.doc_id, third.source) == ("3", "2", first.source)
    assert [document.doc_id for document in read.documents] == ["doc1", "2"]
    assert read.supported == (first,)
    assert first.to_row() == {**seed_row(5), "prompt": DEFAULT_PROMPT}
    assert read.fingerprint != load_claims(write(tmp_path / "y.jsonl", [seed_row(5), seed_row(9)])).fingerprint


@pytest.mark.parametrize(
    ("written", "label"),
    [
        *((one, True) for one in (True, 1, 1.0, "true", " TRUE ", "1", "1.0", "Yes", "yes")),
        *((one, False) for one in (False, 0, 0.0, "False", "0", "0.0", "No", "no ")),
    ],
)
def test_labels_are_read_in_the_usual_spellings(written: object, label: bool, tmp_path: Path) -> None:
    row = seed_row(9 if label else 5, is_unsupported=written)
    assert load_claims(write(tmp_path / "x.json", [row])).claims[0].is_unsupported is label


@pytest.mark.parametrize(
    ("written", "category"),
    [
        *((one, "numerical") for one in ("numerical", "Numerical", " NUMERICAL ", "Numerical fabrication")),
        *((one, "entity") for one in ("Entity", "entities", "entity_fabrication", "Entity  Fabrications")),
        *((one, "causal") for one in ("Causal", "causal overreach", "Causal_Overreach", "causal-overreaches")),
        *(
            (one, "supported")
            for one in ("Supported", "supported_control", "Supported Controls", "control", "Controls")
        ),
        *((one, "supported") for one in (None, "", " ")),
    ],
)
def test_categories_are_read_in_the_published_spellings(written: object, category: str, tmp_path: Path) -> None:
    number = 5 if category == "supported" else 9
    others = [seed_row(1), seed_row(2)]
    (read, *_) = load_claims(write(tmp_path / "x.json", [seed_row(number, category=written), *others])).claims
    assert read.category == category
    # The same claims, whatever their spelling.
    plain = load_claims(write(tmp_path / "y.json", [seed_row(number, category=category), *others]))
    assert load_claims(tmp_path / "x.json").fingerprint == plain.fingerprint


def test_controls_alone_need_no_category(tmp_path: Path) -> None:
    rows = [{name: value for name, value in seed_row(5).items() if name != "category"}]
    assert load_claims(write(tmp_path / "x.csv", rows)).supported[0].category == SUPPORTED
    joined = {"documents": [DOCUMENT], "claims": rows}
    (tmp_path / "y.json").write_text(json.dumps(joined))
    assert load_claims(tmp_path / "y.json").supported[0].category == SUPPORTED
    unsupported = {name: value for name, value in seed_row(9).items() if name != "category"}
    assert "lacks the field category" in refused(write(tmp_path / "z.csv", [*rows, unsupported]))


def test_what_is_left_blank_is_absent(tmp_path: Path) -> None:
    blank = {"evidence": "", "injected": " ", "hedged": "", "title": "", "kind": "", "prompt": ""}
    with_blanks = load_claims(write(tmp_path / "x.json", [seed_row(5, **blank), seed_row(9, **blank)]))
    assert with_blanks == load_claims(write(tmp_path / "y.json", [seed_row(5), seed_row(9)]))


def test_pythons_labels_in_a_csv_are_read(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", [seed_row(5), seed_row(9)])
    assert "False" in path.read_text()
    assert [claim.is_unsupported for claim in load_claims(path).claims] == [False, True]


# --- what cannot be read ------------------------------------------------------------------------------------


def refused(path: Path) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load_claims(path)
    return str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"category": "hallucinated"},
            "category must be numerical, entity, causal, supported, not 'hallucinated'; ren",
        ),
        ({"category": None}, "category must be numerical, entity, causal, supported, not None; rename it"),
        ({"category": ["causal"]}, "category must be numerical, entity, causal, supported, not ['causal']; rename it"),
        ({"category": "supported"}, "the category supported and is_unsupported true contradict each other"),
        ({"is_unsupported": False}, "the category numerical and is_unsupported false contradict each other"),
        ({"is_unsupported": "maybe"}, "is_unsupported must be true, false, yes, no, 1 or 0, not 'maybe'"),
        ({"is_unsupported": 2}, "is_unsupported must be true, false, yes, no, 1 or 0, not 2"),
        ({"is_unsupported": 0.5}, "is_unsupported must be true, false, yes, no, 1 or 0, not 0.5"),
        ({"is_unsupported": None}, "is_unsupported must be true, false, yes, no, 1 or 0, not None"),
        ({"is_unsupported": [True]}, "is_unsupported must be true, false, yes, no, 1 or 0, not [True]"),
        ({"claim_text": " "}, "claim_text must be a text that is not empty, not ' '"),
        ({"claim_text": ["A."]}, "claim_text must be a text that is not empty, not ['A.']"),
        ({"source_text": ""}, "source_text must be a text that is not empty, not ''"),
        ({"doc_id": None}, "doc_id must be a text that is not empty, not None"),
        ({"doc_id": True}, "doc_id must be a text that is not empty, not True"),
        ({"source_text": "Another."}, "source_text differs from that of an earlier row with the doc_id 'doc1'"),
        ({"evidence": "The pump failed at 6."}, "evidence must be quoted word for word from source_text, where 'The"),
        ({"injected": "8"}, "injected must be quoted word for word from claim_text, where '8' does not occur"),
        ({"hedged": "perhaps"}, "hedged must be true, false, yes, no, 1 or 0, not 'perhaps'"),
        ({"prompt": 3}, "prompt must be a text that is not empty, not 3"),
    ],
)
def test_a_row_that_cannot_be_meant_is_named(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", [seed_row(5), {**seed_row(9), **change}])
    said = refused(path)
    assert said.startswith(f"{path}, claim 1 (claim_id doc1_c9): ")
    assert message in said


def test_an_id_that_is_there_twice_is_named(tmp_path: Path) -> None:
    assert "two claims have the claim_id 'doc1_c5'" in refused(write(tmp_path / "x.json", [seed_row(5), seed_row(5)]))
    assert refused(write(tmp_path / "y.json", [seed_row(5, claim_id=None)])).startswith(
        f"{tmp_path / 'y.json'}, claim 0:"
    )


def test_missing_fields_are_named_with_those_that_are_there(tmp_path: Path) -> None:
    rows = [{"claim_id": "a", "doc_id": "b", "claim": "c", "label": True, "source_text": "d"}]
    path = write(tmp_path / "x.jsonl", rows)
    assert refused(path) == (
        f"{path} lacks the fields claim_text, category, is_unsupported; it has claim_id, doc_id, claim, label, "
        "source_text. Rename or add what is missing"
    )
    assert "lacks the field doc_id; it has" in refused(
        write(tmp_path / "y.json", [{name: value for name, value in seed_row(5).items() if name != "doc_id"}])
    )


@pytest.mark.parametrize(
    ("name", "text"), [("x.json", "[]"), ("x.jsonl", "\n"), ("x.csv", ""), ("x.csv", "claim_id\n")]
)
def test_a_file_without_claims_is_refused(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert refused(tmp_path / name).startswith(
        f"{tmp_path / name} holds nothing; write one row a claim with the fields"
    )


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.json", b"", "is not JSON"),
        ("x.json", b'{"documents": [', "is not JSON in UTF-8"),
        ("x.json", b"3", "must hold a list of objects, not an int"),
        ("x.json", b'["a"]', "entry 0 is a str"),
        ("x.json", b"\xff\xfe", "is not JSON in UTF-8"),
        ("x.csv", b"\xff\xfe", "is not UTF-8 text"),
        ("x.jsonl", b"{", "line 1 is not JSON"),
        ("x.txt", b"text", "items are read from .jsonl, .ndjson, .json, .csv, not .txt"),
    ],
)
def test_a_file_that_is_something_else_is_refused(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    assert message in refused(tmp_path / name)


def test_a_file_that_cannot_be_opened_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert refused(tmp_path / "none.json") == f"there is no file {tmp_path / 'none.json'}"
    assert refused(tmp_path) == f"there is no file {tmp_path}"

    def denied(path: Path, *_: object) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    path = write(tmp_path / "x.jsonl", [seed_row(5)])
    monkeypatch.setattr(Path, "read_text", denied)
    assert f"{path} cannot be read: [Errno 13] Permission denied" in refused(path)


DOCUMENT = {"doc_id": "doc1", "source_text": "The pump failed on Monday, at 5."}


@pytest.mark.parametrize(
    ("whole", "message"),
    [
        (
            {"claims": []},
            "or an object with the lists documents and claims; it holds an object whose documents is None",
        ),
        ({"documents": [DOCUMENT], "claims": {"a": 1}}, "it holds an object whose claims is dict"),
        ({"documents": [DOCUMENT], "claims": ["a"]}, "it holds an object whose claims is list"),
        ({"documents": [], "claims": [seed_row(5)]}, "documents holds nothing"),
        ({"documents": [DOCUMENT], "claims": []}, "claims holds nothing"),
        ({"documents": [{"doc_id": "doc1"}], "claims": [seed_row(5)]}, "documents lacks the field source_text"),
        ({"documents": [DOCUMENT], "claims": [{"claim_id": "a"}]}, "claims lacks the fields doc_id, claim_text, cat"),
        ({"documents": [DOCUMENT] * 2, "claims": [seed_row(5)]}, "two documents have the doc_id 'doc1'"),
        ({"documents": [DOCUMENT], "claims": [seed_row(5, doc_id="doc9")]}, "no document has the doc_id 'doc9'"),
        ({"documents": [{**DOCUMENT, "title": 3}], "claims": [seed_row(5)]}, "document 0: title must be a text"),
    ],
)
def test_an_object_that_does_not_fit_together_is_refused(whole: dict[str, Any], message: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps(whole))
    assert message in refused(tmp_path / "x.json")


def test_an_unknown_category_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="there is no category 'made up'; there are numerical, entity"):
        SET.in_category("made up")
    assert SET.claims_of("made up") == ()
