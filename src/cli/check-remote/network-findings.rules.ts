import { counted } from '../../platform/counted.rules.js';
import { expiresSoon } from '../../platform/http-client/certificate-expiry.rules.js';
import { findingsOf, type Finding, type Seen, type SeenNetwork, type SeenResponse } from './seen.rules.js';

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
  const { fits, fails } = findingsOf('network.name', SILENT);
  if (typeof names === 'number') return fits(`${host} has ${counted(names, 'address', 'addresses')}`);
  if (proxy !== null) return fits(`${host} is not resolved`, 'The proxy resolves it.');
  const means = 'Correct SCS_BASE_URL, or the name server of this machine.';
  return fails(`${host} is not resolved: ${names.lost}`, means);
}

function ofProxy({ proxy }: SeenNetwork): Finding {
  const { fits, fails } = findingsOf('network.proxy', SILENT);
  if (proxy === null) return fits('no proxy is used');
  const saw = `${proxy.variable} names ${proxy.address}`;
  if (proxy.fault === null) return fits(saw);
  const means = proxy.isAtFault
    ? `The proxy is at fault, not the remote service. Correct ${proxy.variable}, or exempt the host by NO_PROXY.`
    : 'The proxy works, but does not reach the remote service. Correct SCS_BASE_URL, or ask who runs the proxy.';
  return fails(`${saw}: ${proxy.fault}`, means);
}

function ofTls({ tls, isEncrypted, isLoopback }: SeenNetwork, now: Date): Finding | null {
  const { fits, differs, fails } = findingsOf('network.tls', SILENT);
  const clear = 'the connection is not encrypted';
  if (!isEncrypted && isLoopback) return fits(clear);
  if (!isEncrypted)
    return differs(clear, 'Everybody on the way can read the credentials. Use an https address.');
  if (tls === null) return null;
  if ('lost' in tls)
    return fails(
      `no TLS connection: ${tls.lost}`,
      'Correct SCS_BASE_URL, or allow the connection in the firewall.',
    );
  const { fault, protocol, validity } = tls;
  if (fault !== null)
    return fails(
      `the certificate is not trusted: ${fault}`,
      'If the service or a proxy of your company has an authority of its own, name its certificate. Else somebody may pose as the service.',
      'SCS_CA_FILE=/path/to/authority.pem',
    );
  if (protocol !== null && OLD_PROTOCOL.test(protocol))
    return differs(protocol, 'The protocol is outdated. Tell the provider.');
  const until = validity === null ? 'an unknown day' : new Date(validity.validTo).toISOString().slice(0, 10);
  const saw = `${protocol ?? 'TLS'}, a trusted certificate until ${until}`;
  return validity !== null && expiresSoon(validity, now)
    ? differs(saw, 'It ends soon. Ask the provider when it is renewed.')
    : fits(saw);
}

function ofLatency(responses: readonly SeenResponse[], timeoutMs: number): Finding {
  const slowest = Math.round(Math.max(...responses.map(({ ms }) => ms)));
  const { fits, differs, fails } = findingsOf('network.latency', 'no limit');
  const saw = `the slowest response took ${slowest} ms`;
  if (slowest <= timeoutMs / 2) return fits(saw);
  const needed = Math.min(
    LONGEST_TIMEOUT_MS,
    Math.max(SHORTEST_TIMEOUT_MS, Math.ceil((4 * slowest) / 1_000) * 1_000),
  );
  const means = `A call is given up after ${timeoutMs} ms. A registration that is given up needs a person.`;
  return (slowest >= timeoutMs ? fails : differs)(saw, means, `SCS_TIMEOUT_MS=${needed}`);
}

function ofClock(responses: readonly SeenResponse[]): Finding {
  const { fits, differs } = findingsOf('network.clock', SILENT);
  const offsets = responses.flatMap(({ headers, receivedAt }) => {
    const at = Date.parse(headers.date ?? '');
    return Number.isNaN(at) ? [] : [receivedAt.getTime() - at];
  });
  if (offsets.length === 0) return fits('no header Date', 'The clocks cannot be compared.');
  const offset = offsets.toSorted((a, b) => Math.abs(a) - Math.abs(b))[0]!;
  const seconds = Math.round(offset / 1_000);
  const saw = `our clock differs from theirs by ${Math.abs(seconds)} s`;
  if (Math.abs(offset) <= CLOCK_TOLERANCE_MS) return fits(saw);
  const side = seconds > 0 ? 'ahead' : 'behind';
  return differs(saw, `Our clock is ${side}. Synchronise it by NTP: the end of a token is compared with it.`);
}
