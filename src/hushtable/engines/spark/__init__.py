"""The Spark engine: the same groups and the same published cells as on one machine, on any number of partitions.

Spark counts and publishes; deciding is left to the very algorithms of the local engine. They depend on the content of
a table alone, so it is enough to give them its distinct combinations of values with their counts: Spark aggregates
these, the driver spreads them out to rows of small integers, and the groups that come out are joined to the rows.

``hushtable.engines.spark`` is the only folder that imports pyspark, and importing it does not: modules in it do.
"""
