import { buildConnector } from 'undici';

/** Replaces undici's connect timeout, which is checked only twice a second and would leave a socket open for as long. */
export function promptConnector(timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({ timeout: 0 });
  return (target, callback) => {
    const socket: unknown = connect(target, (...result) => {
      clearTimeout(timer);
      callback(...result);
    });
    const timer = setTimeout(() => {
      if (isDestroyable(socket)) socket.destroy(new Error('no connection within the deadline'));
    }, timeoutMs);
  };
}

const isDestroyable = (value: unknown): value is { destroy(error: Error): void } =>
  typeof value === 'object' && value !== null && 'destroy' in value;
