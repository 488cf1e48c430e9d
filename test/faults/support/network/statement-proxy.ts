import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { listen } from '../../../setup/receivers/servers.js';

/**
 * - `silent`: the connection forwards nothing any more, from this statement on.
 * - `unanswered`: the server executes the statement, but the connection forwards no response any more.
 * - `cut`: the connection is reset before the statement.
 * - `refused`: the statement is not forwarded; its response is an error.
 */
export const STATEMENT_FAULTS = ['silent', 'unanswered', 'cut', 'refused'] as const;
/** `refused` with a SQLSTATE. If `isExecuted`, the server executes the statement, and its response is replaced by the error. */
export interface StatementError {
  readonly state: string;
  readonly isExecuted: boolean;
}
export type StatementFault = (typeof STATEMENT_FAULTS)[number] | StatementError;

/** The SQLSTATE of a server without memory. */
const REFUSED: StatementError = { state: '53200', isExecuted: false };

/** A statement of the service. */
export interface Sent {
  /** The text. The key of a BEGIN is its number instead, and that of a COMMIT or ROLLBACK also has the statement before it. */
  readonly key: string;
  readonly text: string;
  /** What it and the earlier statements of its transaction bind to their parameters. */
  readonly bound: string;
}

export interface StatementProxy {
  readonly url: string;
  /** Forgets the seen statements and the faults that have not occurred yet. The numbers of BEGINs start at 1 again. */
  forget(): void;
  /** Returns the keys of the statements since `forget`, each once. */
  keys(): string[];
  /** Calls `see` with each statement from now on. Returns a function that ends this. */
  watch(see: (sent: Sent) => void): () => void;
  /** Causes the fault at the next such statement, once. Returns a function that returns whether it has occurred, and that forgets it. */
  fail(isIt: (sent: Sent) => boolean, fault: StatementFault): () => boolean;
  close(): Promise<void>;
}

/** Starts a proxy that reads the statements of the service's connections, but not of those that listen. */
export async function startStatementProxy(target: string): Promise<StatementProxy> {
  const destination = new URL(target);
  const sockets = new Set<Socket>();
  const seen = new Set<string>();
  let begins = 0;
  interface Plan {
    readonly isIt: (sent: Sent) => boolean;
    readonly fault: StatementFault;
  }
  const plans = new Set<Plan>();
  const watchers = new Set<(sent: Sent) => void>();

  /** Returns the fault to cause at this statement. */
  const note: Note = (text, before, bound) => {
    const sent = { key: keyOf(text, before, () => ++begins), text, bound };
    seen.add(sent.key);
    for (const see of watchers) see(sent);
    const plan = [...plans].find(({ isIt }) => isIt(sent));
    if (plan !== undefined) plans.delete(plan);
    return plan?.fault;
  };

  const server = createServer((client) => {
    const upstream = connect(Number(destination.port), destination.hostname);
    let isSilent = false;
    let isMuted = false;
    let inTransaction = false;
    /** The error to send in the place of the response that the server sends next. */
    let replacement: string | undefined;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true).on('error', () => {});
      socket.once('close', () => sockets.delete(socket));
    }
    // The server does not notice the end of a silent connection.
    client.once('close', () => isSilent || isMuted || upstream.destroy());
    upstream.once('close', () => isSilent || isMuted || client.destroy());
    upstream.on('data', (bytes: Buffer) => {
      const ready = isInTransaction(bytes);
      inTransaction = ready ?? inTransaction;
      if (isSilent || isMuted) return;
      if (replacement === undefined) client.write(bytes);
      else if (ready !== undefined) {
        client.write(refusal(replacement, inTransaction));
        replacement = undefined;
      }
    });
    const read = readStatements(note);
    client.on('data', (bytes: Buffer) => {
      for (const { message, fault } of read(bytes)) {
        isSilent ||= fault === 'silent';
        isMuted ||= fault === 'unanswered';
        const error = fault === 'refused' ? REFUSED : typeof fault === 'object' ? fault : undefined;
        if (error?.isExecuted) replacement = error.state;
        if (fault === 'cut') client.resetAndDestroy();
        else if (error?.isExecuted === false) client.write(refusal(error.state, inTransaction));
        else if (!isSilent) upstream.write(message);
      }
    });
  });
  const url = new URL(target);
  url.host = `127.0.0.1:${await listen(server)}`;
  return {
    url: url.href,
    forget: () => {
      seen.clear();
      begins = 0;
      plans.clear();
    },
    keys: () => [...seen],
    watch: (see) => {
      watchers.add(see);
      return () => void watchers.delete(see);
    },
    fail: (isIt, fault) => {
      const plan = { isIt, fault };
      plans.add(plan);
      return () => !plans.delete(plan);
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.resetAndDestroy();
      await closed;
    },
  };
}

function keyOf(text: string, before: string, nextBegin: () => number): string {
  if (text.startsWith('BEGIN')) return `BEGIN ${nextBegin()}`;
  return /^(COMMIT|ROLLBACK)/.test(text) ? `${text} after ${before}` : text;
}

type Note = (text: string, before: string, bound: string) => StatementFault | undefined;

interface Unit {
  readonly message: Buffer;
  readonly fault: StatementFault | undefined;
}

/** Returns a function that divides what a client sends into statements and other messages. */
function readStatements(note: Note) {
  let rest = Buffer.alloc(0);
  let isCounted: boolean | undefined;
  let before = '';
  let bound = '';
  let isOpen = false;
  let parts: Buffer[] = [];
  let text: string | undefined;
  const texts = new Map<string, string>();

  const end = (message: Buffer): Unit => {
    const statement = text ?? '';
    const fault = isCounted ? note(statement, before, bound) : undefined;
    if (statement.startsWith('BEGIN')) isOpen = true;
    if (/^(COMMIT|ROLLBACK)/.test(statement)) isOpen = false;
    if (!isOpen) bound = '';
    before = statement;
    text = undefined;
    parts = [];
    return { message, fault };
  };

  return function* (bytes: Buffer): Generator<Unit> {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      const header = isCounted === undefined ? 0 : 1;
      if (rest.length < header + 4) return;
      const length = header + rest.readUInt32BE(header);
      if (rest.length < length) return;
      const message = rest.subarray(0, length);
      rest = rest.subarray(length);
      if (isCounted === undefined) {
        const startup = message.toString();
        isCounted = startup.includes('pv-onboarding') && !startup.includes('pv-onboarding listen');
        yield { message, fault: undefined };
        continue;
      }
      const type = String.fromCharCode(message[0]!);
      const fields = message.subarray(5).toString().split('\0');
      if (type === 'Q') {
        text = fields[0];
        yield end(message);
      } else if ('PBDE'.includes(type)) {
        // Parse has the name of the statement and its text; Bind has the names of the portal and of the statement.
        if (type === 'P') texts.set(fields[0]!, (text = fields[1]!));
        if (type === 'B') {
          text ??= texts.get(fields[1]!);
          bound += message.toString();
        }
        parts.push(message);
      } else if (type === 'S') yield end(Buffer.concat([...parts, message]));
      else yield { message, fault: undefined };
    }
  };
}

/** Reads the status of the last ReadyForQuery, if the bytes end with one. */
function isInTransaction(bytes: Buffer): boolean | undefined {
  const last = bytes.subarray(-6);
  return last.subarray(0, 5).equals(Buffer.from([0x5a, 0, 0, 0, 5])) ? last[5] !== 0x49 : undefined;
}

/** Returns an ErrorResponse with this SQLSTATE, and ReadyForQuery. */
function refusal(state: string, inTransaction: boolean): Buffer {
  const fields = Buffer.from(`SERROR\0VERROR\0C${state}\0Man error of the proxy\0\0`);
  const error = Buffer.alloc(5);
  error.write('E');
  error.writeUInt32BE(4 + fields.length, 1);
  const ready = Buffer.from([0x5a, 0, 0, 0, 5, inTransaction ? 0x45 : 0x49]);
  return Buffer.concat([error, fields, ready]);
}
