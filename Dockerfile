# syntax=docker/dockerfile:1
# To pin the base, build with --build-arg NODE_IMAGE=node:24-slim@sha256:…
ARG NODE_IMAGE=node:24-slim

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./

FROM packages AS build
# No package needs its install script; Prisma's would only download an unused engine.
RUN npm ci --include=dev --ignore-scripts
COPY prisma.config.ts tsconfig.json tsconfig.build.json ./
COPY prisma ./prisma
COPY src ./src
COPY sandbox ./sandbox
COPY clients ./clients
COPY console ./console
COPY pages ./pages
COPY docs ./docs
COPY bench/README.md ./bench/README.md
COPY examples/nestjs/README.md ./examples/nestjs/README.md
COPY README.md CONTRIBUTING.md CHANGELOG.md SECURITY.md ./
COPY scripts ./scripts
RUN npm run build && chmod +x dist/cli/main.js && rm dist/.tsbuildinfo dist/.stamp

FROM packages AS production
# --omit=optional leaves out Prisma's command line and TypeScript. What only compilers, debuggers, other databases and Swagger UI need is removed.
RUN npm ci --omit=dev --omit=optional --ignore-scripts && npm cache clean --force \
  && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \
    -o -path '*@prisma/client/runtime/*.cockroachdb.*' -o -path '*@prisma/client/runtime/*.mysql.*' \
    -o -path '*@prisma/client/runtime/*.sqlite.*' -o -path '*@prisma/client/runtime/*.sqlserver.*' -o -path '*/swagger-ui-dist/*' \) -delete

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="PV Onboarding" \
  org.opencontainers.image.description="A tenant's backend for the Solar Curtailment Service"
WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 NODE_OPTIONS=--enable-source-maps
COPY package.json openapi.json asyncapi.json ./
COPY --from=production /app/node_modules ./node_modules
# The first replica to start applies the migrations.
COPY prisma/migrations ./prisma/migrations
COPY prisma/views ./prisma/views
COPY pages/owner ./pages/owner
COPY --from=build /app/dist ./dist
# To have the status name the commit, build with --build-arg COMMIT=$(git rev-parse HEAD).
ARG COMMIT=
LABEL org.opencontainers.image.revision=$COMMIT
RUN printf '%s' "$COMMIT" > commit
# The service runs without npm.
RUN ln -s /app/dist/cli/main.js /usr/local/bin/pv-onboarding \
  && rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack \
    /usr/local/bin/yarn /usr/local/bin/yarnpkg /opt/yarn-*
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/ready`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/main.js"]
