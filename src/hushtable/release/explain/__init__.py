"""Why a record was generalized or suppressed, in words, without showing anybody's values."""
