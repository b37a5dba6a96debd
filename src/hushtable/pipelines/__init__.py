"""Releases made by schedulers: one function, and thin modules for Airflow, Dagster and dbt over it.

``airflow``, ``dagster`` and ``dbt`` import their scheduler, and nothing else imports them.
"""
