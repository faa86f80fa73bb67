# Aldis without the embedded database. docs/install.md shows how to run it.
#   docker build -t aldis .

ARG BASE=docker.io/library/node:26-bookworm-slim

FROM ${BASE} AS node
# Node.js needs it, and slim images may lack it.
RUN apt-get update && apt-get install --yes --no-install-recommends libatomic1 && rm -rf /var/lib/apt/lists/*

FROM node AS build
WORKDIR /build
COPY package.json package-lock.json ./
# Without scripts: the sources that they build are not here yet. Optional packages are the binaries of PostgreSQL and of
# tools for other systems; the compilers are among them.
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm prune --ignore-scripts --omit=dev --omit=optional

FROM node
WORKDIR /aldis
COPY --from=build /build/package.json /build/LICENSE ./
COPY --from=build /build/node_modules ./node_modules
COPY --from=build /build/dist ./dist
RUN ln -s /aldis/dist/main.js /usr/local/bin/aldis
ENV NODE_ENV=production
# It writes no files: the root may be read-only.
USER 10001:10001
EXPOSE 8080
# Alive, not ready: while the database is away a restart would help nobody.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.HTTP_PORT || 8080}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["aldis"]
CMD ["serve"]
