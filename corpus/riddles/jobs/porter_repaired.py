"""Porter, repaired: only the column that the function looks at goes to Python."""

from porter import amount_of, orders_of
from riddle import start


def main() -> None:
    spark = start()
    print(orders_of(spark).select("amount").rdd.map(amount_of).sum(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
