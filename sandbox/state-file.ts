import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Snapshot, State } from './state.js';

/** The delay between a change and its write, so that a burst is written once. A killed sandbox loses only changes within this delay. */
const WRITE_AFTER_MS = 50;

/**
 * Restores the state from a JSON file and saves every change to the file, so that sessions survive a restart of the sandbox. Returns a
 * function that writes pending changes at once.
 */
export const persistInFile = (state: State, path: string, say: (line: string) => void): (() => void) => {
  const snapshot = readSnapshot(path, say);
  if (snapshot) state.restore(snapshot);

  let timer: NodeJS.Timeout | null = null;
  const flush = (): void => {
    if (timer === null) return;
    clearTimeout(timer);
    timer = null;
    try {
      writeSnapshot(path, state.snapshot());
    } catch (error) {
      say(`The sandbox cannot write ${path}: ${reasonOf(error)}`);
    }
  };
  state.onChange = () => {
    timer ??= setTimeout(flush, WRITE_AFTER_MS);
  };
  return flush;
};

const readSnapshot = (path: string, say: (line: string) => void): Snapshot | null => {
  try {
    const snapshot = JSON.parse(readFileSync(path, 'utf8')) as Snapshot;
    if (snapshot.version !== 1) throw new Error('it is of another version');
    if (![snapshot.users, snapshot.sessions, snapshot.tokens].every(Array.isArray))
      throw new Error('it is incomplete');
    return snapshot;
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    say(
      `The sandbox starts empty: ${path} ${isMissing ? 'is not there yet' : `cannot be read (${reasonOf(error)})`}`,
    );
    return null;
  }
};

/** Writes a temporary file and renames it, so that a crash leaves either the old file or the new file. */
const writeSnapshot = (path: string, snapshot: Snapshot): void => {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.new`;
  writeFileSync(temporary, JSON.stringify(snapshot), { mode: 0o600 });
  renameSync(temporary, path);
};

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
