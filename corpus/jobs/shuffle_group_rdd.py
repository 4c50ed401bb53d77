"""Every line is split into sixty pairs, all sent through groupByKey instead of being combined first."""

from pathlib import Path

from common import session


def main() -> None:
    sc = session().sparkContext
    source = Path("data/lines.txt")
    source.write_text("".join(f"line {number:09}\n" for number in range(30_000)))
    lines = sc.textFile(str(source), 12)
    pairs = lines.flatMap(lambda line: [(f"{line}-{i % 4}", f"{hash((line, i)):x}" * 3) for i in range(60)])
    print(pairs.groupByKey(12).mapValues(lambda values: sum(map(len, values))).count(), flush=True)
    sc.stop()


if __name__ == "__main__":
    main()
