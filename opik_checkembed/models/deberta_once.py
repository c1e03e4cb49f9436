"""A DeBERTa-v2 or -v3 classifier that reads a sample once for all sentences held against it, approximately.

In an exact pass every token of the sample attends to the judged sentence, so that nothing of it can be shared between
sentences. Here most of the sample's tokens attend to the sample alone: their keys and values are computed once. The
sentence, and those tokens of the sample that would give the sentence most of their attention, are computed for every
pair and attend to everything. With all tokens computed for every pair the logits are the exact ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import torch
from transformers.models.deberta_v2.modeling_deberta_v2 import (
    DebertaV2ForSequenceClassification,
    make_log_bucket_position,
)

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.models.nli_once import refusal, unsupported

if TYPE_CHECKING:
    from transformers import PreTrainedModel

SHARE = 0.08
"""Of a sample's tokens, the share that is computed for every pair; see `PremiseOnce`.

Against the exact scores of DeBERTa-v3-xsmall on WikiBio-GPT3's sentences, 3 samples each, it keeps their order to .96
(Spearman, 951 sentences); on the first 65 of them .125 had .97 and no token at all .88.
"""

# Rows of a pass: sentences of about equal length go through together, each with about so many tokens of a sample.
_ROWS, _OWN = 256, 16
_LEAST = torch.finfo(torch.float32).min


@dataclass(frozen=True)
class _Premise:
    """A sample's pass by itself, by layer, its first token left out: a pair has its own.

    Attributes:
        embedded: Shape (tokens, hidden).
        query: By layer that chooses tokens: scaled, shape (heads, tokens, head size).
        position_queries: By the same: the queries with the position keys, shape (heads, tokens, buckets).
        log_mass: By the same: logarithm of what softmax divides by, shape (heads, tokens, 1).
        key, value: Shape (heads, tokens, head size).
        position_scores: The keys with the position queries, shape (heads, buckets, tokens).
    """

    embedded: torch.Tensor
    query: list[torch.Tensor]
    position_queries: list[torch.Tensor]
    log_mass: list[torch.Tensor]
    key: list[torch.Tensor]
    value: list[torch.Tensor]
    position_scores: list[torch.Tensor]

    def __len__(self) -> int:
        return self.embedded.size(0)


@dataclass(frozen=True)
class _Sentences:
    """Sentences that go through together, padded.

    Attributes:
        embedded: Shape (sentences, tokens, hidden).
        there: Which are tokens, not padding, shape (sentences, tokens).
        key: By layer that chooses tokens: of each by itself, shape (heads, sentences x tokens, head size).
        position_scores: By the same: the keys with the position queries, (heads, buckets, sentences x tokens).
    """

    embedded: torch.Tensor
    there: torch.Tensor
    key: list[torch.Tensor]
    position_scores: list[torch.Tensor]


class PremiseOnce:
    """Logits of many sentences beside few samples, close to the exact ones and several times as fast on a CPU.

    Args:
        model: A classifier, in evaluation mode.
        cls: Id of the token that begins an input.
        sep: Id of the token that ends a text.
        share: How many of a sample's tokens are computed for every pair, 0 to 1. With 1 the logits are exact.

    Raises:
        ConfigurationError: The model is of another architecture, or of a variant that this does not know.
    """

    def __init__(self, model: PreTrainedModel, *, cls: int, sep: int, share: float) -> None:
        if not 0 <= share <= 1:
            raise ConfigurationError(f"share must be from 0 to 1, not {share!r}")
        _check(model)
        loaded: Any = model
        self._model = loaded
        self._cls, self._sep, self._share = cls, sep, share
        encoder = self._model.deberta.encoder
        self._layers = [getattr(layer, "layer", layer) for layer in encoder.layer]
        attention = self._layers[0].attention.self
        self._heads: int = model.config.num_attention_heads
        size = _projection(attention, "query").out_features // self._heads
        self._scale = float(size * 3) ** -0.5  # content, and both kinds of positions
        self._choosing = sorted({0, min(1, len(self._layers) // 3), len(self._layers) // 3})
        self._buckets = _bucket_table(encoder)
        with torch.inference_mode():
            rows = encoder.get_rel_embedding()
            self._position_keys = [self._positions(layer, "key", rows) for layer in self._layers]
            self._position_queries = [self._positions(layer, "query", rows) for layer in self._layers]

    def logits(
        self, sentences: Sequence[Sequence[int]], samples: Sequence[Sequence[int]], first: Literal["sentence", "sample"]
    ) -> torch.Tensor:
        """Logits of every sentence beside every sample.

        Args:
            sentences: Token ids without special tokens; a sentence and a sample together fit the model.
            samples: Likewise.
            first: Which of the two the classifier is given first.

        Returns:
            Shape (sentences, samples, labels).
        """
        with torch.inference_mode():
            reach = self._reach(max(map(len, sentences)) + max(map(len, samples)) + 3)
            found = torch.empty(len(sentences), len(samples), self._model.config.num_labels)
            groups = [
                (group, self._alone([sentences[place] for place in group], reach)) for group in self._groups(sentences)
            ]
            for column, sample in enumerate(samples):
                premise = self._read_premise(sample, reach)
                for group, alone in groups:
                    found[group, column] = self._pairs(alone, premise, first, reach).float().cpu()
            return found

    # --- one text by itself -------------------------------------------------------------------------------------

    def _read_premise(self, sample: Sequence[int], reach: slice) -> _Premise:
        states = self._embed([[self._cls, *sample, self._sep]])[0]
        read = _Premise(states[1:], [], [], [], [], [], [])
        places = torch.arange(len(states), device=states.device)
        buckets = self._bucket(places, places) - reach.start
        for number, layer in enumerate(self._layers):
            query, key, value = self._projected(layer, states, states)
            asked = self._position_scores(number, key, reach)
            asking = self._position_queried(number, query, reach)
            scores = _looked_across(asking, buckets) + _looked_up(asked, buckets)
            scores = scores.baddbmm_(query, key.transpose(1, 2))
            mass = scores.logsumexp(-1, keepdim=True)
            if number in self._choosing:
                read.query.append(query[:, 1:])
                read.position_queries.append(asking[:, 1:])
                read.log_mass.append(mass[:, 1:])
            read.key.append(key[:, 1:])
            read.value.append(value[:, 1:])
            read.position_scores.append(asked[..., 1:])
            if number + 1 < len(self._layers):
                states = _finished(layer, scores.sub_(mass).exp_() @ value, states)
        return read

    def _alone(self, sentences: Sequence[Sequence[int]], reach: slice) -> _Sentences:
        """What a sample's tokens are taken to see of the sentences, whatever the sample."""
        inputs = [[self._cls, *sentence, self._sep] for sentence in sentences]
        embedded = self._embed(inputs)
        count, length = embedded.shape[:2]
        lengths = torch.tensor([[len(one)] for one in inputs], device=embedded.device)
        places = torch.arange(length, device=embedded.device)
        there = places < lengths
        near = self._reach(length)
        buckets = (self._bucket(places, places) - near.start).expand(count, -1, -1)
        hidden = ~there[:, None]
        states, found = embedded.flatten(0, 1), _Sentences(embedded, there, [], [])
        for number, layer in enumerate(self._layers[: self._choosing[-1] + 1]):
            query, key, value = self._projected(layer, states, states)
            if number in self._choosing:
                found.key.append(key)
                found.position_scores.append(self._position_scores(number, key, reach))
            if number < self._choosing[-1]:
                scores = self._inner(number, query, key, buckets, near)
                chances = scores.masked_fill_(hidden, _LEAST).softmax(-1)
                states = _finished(layer, (chances @ _apart(value, count)).flatten(1, 2), states)
        return found

    # --- pairs --------------------------------------------------------------------------------------------------

    def _pairs(
        self, sentences: _Sentences, premise: _Premise, first: Literal["sentence", "sample"], reach: slice
    ) -> torch.Tensor:
        count, length = sentences.there.shape
        places = torch.arange(length, device=sentences.there.device).expand(count, -1)
        beyond = torch.arange(len(premise), device=places.device).expand(count, -1)
        if first == "sentence":
            beyond = beyond + sentences.there.sum(1, keepdim=True)
        else:
            beyond = beyond + 1
            places = torch.where(places == 0, 0, places + len(premise))
        chosen = self._chosen(sentences, premise, self._bucket(beyond, places) - reach.start)
        places = torch.cat([places, beyond.gather(1, chosen)], 1)
        theirs = torch.ones_like(beyond, dtype=torch.bool).scatter(1, chosen, value=False)
        there = torch.cat([sentences.there, torch.ones_like(chosen, dtype=torch.bool), theirs], 1)
        hidden = ~there[:, None]
        own = places.size(1)
        buckets = self._bucket(places, torch.cat([places, beyond], 1)) - reach.start
        states = torch.cat([sentences.embedded, premise.embedded[chosen]], 1).flatten(0, 1)
        for number, layer in enumerate(self._layers):
            asking = states
            if number + 1 == len(self._layers):  # the classifier reads the first token only
                asking, buckets = states[::own], buckets[:, :1]
            query, key, value = self._projected(layer, asking, states)
            scores = query.new_empty(self._heads, *buckets.shape)
            scores[..., :own] = self._inner(number, query, key, buckets[..., :own], reach)
            outer = buckets[..., own:].flatten(0, 1)
            asked = self._position_queried(number, query, reach)
            beside = _looked_across(asked, outer) + _looked_up(premise.position_scores[number], outer)
            scores[..., own:] = _apart(beside.baddbmm_(query, premise.key[number].transpose(1, 2)), count)
            chances = scores.masked_fill_(hidden, _LEAST).softmax(-1)
            read = chances[..., own:].flatten(1, 2) @ premise.value[number]
            read += (chances[..., :own] @ _apart(value, count)).flatten(1, 2)
            states = _finished(layer, read, asking)
        pooled = self._model.pooler(states[:, None])
        logits: torch.Tensor = self._model.classifier(pooled)
        return logits

    def _chosen(self, sentences: _Sentences, premise: _Premise, buckets: torch.Tensor) -> torch.Tensor:
        """Places in the sample of the tokens that would attend most to each sentence, shape (sentences, chosen)."""
        count, length = sentences.there.shape
        wanted = round(self._share * len(premise))
        mass = torch.zeros(len(premise), count, device=sentences.there.device)
        if 0 < wanted < len(premise):
            hidden = ~sentences.there
            buckets = buckets.transpose(0, 1).flatten(1, 2)
            for place, query in enumerate(premise.query):
                scores = _looked_across(premise.position_queries[place], buckets)
                scores += _looked_up(sentences.position_scores[place], buckets)
                scores = scores.baddbmm_(query, sentences.key[place].transpose(1, 2)).view(
                    self._heads, -1, count, length
                )
                given = scores.masked_fill_(hidden, _LEAST).logsumexp(-1)
                mass += torch.sigmoid(given - premise.log_mass[place]).mean(0)
        return mass.T.topk(wanted, dim=-1).indices

    # --- parts --------------------------------------------------------------------------------------------------

    def _inner(
        self, number: int, query: torch.Tensor, key: torch.Tensor, buckets: torch.Tensor, reach: slice
    ) -> torch.Tensor:
        """Scores of the pairs' own tokens among each other, shape (heads, inputs, asking, asked)."""
        count, asking, asked = buckets.shape
        scores = _apart(query, count) @ _apart(key, count).transpose(-1, -2)
        scores += _apart(_looked_across(self._position_queried(number, query, reach), buckets.flatten(0, 1)), count)
        table = self._position_scores(number, key, reach)
        beside = _looked_up(table, buckets.transpose(0, 1).reshape(asking, count * asked))
        return scores.add_(beside.view(self._heads, asking, count, asked).transpose(1, 2))

    def _position_queried(self, number: int, query: torch.Tensor, reach: slice) -> torch.Tensor:
        scores: torch.Tensor = query @ self._position_keys[number][:, reach].transpose(1, 2)
        return scores

    def _position_scores(self, number: int, key: torch.Tensor, reach: slice) -> torch.Tensor:
        scores: torch.Tensor = self._position_queries[number][:, reach] @ key.transpose(1, 2)
        return scores

    def _groups(self, sentences: Sequence[Sequence[int]]) -> Iterator[list[int]]:
        group: list[int] = []
        for place in sorted(range(len(sentences)), key=lambda place: len(sentences[place])):
            if group and (len(group) + 1) * (len(sentences[place]) + _OWN) > _ROWS:
                yield group
                group = []
            group.append(place)
        if group:
            yield group

    def _embed(self, inputs: Sequence[Sequence[int]]) -> torch.Tensor:
        longest = max(map(len, inputs))
        fill = self._model.config.pad_token_id or 0
        ids = torch.tensor([[*one, *[fill] * (longest - len(one))] for one in inputs], device=self._model.device)
        embedded: torch.Tensor = self._model.deberta.embeddings(input_ids=ids, mask=torch.ones_like(ids))
        return embedded

    def _projected(
        self, layer: Any, asking: torch.Tensor, states: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Queries, scaled, of the one; keys and values of the other."""
        own = layer.attention.self
        query = self._by_head(_projection(own, "query")(asking).mul_(self._scale))
        key, value = (self._by_head(_projection(own, name)(states)) for name in ("key", "value"))
        return query, key, value

    def _positions(self, layer: Any, name: str, rows: torch.Tensor) -> torch.Tensor:
        own = layer.attention.self
        table = getattr(own, f"position_{'keys' if name == 'key' else 'queries'}", None)
        if table is None:
            projection = _projection(own, name)
            if not own.share_att_key:
                projection = getattr(own, f"pos_{name}_proj", projection)
            table = self._by_head(projection(rows)) * self._scale
        else:
            table = table[0]  # `spare_repeated_work` has projected and scaled it
        found: torch.Tensor = (table / self._scale if name == "key" else table).contiguous()
        return found

    def _by_head(self, states: torch.Tensor) -> torch.Tensor:
        return states.view(len(states), self._heads, -1).transpose(0, 1)

    def _bucket(self, asking: torch.Tensor, asked: torch.Tensor) -> torch.Tensor:
        """Rows of the position tables by asking and asked token."""
        distance = asking.unsqueeze(-1) - asked.unsqueeze(-2)
        buckets: torch.Tensor = self._buckets[distance + self._buckets.size(0) // 2]
        return buckets

    def _reach(self, tokens: int) -> slice:
        """The rows of the position tables that inputs of so many tokens need."""
        middle = self._buckets.size(0) // 2
        return slice(int(self._buckets[middle - tokens]), int(self._buckets[middle + tokens]) + 1)


def _apart(states: torch.Tensor, count: int) -> torch.Tensor:
    """The inputs of a batch apart: (heads, inputs x tokens, size) into (heads, inputs, tokens, size)."""
    heads, rows, size = states.shape
    return states.view(heads, count, rows // count, size)


def _looked_across(table: torch.Tensor, buckets: torch.Tensor) -> torch.Tensor:
    return table.gather(-1, buckets.expand(table.size(0), -1, -1))


def _looked_up(table: torch.Tensor, buckets: torch.Tensor) -> torch.Tensor:
    return table.gather(-2, buckets.expand(table.size(0), -1, -1))


def _check(model: PreTrainedModel) -> None:
    why = unsupported(model.config.to_dict())
    if why is None and not isinstance(model, DebertaV2ForSequenceClassification):
        why = f"is a {type(model).__name__}"
    if why is None and model.dtype != torch.float32:
        why = f"is in {str(model.dtype).removeprefix('torch.')}, not in full precision"
    if why is not None:
        raise ConfigurationError(refusal(why))


def _bucket_table(encoder: Any) -> torch.Tensor:
    """Rows of the position tables by distance, from the least to the greatest."""
    most = encoder.max_relative_positions
    distances = torch.arange(-4 * most, 4 * most + 1)
    span = most
    if encoder.position_buckets > 0:
        span = encoder.position_buckets
        distances = make_log_bucket_position(distances, span, most)
    rows = (distances.long() + span).clamp(0, 2 * span - 1)
    table: torch.Tensor = rows.to(encoder.rel_embeddings.weight.device)
    return table


def _projection(attention: Any, name: str) -> Any:
    """`query`, `key` or `value` of transformers' attention, or of the one that `spare_repeated_work` puts there."""
    return getattr(attention, f"{name}_proj", None) or getattr(attention, name)


def _finished(layer: Any, read: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
    """The rest of a layer after its attention."""
    attended = layer.attention.output(read.transpose(0, 1).flatten(1), states)
    output: torch.Tensor = layer.output(layer.intermediate(attended), attended)
    return output
