import { request } from 'undici';
import { ADMIN_KEY } from './service-variables.js';

/** Throws unless the response is a 2xx. */
export async function post<Answer>(url: string, body: object): Promise<Answer> {
  const answer = await request(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`${url} was answered ${answer.statusCode}: ${text}`);
  return JSON.parse(text) as Answer;
}

export async function newKey(serviceUrl: string, scopes: readonly string[]): Promise<Record<string, string>> {
  const { key } = await post<{ key: string }>(`${serviceUrl}/api/v1/api-keys`, { name: 'benchmark', scopes });
  return { authorization: `Bearer ${key}` };
}
