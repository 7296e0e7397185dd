"""Spark finds the data source by the name of this package."""

from trommel.spark import TrommelDataSource as DefaultSource

__all__ = ["DefaultSource"]
