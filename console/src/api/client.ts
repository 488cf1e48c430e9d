import { PREFIX } from '../rules/prefix.js';
import { createClient, type Schemas } from '#client/client.js';

export type Status = Schemas['StatusView'];
/** The history of the status, and the time that it covers, in seconds since 1970. */
export type History = Schemas['StatusHistoryView'] & { readonly from: number; readonly to: number };
/** The data of most panels of the duty page. `history` is undefined until it has been read. */
export interface Overview {
  readonly status: Status;
  readonly history: History | undefined;
}
export type Stalled = Schemas['StalledView'];
export type StalledItem = Schemas['StalledItemView'];
export type StalledGroup = Schemas['StalledGroupView'];
export type Remedy = Schemas['RemedyView'];
export type Session = Schemas['SessionView'];
export type TimelineEntry = Schemas['TimelineEntryView'];
export type Registration = Schemas['RegistrationView'];
export type Endpoint = Schemas['WebhookEndpointView'];
export type Delivery = Schemas['WebhookDeliveryView'];
export type FunnelDay = Schemas['FunnelView'];
export type Case = Schemas['CaseView'];
export type Hit = Schemas['HitView'];
export type Customer = Schemas['CustomerView'];

/** The functions that the client calls after a response, before the page that sent the request reads the response. */
interface Listener {
  /** A response was a 401: the session of the console has ended. */
  signedOut(): void;
  streamOpened(): void;
}

/** A response that has not come by then does not come: the service itself gives up sooner. A read is tried again. */
export const READ_MS = 30_000;
const ACT_MS = 60_000;
/** A file takes as long as the network of the person needs. */
const UPLOAD_MS = 600_000;

function patienceFor({ method, headers }: Request): number {
  if (headers.get('content-type')?.startsWith('text/csv') === true) return UPLOAD_MS;
  return method === 'GET' ? READ_MS : ACT_MS;
}

export const listener: Listener = { signedOut: () => {}, streamOpened: () => {} };

/** The API client of the integration kit. The browser has no API key: its session cookie replaces the key. */
export const client = createClient({
  baseUrl: window.location.origin + PREFIX,
  fetch: async (request) => {
    // A page of another origin cannot set this header without our consent.
    request.headers.set('x-console', '1');
    const isStream = request.url.includes('/events/stream');
    // The client of the stream notices by itself that it is silent.
    const signal = isStream ? request.signal : AbortSignal.timeout(patienceFor(request));
    const response = await fetch(request, { signal });
    if (response.status === 401) listener.signedOut();
    if (response.ok && isStream) listener.streamOpened();
    return response;
  },
});

const unanswered = new Map<string, string>();

/**
 * Sends a request that creates something, with the same Idempotency-Key until one is answered: by a double click, or after a lost response,
 * the service does it once. `what`: what two requests have in common that are the same.
 */
export async function once<T>(
  what: object,
  send: (header: { 'Idempotency-Key': string }) => Promise<{ readonly data: T }>,
): Promise<T> {
  const name = JSON.stringify(what);
  const key = unanswered.get(name) ?? crypto.randomUUID();
  unanswered.set(name, key);
  const { data } = await send({ 'Idempotency-Key': key });
  unanswered.delete(name);
  return data;
}

/** Calls an operation as a remedy names it. Returns the body of the response. */
export async function callRemedy({ method, path, body }: Remedy): Promise<unknown> {
  const call = client[method as 'POST' | 'PATCH'] as unknown as (
    path: string,
    init: { readonly body?: object },
  ) => Promise<{ readonly data: unknown }>;
  return (await call(path, body === null ? {} : { body })).data;
}
