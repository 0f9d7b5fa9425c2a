"""Sequences of token ids that resemble text as far as a model's vocabulary tells, without any text,
and pictures without any picture.

Vocabularies are sorted by frequency, roughly, so that Zipf's law gives each token a probability
by its rank. Each sequence has a topic, a token: tokens with similar embeddings are more probable in
it, because hidden states of coherent text differ from hidden states of unrelated words.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fbg.arrays import Doubles, Floats, Indices
from fbg.model.observe import random_sequences
from fbg.networks.config import EncoderConfig, PictureConfig
from fbg.text.tokenization import TextTokenizer

SHORTEST, LONGEST = 6, 42  # tokens of a sequence
OFFSET = 10.0  # added to ranks
MOST_TOKENS = 30000  # part of the vocabulary with the smallest ids
PUNCTUATION = {".": 0.045, ",": 0.05}  # relative to all words together
OTHERS_RANK = 5000.0  # weight of digits, symbols and single letters
MARKS = "#\u0120\u2581"  # marks at the beginning of a word, or inside one
TOPIC_POWER = 0.7  # exponent of probabilities: topics are rarer than other tokens
TOPICS = 64  # topics whose cosines with all tokens are computed in one product
TOPIC_WIDTH = 0.1  # a cosine with the topic larger by this makes a token e times as probable


# Tokens of all pictures together, and limits of their number.
PICTURE_TOKENS, FEWEST_PICTURES, MOST_PICTURES = 3000, 4, 64


def picture_rows(picture: PictureConfig) -> list[Floats]:
    """Return the patches of pictures, the same ones each time.

    As in photographs, amplitudes fall with the frequency: noise of ever larger squares is added up.
    Pixels have about mean 0 and deviation 1, as they do for networks.
    """
    stream = np.random.PCG64(0)
    count = int(np.clip(PICTURE_TOKENS // picture.tokens, FEWEST_PICTURES, MOST_PICTURES))
    shape = (picture.channels, *picture.size)
    pictures = np.zeros((count, *shape))
    for one in pictures:
        side, total = 1, 0.0
        while side < 2 * max(picture.size):
            # Channels have much in common.
            small = (1, *(-(-size // side) for size in picture.size))
            own = _uniform(stream, small[1] * small[2] * picture.channels) - 0.5
            noise = own.reshape(picture.channels, *small[1:])
            noise = noise + 2 * noise.mean(axis=0, keepdims=True)
            large = noise.repeat(side, axis=1).repeat(side, axis=2)
            one += side**0.5 * large[:, : shape[1], : shape[2]]
            side, total = 2 * side, total + side * noise.var()
        one /= max(total, 1e-12) ** 0.5
    return list(picture.rows(pictures.astype(np.float32)))


def typical_sequences(
    config: EncoderConfig, tokenizer: TextTokenizer, table: Floats, count: int
) -> list[Indices]:
    """Return `count` sequences, the same ones each time; uniformly random ones without a tokenizer.

    table: (V, E), the embeddings of tokens.
    """
    frame = tokenizer.frame
    if not tokenizer.is_present or config.max_length < SHORTEST:
        return random_sequences(config, frame)
    ids, probability = _vocabulary(tokenizer, config.vocab_size)
    directions = _directions(table[ids])
    known = np.isfinite(directions).all(axis=1)
    ids, probability, directions = ids[known], probability[known], directions[known]
    if ids.size == 0:
        return random_sequences(config, frame)

    # The raw bit stream of PCG64 is the one that NumPy promises never to change.
    stream = np.random.PCG64(0)
    topics = _draw(_uniform(stream, count), probability**TOPIC_POWER)
    longest = min(LONGEST, config.max_length)
    lengths = SHORTEST + (_uniform(stream, count) * (longest + 1 - SHORTEST)).astype(np.int64)
    sequences = []
    for i, length in enumerate(lengths):
        if i % TOPICS == 0:
            cosines = directions[topics[i : i + TOPICS]] @ directions.T
        likely = probability * np.exp(cosines[i % TOPICS] / TOPIC_WIDTH)
        sequence = ids[_draw(_uniform(stream, int(length)), likely)]
        if 2 <= frame.size < length and frame.max() < config.vocab_size:
            sequence[0], sequence[1 - frame.size :] = frame[0], frame[1:]
        sequences.append(sequence)
    return sequences


def _directions(rows: Floats) -> Floats:
    """Return rows scaled to length 1, or 0, minus the mean of finite ones; others stay infinite."""
    with np.errstate(all="ignore"):
        finite = np.isfinite(rows).all(axis=1)
        directions: Floats = rows.astype(np.float32) - rows[finite].mean(axis=0, dtype=np.float64)
        norms = np.linalg.norm(directions, axis=1, keepdims=True)
        directions = (directions / np.where(norms > 0, norms, 1)).astype(np.float32)
    return directions


def _vocabulary(tokenizer: TextTokenizer, size: int) -> tuple[Indices, Doubles]:
    """Return the ids of tokens of text, and how probable they are, relative to each other."""
    tokens = tokenizer.tokens(range(size))
    plain = np.array([_is_plain(token) for token in tokens])
    ids = np.flatnonzero(plain)[:MOST_TOKENS].astype(np.int32)
    texts = [tokens[i].lstrip(MARKS) for i in ids]
    words = np.array([len(text) > 1 and text.isalpha() for text in texts], bool)
    rank = np.where(words, np.cumsum(words) - 1, OTHERS_RANK)
    probability: Doubles = np.divide(1.0, rank + OFFSET, dtype=np.float64)
    total = probability.sum()
    for place, text in enumerate(texts):
        if text in PUNCTUATION:
            probability[place] = PUNCTUATION[text] * total
    return ids, probability


def _is_plain(token: str) -> bool:
    """Whether a token is neither empty nor special, such as "[CLS]" or "</s>"."""
    return bool(token) and not (
        len(token) > 2 and (token[0], token[-1]) in (("[", "]"), ("<", ">"))
    )


def _uniform(stream: np.random.PCG64, count: int) -> Doubles:
    """Return numbers in [0, 1)."""
    numbers: Doubles = (stream.random_raw(count) >> np.uint64(11)).astype(np.float64)
    return numbers * 2.0**-53


def _draw(uniform: Doubles, probability: Doubles) -> npt.NDArray[np.int64]:
    """Return indices drawn with probabilities that need not add up to 1."""
    ends = np.cumsum(probability)
    found = np.searchsorted(ends, uniform * ends[-1], side="right")
    drawn: npt.NDArray[np.int64] = np.minimum(found, len(ends) - 1)
    return drawn
