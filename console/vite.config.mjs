import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

/** The service that `npm run console` talks to. */
const SERVICE = process.env.CONSOLE_SERVICE ?? 'http://127.0.0.1:3000';

/** Sends a request to the service as if the page were its own: with its origin, which mutations need. */
const toService = {
  target: SERVICE,
  configure: (proxy) =>
    proxy.on('proxyReq', (request) => request.hasHeader('origin') && request.setHeader('origin', SERVICE)),
};

export default defineConfig(({ command }) => ({
  // The service writes the path of PUBLIC_URL into the built page.
  base: command === 'build' ? './' : '/console/',
  // The client is bundled from its sources. It imports itself by this name in the command line too.
  resolve: {
    alias: [
      {
        find: /^#client\/(.*)\.js$/,
        replacement: fileURLToPath(new URL('../clients/typescript/src/$1.ts', import.meta.url)),
      },
    ],
  },
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    target: 'es2022',
    // The policy of the page forbids what the polyfill would do, and no browser of this target needs it.
    modulePreload: { polyfill: false },
    // An image in a data URL would escape the hash of its name.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // Names the files of each page, of which `npm run check` adds up the sizes.
    manifest: true,
    rolldownOptions: {
      // The directive is for servers that render React.
      onwarn: (warning, warn) => warning.code !== 'MODULE_LEVEL_DIRECTIVE' && warn(warning),
    },
  },
  server: {
    proxy: {
      '/api': toService,
      '^/console/(session|sign-in|callback)': toService,
    },
  },
}));
