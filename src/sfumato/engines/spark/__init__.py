"""Tables of Spark, asked there."""

from sfumato.engines.spark.dialect import SparkDialect
from sfumato.engines.spark.session import SparkEngine, SparkSession
from sfumato.engines.spark.table import SparkTable

Table, Engine = SparkTable, SparkEngine

__all__ = ["Engine", "SparkDialect", "SparkEngine", "SparkSession", "SparkTable", "Table"]
