"""Work that grows: a few tasks, some more, then many, with time on the driver between."""

import time

from phases import phase
from warm import start


def main() -> None:
    spark = start(lambda s: [phase(s, tasks, 1) for tasks in (4, 18, 45)])
    for tasks, milliseconds in ((4, 60), (18, 80), (45, 60)):
        print(phase(spark, tasks, milliseconds), flush=True)
        time.sleep(2.5)
    spark.stop()


if __name__ == "__main__":
    main()
