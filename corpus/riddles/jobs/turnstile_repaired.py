"""Turnstile, repaired: each thread has its own object."""

from turnstile import main

if __name__ == "__main__":
    main("com.acme.Signatures$Own")
