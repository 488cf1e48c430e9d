import type { IncomingMessage } from 'node:http';
import { Problem } from '../problem/problem.js';

/**
 * Returns a problem for headers that HTTP forbids (RFC 9112, section 3.2; RFC 9110, section 10.1.1) and that Node accepts or refuses
 * without a body; undefined if there are none.
 */
export function headerProblem(request: IncomingMessage): Problem | undefined {
  const { headers, httpVersion } = request;
  const hosts = countHosts(request.rawHeaders);
  if (hosts > 1) return refusal('Host', 'must be given once');
  if (hosts === 0 && httpVersion === '1.1') return refusal('Host', 'is required in HTTP/1.1');
  if (headers.expect !== undefined && !/^100-continue$/i.test(headers.expect.trim()))
    return refusal('Expect', 'must be 100-continue');
  return undefined;
}

const refusal = (field: string, message: string): Problem =>
  new Problem('invalid_request', `${field} ${message}`, { errors: [{ field, message }] });

/** Counts Host headers; `headers` contains only the first one. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}
