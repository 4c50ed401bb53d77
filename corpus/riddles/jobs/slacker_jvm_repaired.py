"""Slacker without Python functions, repaired: one request for a hundred orders."""

from slacker_jvm import main

if __name__ == "__main__":
    main(100)
