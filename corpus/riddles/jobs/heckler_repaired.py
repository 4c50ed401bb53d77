"""Heckler, repaired: each Python worker loads the model once."""

from heckler import main
from pipelines import words_with_shared_model

if __name__ == "__main__":
    main(words_with_shared_model)
