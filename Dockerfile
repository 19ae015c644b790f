# Node 20 has reached its end of life: the image runs the line that is maintained.
# Pin the base image by digest; the first command prints it:
#   docker buildx imagetools inspect node:24.21.0-bookworm-slim --format '{{.Manifest.Digest}}'
#   docker build --build-arg NODE_IMAGE=node:24.21.0-bookworm-slim@<digest> .
ARG NODE_IMAGE=node:24.21.0-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The workspaces, whose packages npm links.
COPY client client
COPY create-crier create-crier
COPY plugins plugins
# No dependency needs an install script; none is run.
RUN npm ci --ignore-scripts --no-audit
COPY babel.config.js tsconfig.json ./
COPY src src
COPY examples/auction examples/auction
COPY pages pages
COPY stack stack
COPY scripts scripts
# What `--version`, the log and crier_build_info name beside the version: --build-arg REVISION=$(git rev-parse --short=12 HEAD)
ARG REVISION
RUN npm run -s build && npm run -s build:stack \
  && npm prune --omit=dev --ignore-scripts --no-audit && rm -rf node_modules/@crier/create node_modules/.bin/create-crier node_modules/.cache \
  && node scripts/prune-modules.js node_modules

FROM ${NODE_IMAGE}
ENV NODE_ENV=production ADMIN_HOST=0.0.0.0
WORKDIR /app
COPY --from=build /app/package.json /app/babel.config.js ./
# node_modules has links to these packages. A graph is compiled with the plugin when it is loaded.
COPY --from=build /app/client client
COPY --from=build /app/plugins plugins
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
# By number, so that Kubernetes can tell that it is not root; above 10,000, so that it is no user of a host.
USER 10001:10001
EXPOSE 4000 4001
STOPSIGNAL SIGTERM
# Bash opens the socket: a second Node every ten seconds would take memory and CPU from the server.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/${ADMIN_PORT:-4001} && printf 'GET /healthz HTTP/1.0\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [[ $status == 200 ]]"]
# Semi-space: loadtest/results/ladder-findings.md, "The young generation". Old space: Node (22.21 or later) reads the memory limit of the container's cgroup and takes half of it;
# the rest is for the young generation (up to 3 × 16 MB), Buffers that wait for sockets (MAX_POD_QUEUE_BYTES) and the process itself.
CMD ["node", "--enable-source-maps", "--max-semi-space-size=16", "--max-old-space-size-percentage=50", "dist/src/main.js"]
