"""OpenAI's batch API: files of requests that are computed in the background."""
