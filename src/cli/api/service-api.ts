import { resolve } from 'node:path';
import { createClient, type Client } from '#client/client.js';
import { ProblemError } from '#client/problem.js';
import { readFiles } from '../../platform/env/environment-files.js';
import type { EnvironmentSource } from '../../platform/env/environment-names.js';
import { readGeneratedKeys } from '../../local/generated-keys.js';
import { findRunningService } from '../../local/running-service.js';
import { CommandError } from '../command-error.js';
import { withoutEndSlashes } from '../../platform/http/origins.rules.js';

export type FindApi = () => Promise<ServiceApi>;

/** The requests without a time limit: the stream of events, and the files of campaigns. */
const LONG = /\/events\/stream|\/campaigns(\?|$)|\/result\.csv/;
/** The timeout of other requests. The service takes less to read a session from the remote service or to test a webhook endpoint. */
const CALL_WITHIN_MS = 60_000;

/** The variables that determine the service and its key. */
const NAMES = ['PV_ONBOARDING_URL', 'PV_ONBOARDING_API_KEY', 'ADMIN_API_KEY', 'NODE_ENV', 'PORT'];

export class ServiceApi {
  readonly client: Client;
  /** Whether a call has succeeded. */
  hasResponded = false;

  constructor(
    /** The address, which messages for people also show. */
    readonly url: string,
    apiKey: string,
  ) {
    this.client = createClient({ baseUrl: url, apiKey, fetch: (request) => this.send(request) });
  }

  async send(request: Request): Promise<Response> {
    const limits = LONG.test(request.url) ? [] : [AbortSignal.timeout(CALL_WITHIN_MS)];
    const signals = [request.signal, ...limits];
    const response = await fetch(request, { redirect: 'manual', signal: AbortSignal.any(signals) });
    this.hasResponded ||= response.ok;
    return response;
  }

  /** Runs calls. Throws their errors as CommandErrors, with messages for people. */
  async run<T>(calls: (client: Client) => Promise<T>): Promise<T> {
    try {
      return await calls(this.client);
    } catch (error) {
      throw this.explain(error);
    }
  }

  /** Returns the error of a call as a CommandError, and any other error as it is. */
  explain(error: unknown): unknown {
    if (error instanceof ProblemError) return this.refusal(error);
    const { name, cause } = error as { name?: string; cause?: { code?: string; message?: string } };
    // The body of a request could not be read to its end.
    if (cause instanceof CommandError) return cause;
    if (name !== 'TimeoutError' && (name !== 'TypeError' || cause === undefined)) return error;
    const why = cause?.code ?? cause?.message ?? name;
    return new CommandError('unreachable', `The service at ${this.url} does not respond (${why}).`);
  }

  private refusal({ code, status, detail, errors, problem }: ProblemError): CommandError {
    const unexpected = `${this.url} responded with ${status} and not as this service does: check PV_ONBOARDING_URL.`;
    if (code === 'unexpected_response') return new CommandError(code, unexpected);
    const message =
      code === 'unauthenticated'
        ? `the service at ${this.url} refuses the API key; set PV_ONBOARDING_API_KEY to a valid one.`
        : [detail, ...errors.map(({ field, message }) => `  ${field}: ${message}`)].join('\n');
    return new CommandError(code, `${code}: ${message}`, 1, problem);
  }
}

/**
 * Returns the service at PV_ONBOARDING_URL, with PV_ONBOARDING_API_KEY. Default: the service that runs in this folder or, in a container of
 * the service, in this container, with the administrator's key. That key is never sent to PV_ONBOARDING_URL.
 */
export async function findApi(source: EnvironmentSource): Promise<ServiceApi> {
  const { variables: own, problems } = readFiles(source, NAMES);
  if (problems.size > 0) throw misconfigured([...problems.values()].join('; '));
  const { PV_ONBOARDING_URL: url, PV_ONBOARDING_API_KEY: key } = own;
  if (url !== undefined) {
    const expected = 'a URL that begins with http:// or https://, without credentials';
    if (!/^https?:\/\/[^\s@?#]+$/.test(url) || !URL.canParse(url))
      throw misconfigured(`PV_ONBOARDING_URL must be ${expected}`);
    if (key === undefined)
      throw misconfigured('PV_ONBOARDING_API_KEY is required with PV_ONBOARDING_URL: set it to an API key');
    return new ServiceApi(withoutEndSlashes(url), checkKey('PV_ONBOARDING_API_KEY', key));
  }
  const folder = resolve('.data');
  const running = await findRunningService(folder);
  const isServiceContainer = own.NODE_ENV === 'production' && own.ADMIN_API_KEY !== undefined;
  if (running === undefined && !isServiceContainer)
    throw misconfigured(
      'No service runs in this folder: start it, or set PV_ONBOARDING_URL and PV_ONBOARDING_API_KEY',
    );
  const local = running?.url ?? `http://127.0.0.1:${own.PORT ?? '3000'}`;
  if (key !== undefined) return new ServiceApi(local, checkKey('PV_ONBOARDING_API_KEY', key));
  const adminKey = own.ADMIN_API_KEY ?? (await readGeneratedKeys(folder)).adminApiKey;
  return new ServiceApi(local, checkKey('ADMIN_API_KEY', adminKey));
}

const misconfigured = (message: string): CommandError => new CommandError('configuration', `${message}.`);

/** Returns the key. Throws CommandError if it cannot be a header: the error of `fetch` would repeat the key. */
function checkKey(name: string, key: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw misconfigured(`${name} has characters that are not allowed in an HTTP header, or is empty`);
}
