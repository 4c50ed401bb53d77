"""Limited, repaired: one request for all orders of a partition."""

from limited import main
from prices import all_at_once

if __name__ == "__main__":
    main(all_at_once)
