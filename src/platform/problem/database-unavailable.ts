/**
 * SQLSTATEs for which the database, not the statement, is at fault: connection exceptions (08); insufficient resources (53); a server that
 * is stopping, crashed or starting (57P01 to 57P03); a refused login or a missing database (28, 3D000); a standby after a failover (25006);
 * and a timeout of a statement or lock (57014, 55P03), the sign of an overloaded database.
 */
const SQLSTATES = /^(08|28|53)...$|^57P0[1-3]$|^3D000$|^25006$|^57014$|^55P03$/;

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

/** Prisma: login refused, unreachable, no such database, timed out, connection closed, pool exhausted, too many connections. */
const PRISMA_ERRORS = [
  'P1000',
  'P1001',
  'P1002',
  'P1003',
  'P1008',
  'P1010',
  'P1011',
  'P1017',
  'P2024',
  'P2037',
];

/** The names of the same errors in Prisma's adapter, below an error P2010. */
const ADAPTER_KINDS = [
  'AuthenticationFailed',
  'DatabaseNotReachable',
  'DatabaseDoesNotExist',
  'DatabaseAccessDenied',
  'ConnectionClosed',
  'TlsConnectionError',
  'SocketTimeout',
  'TooManyConnections',
];

// Messages of errors for which pg, pg-pool and Prisma have no code.
const MESSAGES =
  /^(timeout exceeded when trying to connect|Query read timeout|Connection terminated|Client has encountered a connection error|Cannot use a pool after calling end|Client was closed)|Unable to start a transaction in the given time/;

/**
 * Returns whether an error means that the database is unreachable or overloaded. Only database failures arrive as exceptions; remote
 * failures are returned as Outcome.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, originalCode, kind, message, originalMessage, cause, meta, errors } = error as Record<
    string,
    unknown
  >;
  return (
    [code, originalCode].some((value) => typeof value === 'string' && saysSo(value)) ||
    [message, originalMessage].some((value) => typeof value === 'string' && MESSAGES.test(value)) ||
    (typeof kind === 'string' && ADAPTER_KINDS.includes(kind)) ||
    // Prisma puts its adapter's error into meta.driverAdapterError. Node puts the errors of several addresses into errors.
    [cause, ...driverErrors(meta), ...(Array.isArray(errors) ? (errors as unknown[]) : [])].some(
      isDatabaseUnavailable,
    )
  );
}

const saysSo = (code: string): boolean =>
  SQLSTATES.test(code) || SOCKET_ERRORS.includes(code) || PRISMA_ERRORS.includes(code);

const driverErrors = (meta: unknown): unknown[] =>
  typeof meta === 'object' && meta !== null && 'driverAdapterError' in meta ? [meta.driverAdapterError] : [];
