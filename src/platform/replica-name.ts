import { hostname } from 'node:os';

/** Names this process in logs, leases and /status, for people. */
export const REPLICA_NAME = `${hostname()}:${process.pid}`;
