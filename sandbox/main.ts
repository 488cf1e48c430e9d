import { readFileSync } from 'node:fs';
import { BadRecording, readRecording, type Habits } from './habits.js';
import { createSandbox } from './server.js';
import { persistInFile } from './state-file.js';

const DEFAULT_PORT = 4010;

const { env } = process;
const host = env.SANDBOX_HOST || '127.0.0.1';
const credentials = {
  apiKey: env.SANDBOX_API_KEY || 'sandbox-api-key',
  clientId: env.SANDBOX_CLIENT_ID || 'sandbox-client-id',
  clientSecret: env.SANDBOX_CLIENT_SECRET || 'sandbox-client-secret',
};

const say = (line: string): void => console.log(line);
const fail = (line: string): never => {
  console.error(line);
  process.exit(1);
};

const readPort = (): number | null => {
  if (!env.SANDBOX_PORT) return null;
  const port = Number(env.SANDBOX_PORT);
  if (/^\d+$/.test(env.SANDBOX_PORT) && port <= 65_535) return port;
  return fail(`SANDBOX_PORT must be a port from 0 to 65535 (0 takes a free one), not "${env.SANDBOX_PORT}"`);
};

const readPublicUrl = (): string | null => {
  if (!env.SANDBOX_PUBLIC_URL) return null;
  const url = URL.canParse(env.SANDBOX_PUBLIC_URL) ? new URL(env.SANDBOX_PUBLIC_URL) : null;
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  return fail(
    'SANDBOX_PUBLIC_URL must be an http or https address without a path, such as http://localhost:4010',
  );
};

/** Returns the names in SANDBOX_ALLOWED_HOSTS, the host that the sandbox listens on, and the host of its public URL. */
const readAllowedHosts = (publicUrl: string | null): string[] => {
  const listed = env.SANDBOX_ALLOWED_HOSTS ? env.SANDBOX_ALLOWED_HOSTS.split(',') : [];
  const names = listed.map((name) => name.trim().toLowerCase());
  if (!names.every((name) => /^([\w.-]+|\[[\da-f:.]+\])$/.test(name)))
    fail(
      'SANDBOX_ALLOWED_HOSTS must be host names without ports, separated by commas, such as sandbox,scs.test',
    );
  if (publicUrl !== null) names.push(new URL(publicUrl).hostname);
  return [...names, host.includes(':') ? `[${host}]` : host.toLowerCase()];
};

/** Returns how the service of the recording `--like FILE` behaves, or null without it. */
const readHabits = (): Habits | null => {
  const [option, file, ...more] = process.argv.slice(2);
  if (option === undefined) return null;
  if (option !== '--like' || file === undefined || more.length > 0)
    return fail('The sandbox takes --like FILE, a recording of `pv-onboarding check-remote --record FILE`');
  try {
    return readRecording(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error instanceof BadRecording) return fail(error.message);
    return fail(
      `The recording ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
};

const publicUrl = readPublicUrl();
const { app, sandbox } = createSandbox(credentials, readAllowedHosts(publicUrl), publicUrl, readHabits());
const flush = env.SANDBOX_STATE_FILE
  ? persistInFile(sandbox.state, env.SANDBOX_STATE_FILE, say)
  : () => undefined;

// Does not wait for requests in flight: clients of the sandbox must handle lost responses anyway.
const stop = (): void => {
  flush();
  process.exit(0);
};
process.on('SIGINT', stop);
process.on('SIGTERM', stop);
// The IPC channel closes if the parent process is killed.
process.on('disconnect', stop);

/** Starts to listen. If the default port is taken and there is no public URL, uses a free port. Any other failure ends the process. */
const listen = async (): Promise<void> => {
  const requested = readPort();
  try {
    await app.listen({ host, port: requested ?? DEFAULT_PORT });
  } catch (error) {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    if (!isTaken || requested !== null || publicUrl !== null) {
      fail(
        `The sandbox cannot listen on ${host}:${requested ?? DEFAULT_PORT}: ${isTaken ? 'the port is taken' : String(error)}`,
      );
    }
    await app.listen({ host, port: 0 });
  }
};

await listen();
const url = sandbox.url();
if (process.send) {
  process.send({ type: 'ready', url });
} else {
  say(`The sandbox of the Solar Curtailment Service is at ${url}`);
  say(
    `  SCS_API_KEY=${credentials.apiKey} SCS_CLIENT_ID=${credentials.clientId} SCS_CLIENT_SECRET=${credentials.clientSecret}`,
  );
  say(
    `  users and sessions, with buttons to play: ${url}/   control API (sandbox/README.md): ${url}/sandbox/…`,
  );
}
