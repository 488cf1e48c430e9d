import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

// A certified provider of OpenID Connect on the loopback. Any login and password are accepted; GROUPS has the groups of each login as JSON.

const { CLIENT_ID = '', CLIENT_SECRET = '', GROUPS = '{}', GROUPS_IN_TOKEN, PORT = '0' } = process.env;
const groups = JSON.parse(GROUPS) as Record<string, string[] | undefined>;

const server = createServer();
server.listen(Number(PORT), '127.0.0.1', () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(url, {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        // Any port of a native client is allowed, and the port of the service is not known yet.
        application_type: 'native',
        redirect_uris: ['http://127.0.0.1/console/callback', 'http://127.0.0.1/tools/pv/console/callback'],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    scopes: ['openid', 'profile', 'groups'],
    claims: { openid: ['sub'], profile: ['name'], groups: ['groups'] },
    conformIdTokenClaims: GROUPS_IN_TOKEN === undefined,
    features: { devInteractions: { enabled: true } },
    cookies: { keys: ['a key of the tests'] },
    findAccount: (_context, login) => ({
      accountId: login,
      claims: () => ({ sub: login, name: `The ${login}`, groups: groups[login] }),
    }),
  });
  const handle = provider.callback();
  server.on('request', (request, response) => void handle(request, response));
  process.send?.({ type: 'ready', url });
});
