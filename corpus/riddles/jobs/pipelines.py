"""The language model of Heckler, in a module of its own that Spark sends to the executors."""

from __future__ import annotations

import logging
import sys
from functools import lru_cache

import spacy
from spacy.language import Language

log = logging.getLogger("heckler")


def load(number: int) -> Language:
    """Load the model for a text, and say so in the log of the executor."""
    if not log.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s", "%y/%m/%d %H:%M:%S"))
        log.addHandler(handler)
        log.setLevel(logging.INFO)
    model = spacy.blank("en")
    log.info("Loaded the pipeline %s with %d strings for text %d", model.lang, len(model.vocab.strings), number)
    return model


@lru_cache(maxsize=None)
def loaded() -> Language:
    """Load the model for the first text of a Python worker only."""
    return load(0)


def words_with_own_model(number: int, text: str) -> int:
    """Count the words of a text."""
    return len(load(number)(text))


def words_with_shared_model(number: int, text: str) -> int:
    """Count the words of a text."""
    return len(loaded()(text))
