"""Tables in databases: DuckDB, SQLite and PostgreSQL, read in Arrow batches and written in one transaction."""
