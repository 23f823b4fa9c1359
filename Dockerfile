# mkeyspec with the software NIC ready, under Debian's unmodified driver:
#
#     docker build -t mkeyspec .
#     docker run --rm -v "$PWD:/work" mkeyspec run cases --device soft
FROM debian:12-slim AS build
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends gcc libc6-dev make python3 python3-pip python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
# The environment is of the system's Python: pyverbs fits no other.
RUN python3 -m venv /opt/mkeyspec \
    && /opt/mkeyspec/bin/pip install --no-cache-dir .

FROM debian:12-slim
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends ibverbs-providers ibverbs-utils python3 python3-pyverbs \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 author
COPY --from=build /opt/mkeyspec /opt/mkeyspec
ENV PATH=/opt/mkeyspec/bin:$PATH
USER 1000
WORKDIR /work
ENTRYPOINT ["mkeyspec"]
CMD ["--help"]
