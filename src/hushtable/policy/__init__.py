"""The policy: one frozen object, one YAML file."""
