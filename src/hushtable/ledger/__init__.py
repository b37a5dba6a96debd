"""Earlier releases of the same people, checked against a new one."""
