"""The models of a server: what is known of each, when it is loaded, and which one answers."""
