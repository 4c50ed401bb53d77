"""A decision-support session: multi-way joins, windows, roll-ups, AQE on.

Not part of the corpus: bench/record_base.py records it, and benchmarks multiply
its log, because its plans are wide and each task carries many SQL metrics.
"""

from common import DATA, session

PAIRS = ((0, 1), (2, 3), (4, 5))

QUERIES = (
    # revenue by segment, category, region
    """SELECT c.segment, p.category, s.region, d.quarter, sum(f.price * f.quantity) AS revenue,
              count(*) AS n, avg(f.quantity) AS q, stddev(f.quantity) AS sd
       FROM sales_{a} f JOIN customers c ON f.customer = c.customer
       JOIN products p ON f.product = p.product JOIN stores s ON f.store = s.store
       JOIN days d ON f.day = d.day
       WHERE d.date >= DATE'2024-02-01' AND f.quantity > 1
       GROUP BY c.segment, p.category, s.region, d.quarter
       HAVING sum(f.price * f.quantity) > 100 ORDER BY revenue DESC""",
    # the best customers of each nation
    """SELECT * FROM (
         SELECT c.nation, c.name, sum(f.price * f.quantity) AS revenue,
                rank() OVER (PARTITION BY c.nation ORDER BY sum(f.price * f.quantity) DESC) AS place
         FROM sales_{a} f JOIN customers c ON f.customer = c.customer
         JOIN products p ON f.product = p.product WHERE p.category < 30
         GROUP BY c.nation, c.name) WHERE place <= 10 ORDER BY nation, place""",
    # growth from one month to the next
    """SELECT x.product, x.store, x.v AS before, y.v AS after, (y.v - x.v) / x.v AS growth
       FROM (SELECT product, store, sum(price * quantity) AS v FROM sales_{a} GROUP BY 1, 2) x
       JOIN (SELECT product, store, sum(price * quantity) AS v FROM sales_{b} GROUP BY 1, 2) y
       ON x.product = y.product AND x.store = y.store
       JOIN products p ON p.product = x.product JOIN stores s ON s.store = x.store
       WHERE y.v > x.v * 0.5 ORDER BY growth DESC, x.product LIMIT 200""",
    # roll-up
    """SELECT p.category, s.region, d.quarter, sum(f.price) AS v, count(DISTINCT f.customer) AS who
       FROM sales_{a} f JOIN products p ON f.product = p.product
       JOIN stores s ON f.store = s.store JOIN days d ON f.day = d.day
       WHERE f.day < 90 GROUP BY ROLLUP (p.category, s.region, d.quarter)
       ORDER BY 1, 2, 3""",
    # customers who did not come back
    """SELECT c.nation, c.segment, count(*) AS gone FROM customers c
       JOIN (SELECT DISTINCT customer FROM sales_{a} WHERE day < 60) x ON c.customer = x.customer
       LEFT ANTI JOIN (SELECT DISTINCT customer FROM sales_{b} WHERE day > 500) y
       ON c.customer = y.customer GROUP BY c.nation, c.segment ORDER BY gone DESC""",
    # a moving average
    """SELECT region, date, v, avg(v) OVER (PARTITION BY region ORDER BY date
              ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS week,
              lag(v, 7) OVER (PARTITION BY region ORDER BY date) AS before
       FROM (SELECT s.region, d.date, sum(f.price * f.quantity) AS v FROM sales_{b} f
             JOIN stores s ON f.store = s.store JOIN days d ON f.day = d.day
             JOIN customers c ON f.customer = c.customer WHERE c.segment <> 'web'
             GROUP BY s.region, d.date) ORDER BY region, date""",
    # both months together, per customer, with a shared sub-query
    """WITH both AS (SELECT customer, product, price * quantity AS v FROM sales_{a}
                     WHERE day < 200
                     UNION ALL
                     SELECT customer, product, price * quantity AS v FROM sales_{b}
                     WHERE day < 200),
            per AS (SELECT customer, sum(v) AS v, count(*) AS n FROM both GROUP BY customer)
       SELECT c.nation, p.category, sum(b.v) AS v, max(per.v) AS top, avg(per.n) AS n FROM both b
       JOIN per ON b.customer = per.customer JOIN customers c ON c.customer = b.customer
       JOIN products p ON p.product = b.product
       WHERE per.v > (SELECT avg(v) FROM per) GROUP BY c.nation, p.category ORDER BY v DESC""",
)


def make_views(spark) -> None:
    """Give the Parquet folders names."""
    for table in ("customers", "products", "stores"):
        spark.read.parquet(str(DATA / table)).createOrReplaceTempView(table)
    days = spark.read.parquet(str(DATA / "days")).selectExpr("*", "quarter(date) AS quarter")
    days.createOrReplaceTempView("days")
    for month in range(6):
        name = f"sales_{month}"
        spark.read.parquet(str(DATA / name.replace("_", "-"))).createOrReplaceTempView(name)


def main() -> None:
    spark = session()
    make_views(spark)
    for a, b in PAIRS:
        for query in QUERIES:
            rows = spark.sql(query.format(a=a, b=b)).collect()
            print(len(rows), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
