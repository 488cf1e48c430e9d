import { startTestProcess, type TestProcess } from '../processes/test-process.js';

export const CLIENT = { CLIENT_ID: 'console', CLIENT_SECRET: 'secret-of-the-client-of-the-tests' };

/** Starts an OpenID Connect provider. `groups`: the groups of each login. */
export const startIdentityProvider = (
  groups: Readonly<Record<string, string[]>>,
  env: Readonly<Record<string, string>> = {},
): Promise<TestProcess> =>
  startTestProcess('test/setup/oidc/identity-provider.process.ts', {
    ...CLIENT,
    GROUPS: JSON.stringify(groups),
    ...env,
  });

/**
 * Signs in at the provider by its forms, as a person does. `start`: the address of the sign-in at the service. Returns the address of the
 * callback.
 */
export async function signInAtProvider(start: string, login: string): Promise<string> {
  const cookies = new Map<string, string>();
  const { origin } = new URL(start);
  const send = async (url: string, form?: Record<string, string>): Promise<Response> => {
    const response = await fetch(url, {
      method: form === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      body: form && new URLSearchParams(form),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return response;
  };
  let url = start;
  let response = await send(url);
  // A sign-in and a consent are two forms with a few redirects each.
  for (let step = 0; step < 20; step++) {
    const location = response.headers.get('location');
    if (location !== null) {
      url = new URL(location, url).href;
      if (new URL(url).origin !== origin) return url;
      response = await send(url);
    } else {
      const page = await response.text();
      const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
      if (prompt === undefined) throw new Error(`the provider shows no form: ${response.status} ${page}`);
      response = await send(url, { prompt, login, password: 'any' });
    }
  }
  throw new Error(`the provider does not lead back: ${url}`);
}
