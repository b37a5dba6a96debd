"""Why a record was generalized or suppressed, in words, without showing anyone's values."""
