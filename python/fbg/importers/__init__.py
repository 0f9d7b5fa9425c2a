"""Networks from files: a neutral description, ops and back ends that run it, and a session."""
