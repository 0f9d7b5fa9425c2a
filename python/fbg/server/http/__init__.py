"""The way of requests that need little or nothing of ASGI: uvicorn's protocol, extended."""
