"""The run that the other three of the pairs are compared with."""

from pair_work import report

if __name__ == "__main__":
    report(months=1)
