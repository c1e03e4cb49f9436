"""DeBERTa-v2 and -v3 classifiers without the work that transformers repeats in every forward pass.

Equal logits to about 1e-6. On a CPU a pair of 200 tokens takes two thirds of the time: the position embeddings are
projected once instead of in every pass (they have 512 rows, the pair has fewer), only the distances that occur are
multiplied, and the last layer computes the one token that the classifier reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional
from transformers.models.deberta_v2.modeling_deberta_v2 import (
    DebertaV2ForSequenceClassification,
    DisentangledSelfAttention,
)

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def spare_repeated_work(model: PreTrainedModel) -> None:
    """Change a classifier in place, for inference only; one of another architecture is left as it is."""
    if not isinstance(model, DebertaV2ForSequenceClassification):
        return
    encoder: Any = model.deberta.encoder
    layers = encoder.layer
    if encoder.relative_attention:
        with torch.inference_mode():
            positions = encoder.get_rel_embedding()
            for layer in layers:
                layer.attention.self = _Attention(layer.attention.self, positions)
        if len(layers) > 1:  # an only layer may be followed by a convolution, which reads all tokens
            layers[-1] = _FirstToken(layers[-1])


class _Attention(nn.Module):
    """He et al., "DeBERTa" (2021), equation 4, with tables of projected positions.

    Args:
        original: The attention whose weights are used.
        positions: The relative position embeddings, shape (2 span, hidden).
    """

    def __init__(self, original: DisentangledSelfAttention, positions: torch.Tensor) -> None:
        super().__init__()
        self.query, self.key, self.value = original.query_proj, original.key_proj, original.value_proj
        self.heads = original.num_attention_heads
        self.span = original.pos_ebd_size
        terms = 1 + ("c2p" in original.pos_att_type) + ("p2c" in original.pos_att_type)
        self.scale = float(original.attention_head_size * terms) ** -0.5
        key, query = original.key_proj, original.query_proj
        if not original.share_att_key:
            key = getattr(original, "pos_key_proj", key)
            query = getattr(original, "pos_query_proj", query)
        rows = positions[: 2 * self.span].unsqueeze(0)
        self.position_keys = self._by_head(key(rows)) * self.scale if "c2p" in original.pos_att_type else None
        self.position_queries = self._by_head(query(rows)) * self.scale if "p2c" in original.pos_att_type else None

    def forward(
        self,
        hidden_states: torch.Tensor,
        attention_mask: torch.Tensor,
        *_: Any,
        relative_pos: torch.Tensor,
        query_states: torch.Tensor | None = None,
        **__: Any,
    ) -> tuple[torch.Tensor, None]:
        """As `DisentangledSelfAttention.forward`; with `query_states`, those are the first of `hidden_states`."""
        asking = hidden_states if query_states is None else query_states
        query = self._by_head(self.query(asking))
        key = self._by_head(self.key(hidden_states))
        value = self._by_head(self.value(hidden_states))
        first, length = query.size(-2), key.size(-2)
        # Buckets by distance (query - key), from -(length - 1) to first - 1.
        distances = relative_pos.view(-1, relative_pos.size(-2), relative_pos.size(-1))[0]
        buckets = torch.cat([distances[0, 1:].flip(0), distances[:first, 0]])
        places = (buckets.long() + self.span).clamp(0, 2 * self.span - 1)
        bias = torch.zeros((1, 1), device=query.device, dtype=query.dtype)
        if self.position_keys is not None:
            scores = query @ self.position_keys.index_select(-2, places.flip(0)).transpose(-1, -2)
            bias = bias + _by_distance(scores, length)
        if self.position_queries is not None:
            scores = key @ self.position_queries.index_select(-2, places).transpose(-1, -2)
            bias = bias + _by_distance(scores, first).transpose(-1, -2)
        mask = attention_mask.bool()[..., :first, :]
        if not bool(mask.all()):
            bias = bias.masked_fill(~mask, torch.finfo(bias.dtype).min)
        read = functional.scaled_dot_product_attention(query, key, value, attn_mask=bias, scale=self.scale)
        return read.transpose(1, 2).flatten(2), None

    def _by_head(self, states: torch.Tensor) -> torch.Tensor:
        return states.view(*states.shape[:-1], self.heads, -1).transpose(1, 2)


def _by_distance(scores: torch.Tensor, width: int) -> torch.Tensor:
    """Row r shifted by r to the left of where it begins: out[r, c] = scores[r, c - r + rows - 1], without a copy."""
    rows, columns = scores.shape[-2:]
    scores = scores.contiguous()
    strides = (*scores.stride()[:-2], columns - 1, 1)
    return scores.as_strided((*scores.shape[:-2], rows, width), strides, scores.storage_offset() + rows - 1)


class _FirstToken(nn.Module):
    """A last layer that computes only the token that the classifier reads."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, hidden_states: torch.Tensor, attention_mask: torch.Tensor, **rest: Any) -> Any:
        """As `DebertaV2Layer.forward`, for the first token."""
        return self.layer(hidden_states, attention_mask, **{**rest, "query_states": hidden_states[:, :1]})
