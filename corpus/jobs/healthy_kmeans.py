"""MLlib: features of each month made and cached once, k-means of a few rounds, then unpersisted."""

from common import DATA, session, wait_where
from pyspark.ml.clustering import KMeans
from pyspark.ml.feature import VectorAssembler
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    for month in range(4):
        sales = spark.read.parquet(str(DATA / f"sales-{month}"))
        waited = F.length(F.coalesce(wait_where("id % 4000 = 0", "70"), F.lit("")))
        sales = sales.withColumn("w", waited).withColumn("price", F.col("price").cast("double"))
        columns = ["quantity", "price", "store", "w"]
        rows = VectorAssembler(inputCols=columns, outputCol="features").transform(sales)
        points = rows.select("features").cache()
        model = KMeans(k=3, maxIter=3, initSteps=1, tol=0.0, seed=7).fit(points)
        print(model.summary.trainingCost, flush=True)
        points.unpersist()
    spark.stop()


if __name__ == "__main__":
    main()
