"""Claims about short documents, labelled by whether their document supports them: what `bench claims` runs on.

The set that comes with the package has 13 documents and 132 claims: 46 injections (a changed number, a name that is
not in the document, a cause or an absolute that it does not state) and 86 controls. Another file of the flat form can
stand in its place.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.items import load_items

SUPPORTED = "supported"
"""The category of claims that their document supports."""

INJECTED = ("numerical", "entity", "causal")
"""The categories of claims that it does not support, in the order of the published table.

"causal" holds causes and absolutes ("the only", "always", "proves") that the document does not state.
"""

CATEGORIES = (*INJECTED, SUPPORTED)

# Also the words of the published description, in the singular; case, spaces, underscores and hyphens are all one.
_SPELLINGS = {
    **{name: name for name in CATEGORIES},
    "numerical fabrication": "numerical",
    "entity fabrication": "entity",
    "causal overreach": "causal",
    "supported control": SUPPORTED,
    "control": SUPPORTED,
}
_PLURALS = (("", ""), ("s", ""), ("es", ""), ("ies", "y"))

FIELDS = ("claim_id", "doc_id", "source_text", "claim_text", "category", "is_unsupported")
"""What every row of a flat file has; the category of a supported claim may be left out."""

DEFAULT_PROMPT = "Summarise the following document."
"""What a model is asked about a document of a file that gives no `prompt`."""

_LABELS = {
    **dict.fromkeys(("true", "yes", "1", "1.0"), True),
    **dict.fromkeys(("false", "no", "0", "0.0"), False),
}


@dataclass(frozen=True)
class SourceDocument:
    """One document that claims are about.

    Attributes:
        doc_id: Its id.
        source_text: All that a claim is held against.
        title: Its title; empty where the file has none.
        kind: What it is, such as "court summary"; empty where the file says nothing.
        prompt: What a user would ask a model about it; the text itself is to follow.
    """

    doc_id: str
    source_text: str
    title: str = ""
    kind: str = ""
    prompt: str = DEFAULT_PROMPT


@dataclass(frozen=True)
class LabelledClaim:
    """One claim with its label.

    Attributes:
        claim_id: Its id.
        document: What it is about.
        text: The claim, one sentence.
        category: One of `CATEGORIES`.
        is_unsupported: Whether the document does not support it; true for all categories but `SUPPORTED`.
        evidence: The sentence of the document that decides, word for word: for a control the one that supports it,
            for an injection the one that it distorts. None where the file has none.
        injected: The words of the claim that the document does not have or does not say; None for controls.
        hedged: Whether the claim is worded with caution (may, could, suggests), as its document is.
    """

    claim_id: str
    document: SourceDocument
    text: str
    category: str
    is_unsupported: bool
    evidence: str | None = None
    injected: str | None = None
    hedged: bool = False

    @property
    def doc_id(self) -> str:
        """Id of its document."""
        return self.document.doc_id

    @property
    def source(self) -> str:
        """Text of its document."""
        return self.document.source_text

    @property
    def evidence_span(self) -> tuple[int, int] | None:
        """Where the evidence starts and ends in the source; None without evidence."""
        if self.evidence is None:
            return None
        start = self.source.index(self.evidence)
        return start, start + len(self.evidence)

    def to_row(self) -> dict[str, Any]:
        """The claim as a row of a flat file, which `load_claims` reads."""
        more = {
            "title": self.document.title,
            "kind": self.document.kind,
            "prompt": self.document.prompt,
            "evidence": self.evidence,
            "injected": self.injected,
            "hedged": self.hedged,
        }
        return {
            "claim_id": self.claim_id,
            "doc_id": self.doc_id,
            "source_text": self.source,
            "claim_text": self.text,
            "category": self.category,
            "is_unsupported": self.is_unsupported,
            **{name: value for name, value in more.items() if value},
        }


@dataclass(frozen=True)
class ClaimSet:
    """The labelled claims of one file.

    Attributes:
        documents: In the order of the file.
        claims: In the order of the file.
        about: What the file says of itself; empty for a flat file.
    """

    documents: tuple[SourceDocument, ...]
    claims: tuple[LabelledClaim, ...]
    about: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @cached_property
    def fingerprint(self) -> str:
        """Equal for equal documents, prompts, claims and labels, so that results are not taken for those of others."""
        rows = [
            [[one.doc_id, one.source_text, one.prompt] for one in self.documents],
            [[claim.claim_id, claim.doc_id, claim.text, claim.category] for claim in self.claims],
        ]
        return hashlib.blake2b(json.dumps(rows).encode(), digest_size=8).hexdigest()

    def claims_of(self, doc_id: str) -> tuple[LabelledClaim, ...]:
        """The claims about one document; none for an unknown id."""
        return tuple(claim for claim in self.claims if claim.doc_id == doc_id)

    def in_category(self, category: str) -> tuple[LabelledClaim, ...]:
        """The claims of one category.

        Raises:
            ConfigurationError: There is no such category.
        """
        if category not in CATEGORIES:
            raise ConfigurationError(f"there is no category {category!r}; there are {', '.join(CATEGORIES)}")
        return tuple(claim for claim in self.claims if claim.category == category)

    @property
    def unsupported(self) -> tuple[LabelledClaim, ...]:
        """The claims that are to be caught."""
        return tuple(claim for claim in self.claims if claim.is_unsupported)

    @property
    def supported(self) -> tuple[LabelledClaim, ...]:
        """The claims that are to be left alone."""
        return tuple(claim for claim in self.claims if not claim.is_unsupported)


def load_claims(path: str | os.PathLike[str] | None = None) -> ClaimSet:
    """Read labelled claims.

    Args:
        path: A flat file with the columns of `FIELDS`, one row a claim: `.json` (a list of objects), `.jsonl` or
            `.csv`. `is_unsupported` is true, false, yes, no, 1 or 0, in any case. `category` is one of `CATEGORIES` or
            the published name ("Causal overreach", "supported_controls"), whatever its case, spacing and number; a
            claim that is not unsupported needs none. The columns `evidence`, `injected`, `hedged`, `title`, `kind` and
            `prompt` are read where they hold something (the last three from the first row of a document), others are
            ignored. A `.json` file may also hold an object with `documents` and `claims`, as the shipped one does.
            None for the shipped one.

    Raises:
        ConfigurationError: The file cannot be read or holds no claims, a field is missing, a label is unknown, or rows
            contradict each other; says which and what to do.

    Example:
        >>> claims = load_claims()
        >>> len(claims.documents), len(claims.claims), len(claims.unsupported)
        (13, 132, 46)
    """
    if path is None:
        shipped = resources.files("opik_checkembed.benchmarks") / "claims.json"
        return _joined(json.loads(shipped.read_text("utf-8")), "claims.json")
    file = Path(path)
    try:
        whole = _object(file)
        rows = load_items(file) if whole is None else []
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be read: {error}") from error
    return _flat(rows, str(file)) if whole is None else _joined(whole, str(file))


def _object(file: Path) -> dict[str, Any] | None:
    """What a JSON file holds if that is an object; None for all else, which `load_items` reads or refuses."""
    if file.suffix.lower() != ".json" or not file.is_file():
        return None
    try:
        text = file.read_text("utf-8-sig")
        if not text.lstrip().startswith("{"):
            return None
        whole: dict[str, Any] = json.loads(text)
    except ValueError as error:
        raise ConfigurationError(f"{file} is not JSON in UTF-8: {error}") from error
    return whole


def _flat(rows: Sequence[Mapping[str, Any]], where: str) -> ClaimSet:
    _complete(rows, _needed(FIELDS, rows), where)
    documents: dict[str, SourceDocument] = {}
    claims = []
    for number, row in enumerate(rows):
        here = _place(row, number, where)
        document = _document(row, here)
        first = documents.setdefault(document.doc_id, document)
        if first.source_text != document.source_text:
            raise ConfigurationError(
                f"{here}: source_text differs from that of an earlier row with the doc_id {document.doc_id!r}; give "
                "each document an id of its own"
            )
        claims.append(_claim(row, first, here))
    return _checked(documents.values(), claims, where, {})


def _joined(whole: Mapping[str, Any], where: str) -> ClaimSet:
    parts: dict[str, list[Mapping[str, Any]]] = {}
    for name in ("documents", "claims"):
        part = whole.get(name)
        if not isinstance(part, list) or not all(isinstance(entry, Mapping) for entry in part):
            raise ConfigurationError(
                f"{where} must hold a list of claims with the fields {', '.join(FIELDS)}, or an object with the lists "
                f"documents and claims; it holds an object whose {name} is {type(part).__name__}"
            )
        parts[name] = part
    _complete(parts["documents"], ("doc_id", "source_text"), f"{where}, documents")
    fields = [name for name in FIELDS if name != "source_text"]
    _complete(parts["claims"], _needed(fields, parts["claims"]), f"{where}, claims")
    documents: dict[str, SourceDocument] = {}
    for number, row in enumerate(parts["documents"]):
        document = _document(row, f"{where}, document {number}")
        if document.doc_id in documents:
            raise ConfigurationError(f"{where}: two documents have the doc_id {document.doc_id!r}; rename one of them")
        documents[document.doc_id] = document
    claims = []
    for number, row in enumerate(parts["claims"]):
        here = _place(row, number, where)
        doc_id = _identity(row, "doc_id", here)
        if doc_id not in documents:
            raise ConfigurationError(f"{here}: no document has the doc_id {doc_id!r}; add it to documents")
        claims.append(_claim(row, documents[doc_id], here))
    about = whole.get("about")
    return _checked(documents.values(), claims, where, about if isinstance(about, Mapping) else {})


def _needed(fields: Iterable[str], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The fields without the category where no claim needs one, each being labelled as supported."""
    controls = all(_label(row.get("is_unsupported")) is False for row in rows)
    return [name for name in fields if not (controls and name == "category")]


def _complete(rows: Sequence[Mapping[str, Any]], fields: Iterable[str], where: str) -> None:
    if not rows:
        raise ConfigurationError(f"{where} holds nothing; write one row a claim with the fields {', '.join(FIELDS)}")
    known = dict.fromkeys(str(name) for row in rows for name in row)
    missing = [name for name in fields if name not in known]
    if missing:
        raise ConfigurationError(
            f"{where} lacks the field{'s' if len(missing) > 1 else ''} {', '.join(missing)}; it has "
            f"{', '.join(known) or 'none'}. Rename or add what is missing"
        )


def _checked(
    documents: Iterable[SourceDocument], claims: Sequence[LabelledClaim], where: str, about: Mapping[str, Any]
) -> ClaimSet:
    twice = [name for name, count in Counter(claim.claim_id for claim in claims).items() if count > 1]
    if twice:
        raise ConfigurationError(f"{where}: two claims have the claim_id {twice[0]!r}; rename one of them")
    return ClaimSet(tuple(documents), tuple(claims), about)


def _place(row: Mapping[str, Any], number: int, where: str) -> str:
    named = row.get("claim_id")
    return f"{where}, claim {number}" + ("" if named is None else f" (claim_id {named})")


def _document(row: Mapping[str, Any], where: str) -> SourceDocument:
    return SourceDocument(
        doc_id=_identity(row, "doc_id", where),
        source_text=_text(row, "source_text", where),
        title=_optional(row, "title", where) or "",
        kind=_optional(row, "kind", where) or "",
        prompt=_optional(row, "prompt", where) or DEFAULT_PROMPT,
    )


def _claim(row: Mapping[str, Any], document: SourceDocument, where: str) -> LabelledClaim:
    unsupported = _flag(row, "is_unsupported", where)
    claim = LabelledClaim(
        claim_id=_identity(row, "claim_id", where),
        document=document,
        text=_text(row, "claim_text", where),
        category=_category(row, where, unsupported=unsupported),
        is_unsupported=unsupported,
        evidence=_optional(row, "evidence", where),
        injected=_optional(row, "injected", where),
        hedged=not _absent(row, "hedged") and _flag(row, "hedged", where),
    )
    if claim.is_unsupported == (claim.category == SUPPORTED):
        raise ConfigurationError(
            f"{where}: the category {claim.category} and is_unsupported {str(claim.is_unsupported).lower()} contradict "
            "each other; correct one of them"
        )
    for name, part, whole, text in (
        ("evidence", claim.evidence, "source_text", claim.source),
        ("injected", claim.injected, "claim_text", claim.text),
    ):
        if part is not None and part not in text:
            raise ConfigurationError(
                f"{where}: {name} must be quoted word for word from {whole}, where {part!r} does not occur; correct it "
                "or leave it out"
            )
    return claim


def _text(row: Mapping[str, Any], name: str, where: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ConfigurationError(f"{where}: {name} must be a text that is not empty, not {value!r}; fill it in")
    return value


def _absent(row: Mapping[str, Any], name: str) -> bool:
    value = row.get(name)
    return value is None or (isinstance(value, str) and not value.strip())


def _optional(row: Mapping[str, Any], name: str, where: str) -> str | None:
    return None if _absent(row, name) else _text(row, name, where)


def _category(row: Mapping[str, Any], where: str, *, unsupported: bool) -> str:
    if _absent(row, "category") and not unsupported:
        return SUPPORTED
    value = row.get("category")
    plain = " ".join(re.split(r"[\s_-]+", value.strip().casefold())) if isinstance(value, str) else ""
    singular = (plain.removesuffix(end) + start for end, start in _PLURALS if plain.endswith(end))
    found = next((_SPELLINGS[name] for name in singular if name in _SPELLINGS), None)
    if found is None:
        raise ConfigurationError(f"{where}: category must be {', '.join(CATEGORIES)}, not {value!r}; rename it")
    return found


def _identity(row: Mapping[str, Any], name: str, where: str) -> str:
    value = row.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return _text(row, name, where)


def _flag(row: Mapping[str, Any], name: str, where: str) -> bool:
    value = row.get(name)
    read = _label(value)
    if read is None:
        raise ConfigurationError(f"{where}: {name} must be true, false, yes, no, 1 or 0, not {value!r}; correct it")
    return read


def _label(value: object) -> bool | None:
    return _LABELS.get(str(value).strip().lower()) if isinstance(value, bool | int | float | str) else None
