"""The work of pair_base on half the slots: see its row in planted/pairs.py."""

from pair_work import report

if __name__ == "__main__":
    report(months=1)
