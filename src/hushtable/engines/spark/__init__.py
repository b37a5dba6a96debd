"""The Spark engine: the same groups and the same published cells as on one machine, on any number of partitions.

Spark counts and publishes; the algorithms of the local engine decide. They depend only on the content of a table, so
its distinct combinations of values with their counts are enough: Spark aggregates these, the driver expands them to
rows of small integers, and the resulting groups are joined to the rows.

``hushtable.engines.spark`` is the only folder that imports pyspark, and importing it does not: modules in it do.
"""
