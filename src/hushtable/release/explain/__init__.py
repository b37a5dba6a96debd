"""Why a record was generalised or suppressed, in words, without showing anybody's values."""
