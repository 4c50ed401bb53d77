"""The work of pair_base over twice the data."""

from pair_work import report

if __name__ == "__main__":
    report(months=2)
