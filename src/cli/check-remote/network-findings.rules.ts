import { counted } from '../../platform/counted.rules.js';
import { expiresSoon } from '../../platform/http-client/certificate-expiry.rules.js';
import type { Finding, Seen, SeenNetwork, SeenResponse } from './seen.rules.js';

const SILENT = 'nothing';
/** `Date` has whole seconds, and the response takes a while. */
const CLOCK_TOLERANCE_MS = 5_000;
const OLD_PROTOCOL = /^(?:SSLv|TLSv1(?:\.1)?$)/;
const SHORTEST_TIMEOUT_MS = 10_000;
const LONGEST_TIMEOUT_MS = 120_000;

/** Judges the way to the remote service. */
export const networkFindings = (seen: Seen, responses: readonly SeenResponse[]): Finding[] =>
  [
    ofNames(seen.network),
    ofProxy(seen.network),
    ofTls(seen.network, seen.at),
    ...(responses.length === 0 ? [] : [ofLatency(responses, seen.timeoutMs), ofClock(responses)]),
  ].filter((finding) => finding !== null);

function ofNames({ names, host, proxy }: SeenNetwork): Finding {
  const line = { check: 'network.name', says: SILENT };
  if (typeof names === 'number')
    return {
      ...line,
      level: 'fits',
      saw: `${host} has ${counted(names, 'address', 'addresses')}`,
      means: '',
    };
  if (proxy !== null)
    return { ...line, level: 'fits', saw: `${host} is not resolved`, means: 'The proxy resolves it.' };
  return {
    ...line,
    level: 'fails',
    saw: `${host} is not resolved: ${names.lost}`,
    means: 'Correct SCS_BASE_URL, or the name server of this machine.',
  };
}

function ofProxy({ proxy }: SeenNetwork): Finding {
  const line = { check: 'network.proxy', says: SILENT };
  if (proxy === null) return { ...line, level: 'fits', saw: 'no proxy is used', means: '' };
  const saw = `${proxy.variable} names ${proxy.address}`;
  if (proxy.fault === null) return { ...line, level: 'fits', saw, means: '' };
  const means = proxy.isAtFault
    ? `The proxy is at fault, not the remote service. Correct ${proxy.variable}, or exempt the host by NO_PROXY.`
    : 'The proxy works, but does not reach the remote service. Correct SCS_BASE_URL, or ask who runs the proxy.';
  return { ...line, level: 'fails', saw: `${saw}: ${proxy.fault}`, means };
}

function ofTls({ tls, isEncrypted, isLoopback }: SeenNetwork, now: Date): Finding | null {
  const line = { check: 'network.tls', says: SILENT };
  if (!isEncrypted)
    return {
      ...line,
      level: isLoopback ? 'fits' : 'differs',
      saw: 'the connection is not encrypted',
      means: isLoopback ? '' : 'Everybody on the way can read the credentials. Use an https address.',
    };
  if (tls === null) return null;
  if ('lost' in tls)
    return {
      ...line,
      level: 'fails',
      saw: `no TLS connection: ${tls.lost}`,
      means: 'Correct SCS_BASE_URL, or allow the connection in the firewall.',
    };
  const { fault, protocol, validity } = tls;
  if (fault !== null)
    return {
      ...line,
      level: 'fails',
      saw: `the certificate is not trusted: ${fault}`,
      means:
        'If the service or a proxy of your company has an authority of its own, name its certificate. Else somebody may pose as the service.',
      setting: 'SCS_CA_FILE=/path/to/authority.pem',
    };
  if (protocol !== null && OLD_PROTOCOL.test(protocol))
    return {
      ...line,
      level: 'differs',
      saw: protocol,
      means: 'The protocol is outdated. Tell the provider.',
    };
  const until = validity === null ? 'an unknown day' : new Date(validity.validTo).toISOString().slice(0, 10);
  const saw = `${protocol ?? 'TLS'}, a trusted certificate until ${until}`;
  return validity !== null && expiresSoon(validity, now)
    ? { ...line, level: 'differs', saw, means: 'It ends soon. Ask the provider when it is renewed.' }
    : { ...line, level: 'fits', saw, means: '' };
}

function ofLatency(responses: readonly SeenResponse[], timeoutMs: number): Finding {
  const slowest = Math.round(Math.max(...responses.map(({ ms }) => ms)));
  const line = { check: 'network.latency', says: 'no limit', saw: `the slowest response took ${slowest} ms` };
  if (slowest <= timeoutMs / 2) return { ...line, level: 'fits', means: '' };
  const needed = Math.min(
    LONGEST_TIMEOUT_MS,
    Math.max(SHORTEST_TIMEOUT_MS, Math.ceil((4 * slowest) / 1_000) * 1_000),
  );
  return {
    ...line,
    level: slowest >= timeoutMs ? 'fails' : 'differs',
    means: `A call is given up after ${timeoutMs} ms. A registration that is given up needs a person.`,
    setting: `SCS_TIMEOUT_MS=${needed}`,
  };
}

function ofClock(responses: readonly SeenResponse[]): Finding {
  const line = { check: 'network.clock', says: SILENT };
  const offsets = responses.flatMap(({ headers, receivedAt }) => {
    const at = Date.parse(headers.date ?? '');
    return Number.isNaN(at) ? [] : [receivedAt.getTime() - at];
  });
  if (offsets.length === 0)
    return { ...line, level: 'fits', saw: 'no header Date', means: 'The clocks cannot be compared.' };
  const offset = offsets.toSorted((a, b) => Math.abs(a) - Math.abs(b))[0]!;
  const seconds = Math.round(offset / 1_000);
  const saw = `our clock differs from theirs by ${Math.abs(seconds)} s`;
  if (Math.abs(offset) <= CLOCK_TOLERANCE_MS) return { ...line, level: 'fits', saw, means: '' };
  return {
    ...line,
    level: 'differs',
    saw,
    means: `Our clock is ${seconds > 0 ? 'ahead' : 'behind'}. Synchronise it by NTP: the end of a token is compared with it.`,
  };
}
