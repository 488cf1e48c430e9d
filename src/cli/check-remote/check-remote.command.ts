import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { TokenStore } from '../../auth/token.store.js';
import { VERSION } from '../../platform/build.js';
import { Cipher } from '../../platform/crypto/cipher.js';
import type { Database } from '../../platform/database/database.js';
import { isServiceRunning } from '../../platform/database/deployment.store.js';
import type { Environment } from '../../platform/env/environment.js';
import { writeNewFile } from '../../platform/new-file.js';
import { STAND_INS } from '../../platform/env/read-environment.js';
import { redact } from '../../platform/redaction/redaction.js';
import { hideConfiguredSecrets } from '../../platform/redaction/secrets.js';
import { eanFault } from '../../users/ean.rules.js';
import { readTenantReference } from '../../users/tenant-reference.rules.js';
import { CommandError } from '../command-error.js';
import { withDatabase, type ReadEnvironment } from '../command-environment.js';
import { isConfirmed, YES, type Confirmation } from '../confirm.js';
import { print, printError, printJson } from '../print.js';
import { RemoteQuestions, type StoredToken } from './ask-remote.js';
import { exitCodeOf, judge, settingsOf } from './judge.rules.js';
import { dispatcherFor, lookAtNetwork } from './look-at-network.js';
import { onboardOnce, type OneCustomer } from './onboard-once.js';
import { linesOf, reportOf } from './present.rules.js';
import { RawRemote } from './raw-remote.js';
import { recordingOf } from './recording.rules.js';
import type { Finding, Seen, SeenHarm } from './seen.rules.js';

interface Options extends Confirmation {
  readonly register?: string;
  readonly ean?: string;
  readonly json?: boolean;
  readonly report?: string;
  readonly record?: string;
}

const HARM_TEXT =
  'this sends one wrong API key and one wrong client_secret, and requests a second token. The provider may count them, and a second token may end the first. Other programs that use these credentials may be interrupted.';
const NOT_CONFIRMED =
  'What a wrong key and a wrong secret are answered, and whether a second token ends the first';

/** Returns the command for the first contact with the remote service. */
export function checkRemoteCommand(readEnvironment: ReadEnvironment): Command {
  return new Command('check-remote')
    .description(
      'compare the remote service with its interface description. Changes nothing, unless --register is given: then it registers one user and starts one session, which remain for ever. Ends with 0 (fits), 1 (does not work) or 3 (differs)',
    )
    .option('--register <tenant-reference>', 'register this customer, and start one session')
    .option('--ean <ean>', 'the EAN of the grid connection of this customer, 18 digits')
    .option('--report <file>', 'write a page for the provider, without secrets and personal data')
    .option('--record <file>', 'write what was seen, so that the sandbox can behave like it')
    .option(...YES)
    .option('--json', 'print the result as JSON')
    .action(async (options: Options) => {
      const customer = readCustomer(options);
      await withDatabase(readEnvironment, async (database, environment) => {
        hideConfiguredSecrets(environment);
        refuseFiles(options);
        refuseStandIn(environment);
        await check(database, environment, { ...options, customer });
      });
    });
}

interface Task extends Options {
  readonly customer: OneCustomer | null;
}

async function check(database: Database, environment: Environment, task: Task) {
  const url = new URL(environment.SCS_BASE_URL);
  const dispatcher = dispatcherFor(environment);
  const say = (text: string) => task.json || printError(text);
  try {
    const questions = new RemoteQuestions(new RawRemote(environment, dispatcher), environment);
    say(`Looking at ${url.host}: nothing is changed there.`);
    const network = await lookAtNetwork(environment);
    const probe = await questions.probe();
    const token = await questions.token(await findToken(database, environment));
    const refusals = await questions.refusals(token.value);
    const first = { timeoutMs: environment.SCS_TIMEOUT_MS, at: new Date(), network, probe, refusals };
    let seen: Seen = { ...first, token: token.seen, harm: null, job: null };
    const notAsked: string[] = [];
    const works = exitCodeOf(judge(seen)) !== 1;

    const harm = works && token.value !== null ? await askHarm(database, questions, token.value, task) : null;
    if (typeof harm === 'string') notAsked.push(`${NOT_CONFIRMED}: ${harm}.`);
    else seen = { ...seen, harm };

    const { customer } = task;
    if (customer === null) notAsked.push('Registration, start and reads: give --register and --ean.');
    else if (!works) notAsked.push('Registration, start and reads: settle first what fails.');
    else if (!(await isRegistrationConfirmed(url.host, customer, task)))
      notAsked.push('Registration, start and reads: not confirmed.');
    else {
      const { seen: job, sessionId } = await onboardOnce(environment, customer);
      seen = { ...seen, job };
      if (sessionId !== null)
        say(`The session is ${sessionId}; \`sessions show ${sessionId} --json\` has its link.`);
    }
    await finish(seen, notAsked, task);
  } finally {
    await dispatcher.close();
  }
}

/** Asks what might hurt. Returns why it was not asked, or what was seen. */
async function askHarm(
  database: Database,
  questions: RemoteQuestions,
  token: string,
  { yes }: Confirmation,
): Promise<SeenHarm | string> {
  if (await isServiceRunning(database)) return 'the service runs on this database; stop it first';
  if (!yes && !process.stdin.isTTY) return 'give --yes to ask without a terminal';
  return (await isConfirmed('At the remote service', HARM_TEXT, { yes }))
    ? questions.harm(token)
    : 'not confirmed';
}

function isRegistrationConfirmed(host: string, { tenantReference, ean }: OneCustomer, { yes }: Confirmation) {
  const effect = `this registers the customer ${tenantReference} with the EAN ${ean}, and starts one session. The remote service has no call that removes either: both remain there for ever. What an earlier run has registered is not registered again.`;
  return isConfirmed(`At the remote service ${host}`, effect, { yes });
}

/** Prints the result, and writes the files. Sets the exit code. */
async function finish(
  seen: Seen,
  notAsked: readonly string[],
  { json, report, record }: Task,
): Promise<void> {
  const findings = judge(seen).map(visible);
  const exitCode = exitCodeOf(findings);
  const facts = { at: seen.at, version: VERSION, host: seen.network.host };
  const faults = [
    ...(await write(report, () => reportOf(findings, notAsked, facts))),
    ...(await write(record, () => `${JSON.stringify(recordingOf(seen, redact), null, 2)}\n`)),
  ];
  if (json) printJson({ fits: exitCode === 0, exitCode, findings, settings: settingsOf(findings), notAsked });
  else for (const line of linesOf(findings, notAsked)) print(line);
  process.exitCode = exitCode;
  if (faults.length > 0) throw new CommandError('not_written', `${faults.join('; ')}. The result is above.`);
}

/** What was seen may quote the remote service. */
const visible = ({ saw, ...finding }: Finding): Finding => ({ ...finding, saw: redact(saw) });

/** Returns the valid token of our database. Returns null in a database without tables, and for a token of other credentials. */
async function findToken(database: Database, environment: Environment): Promise<StoredToken | null> {
  const [row] = await database.query<{ exists: boolean }>(
    `SELECT to_regclass('remote_tokens') IS NOT NULL AS exists`,
  );
  if (!row!.exists) return null;
  const { token, expiresAt, obtainedAt, now, rejectedAt, expiresInRaw, tokenType } = await new TokenStore(
    database,
    new Cipher(environment),
    environment,
  ).read();
  const isValid = token !== null && expiresAt !== null && expiresAt > now && rejectedAt === null;
  return isValid && obtainedAt !== null ? { token, obtainedAt, expiresInRaw, tokenType } : null;
}

function readCustomer({ register, ean, yes }: Options): OneCustomer | null {
  if (register === undefined && ean === undefined) return null;
  const usage = (text: string) => new CommandError('usage', text, 2);
  if (register === undefined || ean === undefined) throw usage('Give --register and --ean together.');
  const read = readTenantReference(register);
  if ('fault' in read) throw usage(`--register: a tenantReference ${read.fault}.`);
  const fault = eanFault(ean);
  if (fault !== undefined) throw usage(`--ean ${fault}.`);
  if (!yes && !process.stdin.isTTY) throw usage('Give --yes to register without a terminal.');
  return { tenantReference: read.reference, ean };
}

/** Refuses the address that takes the place of a missing one. */
function refuseStandIn({ SCS_BASE_URL }: Environment): void {
  if (SCS_BASE_URL !== STAND_INS.SCS_BASE_URL) return;
  const text =
    'Set SCS_BASE_URL, SCS_API_KEY, SCS_CLIENT_ID and SCS_CLIENT_SECRET to look at a service, or run `npm start` to look at the sandbox.';
  throw new CommandError('configuration', text, 2);
}

/** Refuses files that exist before the first call, so that no result is lost. */
function refuseFiles({ report, record }: Options): void {
  const file = [report, record].find((each) => each !== undefined && existsSync(each));
  if (file !== undefined) throw new CommandError('usage', `${file} exists: name a new file.`, 2);
}

/** Writes a new file that only you can read. Returns what went wrong: the result must be printed all the same. */
async function write(file: string | undefined, text: () => string): Promise<string[]> {
  if (file === undefined) return [];
  try {
    await writeNewFile(file, text());
    return [];
  } catch (error) {
    return [`${file} cannot be written: ${(error as Error).message}`];
  }
}
