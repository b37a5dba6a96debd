"""Where the work is done: on this machine or on Spark."""
