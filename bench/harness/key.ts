import { request } from 'undici';
import { ADMIN_KEY } from './service-variables.js';

/** Sends a POST request with the administrator's key and returns the response body. Throws unless the response is a 2xx. */
export async function post<Body>(url: string, body: object): Promise<Body> {
  const response = await request(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.body.text();
  if (response.statusCode >= 300) throw new Error(`${url} responded ${response.statusCode}: ${text}`);
  return JSON.parse(text) as Body;
}

export async function newKey(serviceUrl: string, scopes: readonly string[]): Promise<Record<string, string>> {
  const { key } = await post<{ key: string }>(`${serviceUrl}/api/v1/api-keys`, { name: 'benchmark', scopes });
  return { authorization: `Bearer ${key}` };
}
