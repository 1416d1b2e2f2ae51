"""Random programs and histories, and a database followed through them; see `soak`."""
