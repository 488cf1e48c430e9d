# syntax=docker/dockerfile:1

FROM node:20-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./

FROM packages AS build
# No package needs its install script; Prisma's would download an engine that is not used.
RUN npm ci --include=dev --ignore-scripts
COPY prisma.config.ts tsconfig.json tsconfig.build.json ./
COPY prisma ./prisma
COPY src ./src
RUN npm run build

FROM packages
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000
# Prisma's command line and TypeScript are optional companions of packages that do belong here: twice the size for nothing.
RUN npm ci --omit=dev --omit=optional --ignore-scripts && npm cache clean --force
COPY --from=build /app/dist ./dist
# Applied at the start, by whichever replica comes first.
COPY prisma/migrations ./prisma/migrations
COPY openapi.json asyncapi.json ./
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/ready`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/main.js"]
