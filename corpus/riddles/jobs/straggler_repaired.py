"""Straggler, repaired: a pattern that finds the same, in one way."""

from straggler import main

if __name__ == "__main__":
    main("=")
