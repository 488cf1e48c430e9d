import type { RemoteTarget } from './raw-client.js';

export interface RealTarget extends RemoteTarget {
  /** An EAN for tests only: every run registers a new user with it. */
  readonly ean: string;
}

const NAMES = [
  'SCS_CONTRACT_BASE_URL',
  'SCS_CONTRACT_API_KEY',
  'SCS_CONTRACT_CLIENT_ID',
  'SCS_CONTRACT_CLIENT_SECRET',
  'SCS_CONTRACT_EAN',
] as const;

/** Returns the real service if all of NAMES are set, null if none is set. Throws if only some are set. */
export const findRealTarget = (env: Readonly<Record<string, string | undefined>>): RealTarget | null => {
  const missing = NAMES.filter((name) => !env[name]);
  if (missing.length === NAMES.length) return null;
  if (missing.length > 0)
    throw new Error(`The contract tests of the real service also need ${missing.join(', ')}.`);
  const [baseUrl = '', apiKey = '', clientId = '', clientSecret = '', ean = ''] = NAMES.map(
    (name) => env[name],
  );
  return {
    name: 'the real service',
    baseUrl: baseUrl.replace(/\/+$/, ''),
    apiKey,
    clientId,
    clientSecret,
    ean,
  };
};
