/**
 * SQLSTATEs that say the database, and not the statement, is at fault: connection exceptions (08), insufficient resources (53),
 * a server that is stopping, crashed or starting (57P01 to 57P03), one that does not let us in or lacks our database (28, 3D000),
 * a standby after a failover (25006), and a statement or a lock that was waited for in vain (57014, 55P03), which is how an
 * overloaded database shows.
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

/** Prisma: not let in, unreachable, no such database, timed out, connection closed, pool exhausted, too many connections. */
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

/** The same, as Prisma's adapter calls them beneath an error P2010. */
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

// What pg, pg-pool and Prisma give no code of its own.
const MESSAGES =
  /^(timeout exceeded when trying to connect|Query read timeout|Connection terminated|Client has encountered a connection error|Cannot use a pool after calling end|Client was closed)|Unable to start a transaction in the given time/;

/**
 * Whether an error says that the database cannot be reached or cannot take more. Nothing but the database is ever reached through
 * an exception: what the remote service does comes back as an Outcome.
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
    // Prisma keeps what its adapter threw under meta.driverAdapterError; Node, what several addresses answered under errors.
    [cause, ...driverErrors(meta), ...(Array.isArray(errors) ? (errors as unknown[]) : [])].some(
      isDatabaseUnavailable,
    )
  );
}

const saysSo = (code: string): boolean =>
  SQLSTATES.test(code) || SOCKET_ERRORS.includes(code) || PRISMA_ERRORS.includes(code);

const driverErrors = (meta: unknown): unknown[] =>
  typeof meta === 'object' && meta !== null && 'driverAdapterError' in meta ? [meta.driverAdapterError] : [];
