"""Networks from files: a neutral description, the ops and back ends that run it, a session."""
