/** An address as some gateways write it: `192.0.2.1:443`, `[2001:db8::1]:443`, `"[2001:db8::1]"`, `fe80::1%eth0`. */
const ADDRESS =
  /^"?(?:\[(?<inBrackets>[\da-f:.]+)(?:%[\w.-]+)?\](?::\d+)?|(?<v4>[\d.]+):\d+|(?<v6>[\da-f:.]+)(?:%[\w.-]+)?)"?$/i;

/** Returns the address in an entry of X-Forwarded-For, without port, brackets, quotes and zone. Returns any other entry unchanged. */
export function addressIn(entry: string): string {
  const { inBrackets, v4, v6 } = ADDRESS.exec(entry.trim())?.groups ?? {};
  return inBrackets ?? v4 ?? v6 ?? entry.trim();
}

/**
 * Returns the entry of a list that the outermost of `hops` trusted proxies has added: each proxy adds its own at the end. A shorter list has
 * only entries of the outer ones, as if the inner ones had left it unchanged.
 */
export function entryOfHop(list: string, hops: number): string {
  const entries = list.split(',').map((entry) => entry.trim());
  return entries[Math.max(0, entries.length - hops)]!;
}

/** Rewrites the headers of trusted proxies to the forms that Fastify reads. `countHops` counts the trusted proxies by the rewritten addresses. */
export function normaliseForwarded(headers: NodeJS.Dict<string | string[]>, countHops: () => number): void {
  const { 'x-forwarded-for': addresses, 'x-forwarded-proto': protocols, 'x-forwarded-host': hosts } = headers;
  if (typeof addresses === 'string')
    headers['x-forwarded-for'] = addresses.split(',').map(addressIn).join(', ');
  if (typeof protocols === 'string')
    headers['x-forwarded-proto'] = entryOfHop(protocols, countHops()).toLowerCase();
  if (typeof hosts === 'string') headers['x-forwarded-host'] = entryOfHop(hosts, countHops());
}
