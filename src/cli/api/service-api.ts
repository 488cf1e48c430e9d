import { resolve } from 'node:path';
import { readFiles } from '../../platform/env/environment-files.js';
import { ENVIRONMENT_NAMES, type EnvironmentSource } from '../../platform/env/environment-names.js';
import { readGeneratedKeys } from '../../local/local-services.js';
import { findRunningService } from '../../local/running-service.js';
import type { FieldError } from '../../platform/problem/problem.js';
import { CommandError } from '../command-error.js';

/** A field of a view as it is in JSON. */
export type Wire<T> = T extends Date ? string : T extends object ? { [K in keyof T]: Wire<T[K]> } : T;

export type Query = Readonly<Record<string, string | boolean | undefined>>;

interface CallOptions {
  readonly query?: Query;
  /** A string is sent unchanged, any other value as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

export type FindApi = () => Promise<ServiceApi>;

/** Longer than the service takes to read the remote service or to test a webhook endpoint. */
const CALL_WITHIN_MS = 60_000;

/** A call that failed or could not be made. */
export class ApiError extends CommandError {
  constructor(
    code: string,
    message: string,
    /** Whether the same call may succeed later. */
    readonly mayPass = false,
    problem?: object,
  ) {
    super(code, message, 1, problem);
  }
}

export class ServiceApi {
  constructor(
    private readonly url: string,
    private readonly key: string,
  ) {}

  /** For people: where a command changes something. */
  get place(): string {
    return `At ${this.url}`;
  }

  /** Returns the body of the response; null if it is empty. Throws ApiError. */
  async call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
    const response = await this.send(method, path, options);
    const text = await response.text().catch((error: unknown) => {
      throw this.unreachable(error);
    });
    try {
      return (text === '' ? null : JSON.parse(text)) as T;
    } catch {
      const message = `${this.url} did not respond with JSON: check PV_ONBOARDING_URL.`;
      throw new ApiError('foreign_response', message);
    }
  }

  /** Returns the response as soon as its headers are there. Throws ApiError unless the call succeeded. */
  async send(method: string, path: string, options: CallOptions): Promise<Response> {
    const { query = {}, body, signal } = options;
    const url = new URL(`${this.url}/api/v1${path}`);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const response = await fetch(url, {
      method,
      headers: {
        authorization: `Bearer ${this.key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      redirect: 'manual',
      signal: signal ?? AbortSignal.timeout(CALL_WITHIN_MS),
    }).catch((error: unknown) => {
      throw this.unreachable(error);
    });
    if (!response.ok) throw await this.refusal(response);
    return response;
  }

  private unreachable(error: unknown): ApiError {
    const { name, cause } = error as { name: string; cause?: { code?: string; message?: string } };
    const why = cause?.code ?? cause?.message ?? name;
    return new ApiError('unreachable', `The service at ${this.url} does not respond (${why}).`, true);
  }

  private async refusal(response: Response): Promise<ApiError> {
    type Problem = { code?: string; detail?: string; errors?: readonly FieldError[] };
    const problem = (await response.json().catch(() => ({}))) as Problem;
    const { code, detail, errors = [] } = problem;
    const mayPass = response.status === 429 || response.status >= 500;
    if (code === 'unauthenticated') {
      const message = `unauthenticated: the service at ${this.url} refuses the API key; set PV_ONBOARDING_API_KEY to a valid one.`;
      return new ApiError(code, message, mayPass, problem);
    }
    if (code === undefined) {
      const message = `${this.url} responded with ${response.status} and not as this service does: check PV_ONBOARDING_URL.`;
      return new ApiError('foreign_response', message, mayPass);
    }
    const faults = errors.map(({ field, message }) => `\n  ${field}: ${message}`);
    return new ApiError(code, `${code}: ${detail}${faults.join('')}`, mayPass, problem);
  }
}

/**
 * Finds the service and the key: PV_ONBOARDING_URL and PV_ONBOARDING_API_KEY. Default: the service that runs in this folder or, in a
 * container of the service, in this container, with the administrator's key. That key is never sent to PV_ONBOARDING_URL.
 */
export async function findApi(source: EnvironmentSource): Promise<ServiceApi> {
  const names = [...ENVIRONMENT_NAMES, 'PV_ONBOARDING_URL', 'PV_ONBOARDING_API_KEY'];
  const { variables: own, problems } = readFiles(source, names);
  if (problems.size > 0) throw misconfigured([...problems.values()].join('; '));
  const { PV_ONBOARDING_URL: url, PV_ONBOARDING_API_KEY: key } = own;
  if (url !== undefined) {
    if (!/^https?:\/\/[^\s@?#]+$/.test(url) || !URL.canParse(url))
      throw misconfigured(
        'PV_ONBOARDING_URL must be a URL that begins with http:// or https://, without credentials',
      );
    if (key === undefined)
      throw misconfigured('PV_ONBOARDING_API_KEY is required with PV_ONBOARDING_URL: set it to an API key');
    return new ServiceApi(url.replace(/\/+$/, ''), checkKey('PV_ONBOARDING_API_KEY', key));
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

const misconfigured = (message: string): ApiError => new ApiError('configuration', `${message}.`);

/** Returns the key. Throws ApiError if it cannot be a header: the error of `fetch` would repeat the key. */
function checkKey(name: string, key: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw misconfigured(`${name} has characters that are not allowed in an HTTP header, or is empty`);
}
