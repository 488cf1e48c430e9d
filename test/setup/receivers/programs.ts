import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';

/** Returns the path in the variable if it is set. Otherwise returns the path of the program in PATH or an sbin folder, or null. */
export function findProgram(name: string, variable: string): string | null {
  const given = process.env[variable];
  if (given !== undefined) {
    if (!existsSync(given)) throw new Error(`There is no program at ${variable}, ${given}.`);
    return given;
  }
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  const file = process.platform === 'win32' ? `${name}.exe` : name;
  return folders.map((folder) => join(folder, file)).find((path) => existsSync(path)) ?? null;
}

/** Returns whether a program listens on a port of this machine. */
export const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
