import { TestClient } from '../../setup/client.js';
import { repeatUntilEnd, type Cause, type Planted } from './planted.js';

async function createApp({ app, client }: Planted, scopes: readonly string[]) {
  const { body } = await client.call<{ id: string; key: string }>('POST', '/api-keys', {
    name: 'app',
    scopes,
  });
  return { id: body.id, app: new TestClient(app.url, body.key) };
}

const REFUSED = {
  reasons: { requests_refused: 'requests of the last minute were refused with a 4xx' },
  alerts: ['RequestsAreRefused'],
};

/** Apps whose requests are refused. */
export const CAUSES_OF_APPS = {
  'an app has a revoked key': {
    async plant(planted) {
      const { id, app } = await createApp(planted, ['users:read']);
      await planted.client.call('DELETE', `/api-keys/${id}`);
      repeatUntilEnd(planted, 50, () => app.call('GET', '/users'));
    },
    ...REFUSED,
  },
  'an app has an unknown key': {
    async plant(planted) {
      const app = new TestClient(planted.app.url, 'a key that is not valid');
      repeatUntilEnd(planted, 50, () => app.call('GET', '/users'));
    },
    ...REFUSED,
  },
  'an app has a key without the scope': {
    async plant(planted) {
      const { app } = await createApp(planted, ['events:read']);
      repeatUntilEnd(planted, 50, () => app.call('GET', '/users'));
    },
    ...REFUSED,
  },
  'an app sends requests in a loop': {
    environment: { API_MAX_REQUESTS_PER_SECOND: 1 },
    async plant(planted) {
      const { app } = await createApp(planted, ['users:read']);
      repeatUntilEnd(planted, 50, () => app.call('GET', '/users'));
    },
    ...REFUSED,
  },
} as const satisfies Record<string, Cause>;
