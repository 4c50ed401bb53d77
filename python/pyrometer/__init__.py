"""Pyrometer's profilers for PySpark: `StackProfiler`, `CpuMemProfiler`, `CpuMemStackProfiler`.

The names are loaded when they are used first, so that this package can be imported without pyspark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyrometer.profilers import PROFILERS, CpuMemProfiler, CpuMemStackProfiler, StackProfiler

__version__ = "0.1.0"
__all__ = ["PROFILERS", "CpuMemProfiler", "CpuMemStackProfiler", "StackProfiler"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from pyrometer import profilers

        return getattr(profilers, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
