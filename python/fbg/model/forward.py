"""Hidden states of token ids: the computation of `Model.forward` with checked arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.arrays import Floats
from fbg.networks.transformer import Transformer
from fbg.runtime.engine import (
    MAX_BATCH_TOKENS,
    Runner,
    chunks,
    index_array,
    pack_padded,
    pack_sequences,
    require_in_range,
)
from fbg.threads import calling

Integers = npt.NDArray[Any]


@dataclass(frozen=True)
class ModelOutput:
    """The result of `Model.forward` and `Model.forward_image`.

    last_hidden_state: (batch, sequence, hidden) float32, zeros where the mask is 0.
    pooler_output: (batch, hidden) float32, or None if the checkpoint has no pooler.
    """

    last_hidden_state: Floats
    pooler_output: Floats | None


@dataclass(frozen=True)
class _Inputs:
    """Checked arguments of `forward`, (batch, sequence) each. valid: None if no token is hidden."""

    ids: Integers
    valid: npt.NDArray[np.bool_] | None
    types: Integers | None


class HiddenStates:
    """The encoder with its pooler, if there is one, as a graph that is ready to run."""

    def __init__(self, transformer: Transformer) -> None:
        self.graph = transformer.build_forward()
        self.runner = Runner(self.graph, transformer.config)
        self._config = transformer.config
        self._has_pooler = transformer.pooler is not None

    def run(
        self,
        input_ids: npt.ArrayLike,
        attention_mask: npt.ArrayLike | None,
        token_type_ids: npt.ArrayLike | None,
        num_threads: int,
    ) -> ModelOutput:
        """Return the hidden states of token ids; see `Model.forward`."""
        inputs = self._checked(input_ids, attention_mask, token_type_ids)
        rows, columns = inputs.ids.shape
        width = self._config.output_size
        hidden = np.zeros((rows, columns, width), np.float32)
        pooled = None
        if self._has_pooler:
            pooled = np.zeros((rows, self._config.hidden_size), np.float32)
        lengths = np.full(rows, columns) if inputs.valid is None else inputs.valid.sum(axis=1)
        kept = np.flatnonzero(lengths)  # rows with at least one token
        with calling:
            for part in chunks(lengths[kept].tolist(), MAX_BATCH_TOKENS, rows):
                self._run_rows(inputs, kept[part], hidden, pooled, num_threads)
        return ModelOutput(hidden, pooled)

    def run_rows(self, rows: Floats, num_threads: int) -> ModelOutput:
        """Return the hidden states of pictures, which are given as rows of patches: (pictures,
        tokens, numbers of a patch).
        """
        count, tokens, columns = rows.shape
        hidden = np.empty((count, tokens, self._config.output_size), np.float32)
        pooled = None
        if self._has_pooler:
            pooled = np.empty((count, self._config.hidden_size), np.float32)
        places = [np.arange(tokens, dtype=np.int32)] * count
        with calling:
            for part in chunks([tokens] * count, MAX_BATCH_TOKENS, count):
                outputs = [hidden[part].reshape(-1, hidden.shape[2])]
                if pooled is not None:
                    outputs.append(pooled[part])
                given = rows[part].reshape(-1, columns)
                self.runner.run(pack_sequences(places[part]), outputs, num_threads, inputs=[given])
        return ModelOutput(hidden, pooled)

    def _checked(
        self,
        input_ids: npt.ArrayLike,
        attention_mask: npt.ArrayLike | None,
        token_type_ids: npt.ArrayLike | None,
    ) -> _Inputs:
        ids = index_array("forward: input_ids", input_ids, None)
        shape: tuple[int, int] = (ids.shape[0], ids.shape[1])
        valid = None
        if attention_mask is not None:
            valid = index_array("forward: attention_mask", attention_mask, shape) != 0
            if valid.all():
                valid = None
        types = None
        if token_type_ids is not None:
            types = index_array("forward: token_type_ids", token_type_ids, shape)
        limit = self._config.max_length
        if shape[1] > limit:
            raise ValueError(
                f"forward: input_ids has {shape[1]} positions, but the model has {limit}"
            )
        require_in_range("forward: input_ids", ids, self._config.vocab_size, valid)
        if types is not None:
            require_in_range("forward: token_type_ids", types, self._config.num_token_types, valid)
        return _Inputs(ids, valid, types)

    def _run_rows(
        self,
        inputs: _Inputs,
        rows: npt.NDArray[np.intp],
        hidden: Floats,
        pooled: Floats | None,
        num_threads: int,
    ) -> None:
        """Compute some rows of a batch, in ascending order, and store their results."""
        chosen: Any = rows
        if rows[-1] - rows[0] + 1 == rows.size:
            chosen = slice(int(rows[0]), int(rows[-1]) + 1)  # views instead of copies
        mask = None if inputs.valid is None else inputs.valid[chosen]
        types = None if inputs.types is None else inputs.types[chosen]
        batch = pack_padded(inputs.ids[chosen], mask, types, self._config.pad_token_id)
        width = hidden.shape[2]
        if mask is None and isinstance(chosen, slice):
            states = hidden[chosen].reshape(-1, width)  # a view: results are written in place
        else:
            states = np.empty((batch.tokens, width), np.float32)
        outputs = [states]
        if pooled is not None:
            outputs.append(np.empty((batch.sequences, width), np.float32))
        self.runner.run(batch, outputs, num_threads)
        if mask is not None:
            place = np.zeros(inputs.ids.shape, np.bool_)
            place[chosen] = mask
            hidden[place] = states
        if pooled is not None:
            pooled[chosen] = outputs[1]
