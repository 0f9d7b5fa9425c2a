# The server in an image: `docker build --tag fbg .`, then `docker run … fbg NAME=MODEL`.
FROM python:3.11-slim-bookworm AS build
RUN apt-get update \
 && apt-get install --yes --no-install-recommends g++ cmake ninja-build libxbyak-dev libhwy-dev \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN python -m venv /opt/fbg && /opt/fbg/bin/pip install --no-cache-dir '.[server]'

FROM python:3.11-slim-bookworm
RUN useradd --system --uid 1000 --create-home fbg
COPY --from=build /opt/fbg /opt/fbg
USER fbg
ENV PATH=/opt/fbg/bin:$PATH
EXPOSE 8080
# Models load before the server is healthy; quantizing a large one takes a while.
HEALTHCHECK --interval=10s --timeout=3s --start-period=120s CMD \
  ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/health', timeout=2)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["fbg", "serve", "--host", "0.0.0.0", "--port", "8080"]
