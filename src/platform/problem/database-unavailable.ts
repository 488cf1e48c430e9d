/**
 * SQLSTATEs for which the database is at fault: connection (08), resources (53), server stopping or starting (57P01 to 57P03), login (28),
 * missing database (3D000), standby after a failover (25006), and timeouts of statements (57014) and locks (55P03) under overload.
 */
const SQLSTATES = /^(08|28|53)...$|^57P0[1-3]$|^3D000$|^25006$|^57014$|^55P03$/;

const SOCKET_ERRORS =
  /^(ECONN(REFUSED|RESET|ABORTED)|ETIMEDOUT|EPIPE|E(HOST|NET)UNREACH|ENOTFOUND|EAI_AGAIN)$/;

/** Prisma's codes for: login refused, unreachable, no such database, timed out, connection closed, pool exhausted, too many connections. */
const PRISMA_ERRORS = /^P(1000|1001|1002|1003|1008|1010|1011|1017|2024|2037)$/;

/** The names of the same errors in Prisma's adapter. Prisma wraps them in an error P2010. */
const ADAPTER_KINDS =
  /^(AuthenticationFailed|Database(NotReachable|DoesNotExist|AccessDenied)|ConnectionClosed|TlsConnectionError|SocketTimeout|TooManyConnections)$/;

// Messages of errors for which pg, pg-pool and Prisma have no code.
const MESSAGES =
  /^(timeout exceeded when trying to connect|Query read timeout|Connection terminated|Client has encountered a connection error|Cannot use a pool after calling end|Client was closed)|Unable to start a transaction in the given time/;

/** Returns whether an error shows that the database is unreachable or overloaded. Socket errors count: remote calls never throw them. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, originalCode, kind, message, originalMessage, cause, meta, errors } = error as {
    readonly [name: string]: unknown;
    readonly meta?: { readonly driverAdapterError?: unknown } | null;
  };
  return (
    [code, originalCode].some(matches(SQLSTATES, SOCKET_ERRORS, PRISMA_ERRORS)) ||
    [message, originalMessage].some(matches(MESSAGES)) ||
    [kind].some(matches(ADAPTER_KINDS)) ||
    // Prisma puts its adapter's error into `meta.driverAdapterError`. Node puts the errors of several addresses into `errors`.
    [cause, meta?.driverAdapterError, ...(Array.isArray(errors) ? (errors as unknown[]) : [])].some(
      isDatabaseUnavailable,
    )
  );
}

const matches =
  (...patterns: readonly RegExp[]) =>
  (value: unknown): boolean =>
    typeof value === 'string' && patterns.some((pattern) => pattern.test(value));
