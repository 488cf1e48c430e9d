import { sqlState } from '../database/database.js';

/**
 * SQLSTATEs that say the database, and not the statement, is at fault: connection exceptions (08), insufficient resources (53),
 * a server that is stopping, crashed or starting (57P01 to 57P03), a standby after a failover (25006), and a statement or a lock
 * that was waited for in vain (57014, 55P03), which is how an overloaded or unreachable database shows.
 */
const UNAVAILABLE = /^(08|53)...$|^57P0[1-3]$|^25006$|^57014$|^55P03$/;

const SOCKET_ERRORS = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'ETIMEDOUT',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
];

/** Prisma: unreachable, timed out, connection closed, pool exhausted, too many connections. */
const PRISMA_ERRORS = ['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2037'];

// pg and pg-pool give these no code.
const MESSAGES =
  /^(timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error|Cannot use a pool after calling end|Client was closed)/;

/**
 * Whether an error says that the database cannot be reached or cannot take more. Nothing but the database is ever reached through
 * an exception: what the remote service does comes back as an Outcome.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  if (SOCKET_ERRORS.includes(code) || PRISMA_ERRORS.includes(code) || MESSAGES.test(error.message))
    return true;
  if (UNAVAILABLE.test(sqlState(error) ?? '')) return true;
  if (error instanceof AggregateError && error.errors.some(isDatabaseUnavailable)) return true;
  return 'cause' in error && causes(error.cause).some(isDatabaseUnavailable);
}

/** Prisma's adapter wraps an error as a plain object that holds the original code and message. */
function causes(cause: unknown): unknown[] {
  if (typeof cause !== 'object' || cause === null || cause instanceof Error) return [cause];
  const { originalCode, originalMessage } = cause as { originalCode?: unknown; originalMessage?: unknown };
  return [Object.assign(new Error(String(originalMessage)), { code: originalCode })];
}
