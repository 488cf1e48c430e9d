import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from './programs.js';

const run = promisify(execFile);

export interface Authority {
  /** The file with its certificate. The path contains a blank. */
  readonly file: string;
  /** Issues a certificate for a host. Returns the files, which only the caller's account can read. */
  issue(host: string): Promise<{ readonly certificate: string; readonly key: string }>;
  remove(): Promise<void>;
}

export const findOpenssl = () => findProgram('openssl', 'OPENSSL');

/** Creates a certificate authority in a temporary folder. */
export async function createAuthority(openssl: string): Promise<Authority> {
  const folder = await mkdtemp(join(tmpdir(), 'pv-onboarding authority-'));
  await chmod(folder, 0o755);
  const file = join(folder, 'authority.crt');
  const create = (subject: string, certificate: string, key: string, ...more: string[]) =>
    run(openssl, [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${subject}`],
      ...['-out', certificate, '-keyout', key, ...more],
    ]);
  const authorityKey = join(folder, 'authority.key');
  await create(`authority ${folder.slice(-6)}`, file, authorityKey);
  return {
    file,
    issue: async (host) => {
      const [certificate, key] = [join(folder, `${host}.crt`), join(folder, `${host}.key`)];
      const names = `subjectAltName=DNS:${host}`;
      await create(host, certificate, key, '-CA', file, '-CAkey', authorityKey, '-addext', names);
      return { certificate, key };
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
