import { startTestApp, type TestApp, type TestAppOptions } from '../setup/test-app.js';

type Overrides = Parameters<typeof startTestApp>[0];

/** Starts another replica of a service, on the same database and remote service. */
export function startReplica(
  { environment, sandbox }: TestApp,
  overrides: Overrides = {},
  options?: TestAppOptions,
): Promise<TestApp> {
  const { DATABASE_URL, SCS_BASE_URL } = environment;
  return startTestApp({ DATABASE_URL, SCS_BASE_URL, ...sandbox?.environment, ...overrides }, options);
}

/** Runs `work` while another replica of a service runs. */
export async function withReplica<T>(
  service: TestApp,
  overrides: Overrides,
  work: (replica: TestApp) => Promise<T>,
  options?: TestAppOptions,
): Promise<T> {
  const replica = await startReplica(service, overrides, options);
  try {
    return await work(replica);
  } finally {
    await replica.close();
  }
}
