import Fastify, { type FastifyInstance } from 'fastify';
import { control } from './control/routes.js';
import { Faults } from './faults.js';
import type { Habits } from './habits.js';
import { index } from './pages/index.routes.js';
import { Ledger } from './ledger.js';
import { ICON } from './pages/markup.js';
import { onlyTo } from './loopback.js';
import { ownerFlow } from './pages/owner-flow.routes.js';
import { remoteInterface } from './remote-interface.routes.js';
import type { Credentials, Sandbox } from './sandbox.js';
import { defaultSettings, settingsLike } from './settings.js';
import { State } from './state.js';

const refuseSchemas = (): never => {
  throw new Error('no route of the sandbox has a JSON schema');
};

/** Creates the sandbox. It accepts requests whose Host is a loopback name or in `allowedHosts`. */
export const createSandbox = (
  credentials: Credentials,
  allowedHosts: readonly string[],
  publicUrl: string | null,
  recorded: Habits | null = null,
): { app: FastifyInstance; sandbox: Sandbox } => {
  const app = Fastify({
    logger: false,
    // No route has a JSON schema. Not loading Fastify's schema compilers saves a third of the start time.
    schemaController: {
      compilersFactory: { buildValidator: refuseSchemas, buildSerializer: refuseSchemas },
    },
  });
  const state = new State();
  const faults = new Faults();
  const ledger = new Ledger();
  let settings = defaultSettings();
  let habits: Habits | null = null;
  const sandbox: Sandbox = {
    state,
    faults,
    ledger,
    credentials,
    publicUrl,
    settings: () => settings,
    change: (changed) => {
      settings = { ...settings, ...changed };
    },
    habits: () => habits,
    like: (seen) => {
      habits = seen;
      settings = { ...settings, ...settingsLike(seen) };
    },
    reset: () => {
      settings = defaultSettings();
      habits = null;
      if (recorded !== null) sandbox.like(recorded);
      faults.clear();
      state.clear();
      ledger.clear();
    },
    url: () => publicUrl ?? app.listeningOrigin,
  };
  if (recorded !== null) sandbox.like(recorded);
  app.addHook('onRequest', onlyTo(allowedHosts));
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ message: 'not found' }));
  app.get('/favicon.ico', (_request, reply) => reply.type('image/svg+xml').send(ICON));
  app.register(remoteInterface(sandbox));
  app.register(ownerFlow(sandbox));
  app.register(control(sandbox));
  app.register(index(sandbox));
  return { app, sandbox };
};
