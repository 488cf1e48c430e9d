import { startTestProcess } from './test-process.js';

export interface TestSandbox {
  readonly url: string;
  /** The environment that makes our client talk to it. */
  readonly environment: {
    readonly SCS_BASE_URL: string;
    readonly SCS_API_KEY: string;
    readonly SCS_CLIENT_ID: string;
    readonly SCS_CLIENT_SECRET: string;
  };
  /** Calls the control API: `control('PUT', '/settings', { latencyMs: 100 })`; throws when the answer is no success. */
  control(method: string, path: string, body?: unknown): Promise<unknown>;
  stop(): Promise<void>;
}

const CREDENTIALS = {
  SCS_API_KEY: 'test-api-key-of-the-sandbox',
  SCS_CLIENT_ID: 'test-client-id-of-the-sandbox',
  SCS_CLIENT_SECRET: 'test-client-secret-of-the-sandbox',
};

/** The remote service's stand-in, in a process of its own, on a free port, without memory of earlier tests. */
export async function startSandbox(): Promise<TestSandbox> {
  const process = await startTestProcess('src/sandbox/main.ts', {
    SANDBOX_PORT: '0',
    SANDBOX_API_KEY: CREDENTIALS.SCS_API_KEY,
    SANDBOX_CLIENT_ID: CREDENTIALS.SCS_CLIENT_ID,
    SANDBOX_CLIENT_SECRET: CREDENTIALS.SCS_CLIENT_SECRET,
  });
  return {
    url: process.url,
    environment: { SCS_BASE_URL: process.url, ...CREDENTIALS },
    control: (method, path, body) => callControl(process.url, method, path, body),
    stop: async () => void (await process.stop('SIGKILL')),
  };
}

async function callControl(url: string, method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`${url}/sandbox${path}`, {
    method,
    ...(body !== undefined && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} /sandbox${path} answered ${response.status}: ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}
