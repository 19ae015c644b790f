# Node 20 has reached its end of life: the image runs the line that is maintained.
ARG NODE_VERSION=24.21.0

FROM node:${NODE_VERSION}-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# No dependency needs an install script; none is run.
RUN npm ci --ignore-scripts --no-audit
COPY babel.config.js ./
COPY plugins plugins
COPY src src
COPY stack stack
COPY scripts scripts
RUN npm run -s build && npm run -s build:stack \
  && npm prune --omit=dev --ignore-scripts --no-audit && node scripts/prune-modules.js node_modules

FROM node:${NODE_VERSION}-bookworm-slim
ENV NODE_ENV=production ADMIN_HOST=0.0.0.0
WORKDIR /app
COPY --from=build /app/package.json /app/babel.config.js ./
# A graph is compiled when it is loaded: with this configuration and this plugin.
COPY --from=build /app/plugins plugins
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
USER node
EXPOSE 4000 4001
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.ADMIN_PORT || 4001}/healthz`).then((response) => process.exit(response.ok ? 0 : 1), () => process.exit(1))"]
# Semi-space: loadtest/results/ladder-findings.md, "The young generation". Old space: Node (22.21 or later) reads the memory limit of the container's cgroup and takes half of it;
# the rest is for the young generation (up to 3 × 16 MB), Buffers that wait for sockets (MAX_POD_QUEUE_BYTES) and the process itself.
CMD ["node", "--enable-source-maps", "--max-semi-space-size=16", "--max-old-space-size-percentage=50", "dist/src/main.js"]
