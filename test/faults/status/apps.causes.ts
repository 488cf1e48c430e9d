import { TestClient } from '../../setup/client.js';
import { repeatUntilEnd, type Cause } from './planted.js';
import { createKey } from '../../e2e/keys.js';

const REFUSED = {
  reasons: { requests_refused: 'requests of the last minute were refused with a 4xx' },
};

/** Apps whose requests are refused. */
export const CAUSES_OF_APPS = {
  'an app has a revoked key': {
    async plant(planted) {
      const { id, app } = await createKey(planted.client, 'users:read');
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
      const { app } = await createKey(planted.client, 'events:read');
      repeatUntilEnd(planted, 50, () => app.call('GET', '/users'));
    },
    ...REFUSED,
  },
  'an app sends requests in a loop': {
    environment: { API_MAX_REQUESTS_PER_SECOND: 1 },
    async plant(planted) {
      const { app } = await createKey(planted.client, 'users:read');
      repeatUntilEnd(planted, 50, () => app.call('GET', '/users'));
    },
    ...REFUSED,
  },
} as const satisfies Record<string, Cause>;
