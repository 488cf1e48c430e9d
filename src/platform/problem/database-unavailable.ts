/** Matches codes, kinds and messages of errors for which the database is at fault. */
const FAULTS = [
  // SQLSTATEs: connection (08), resources (53), server stopping or starting (57P01 to 57P03), login (28), missing database (3D000),
  // standby after a failover (25006), connections ended while idle (25P03, 57P05), and timeouts of statements (57014) and locks (55P03)
  // under overload.
  /^(08|28|53)...$|^57P0[1-35]$|^3D000$|^25006$|^25P03$|^57014$|^55P03$/,
  /^(ECONN(REFUSED|RESET|ABORTED)|ETIMEDOUT|EPIPE|E(HOST|NET)UNREACH|ENOTFOUND|EAI_AGAIN)$/,
  // Certificates and TLS, and the severities with which the server ends a connection, whatever the SQLSTATE.
  /^(CERT|ERR_TLS|ERR_SSL|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO)_|^(FATAL|PANIC)$/,
  // Prisma: login refused, unreachable, no such database, timed out, connection closed, pool exhausted, too many connections.
  /^P(1000|1001|1002|1003|1008|1010|1011|1017|2024|2037)$/,
  // The same errors in Prisma's adapter. Prisma wraps them in an error P2010.
  /^(AuthenticationFailed|Database(NotReachable|DoesNotExist|AccessDenied)|ConnectionClosed|TlsConnectionError|SocketTimeout|TooManyConnections)$/,
  // Messages of errors for which pg, pg-pool and Prisma have no code.
  /^(timeout exceeded when trying to connect|The server does not support SSL|There was an error establishing an SSL|Query read timeout|Connection terminated|Client has encountered a connection error|Cannot use a pool after calling end|Client was closed)|Unable to start a transaction in the given time|(^|\n)connect E[A-Z]+ /,
];

/** Returns whether an error shows that the database is unreachable or overloaded. Includes socket errors: remote calls never throw them. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, originalCode, kind, severity, message, originalMessage, cause, meta, errors } = error as {
    readonly [name: string]: unknown;
    readonly meta?: { readonly driverAdapterError?: unknown } | null;
  };
  const texts = [code, originalCode, kind, severity, message, originalMessage];
  // Prisma puts its adapter's error into `meta.driverAdapterError`. Node puts the errors of several addresses into `errors`.
  const inner = [cause, meta?.driverAdapterError, ...(Array.isArray(errors) ? (errors as unknown[]) : [])];
  return (
    texts.some((text) => typeof text === 'string' && FAULTS.some((fault) => fault.test(text))) ||
    inner.some(isDatabaseUnavailable)
  );
}
