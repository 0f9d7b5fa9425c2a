"""The HTTP server: routes parse and format, models compute on the queue of the runtime."""
