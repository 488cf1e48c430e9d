import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContext } from 'node:tls';
import { Logger } from '@nestjs/common';
import type { Environment } from '../env/environment.js';
import { expiryOf } from './certificate-expiry.rules.js';

/** The files of a connection by TLS. `names`: the settings that name the files, for people. */
export interface TlsPaths {
  readonly names: { readonly ca: string; readonly cert: string; readonly key: string };
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** The content of the files, which is known to be usable. */
export type TlsMaterial = Omit<TlsPaths, 'names'>;

/** How long the files are taken as read. */
const REREAD_MS = 5_000;

const BEGIN = '-----BEGIN CERTIFICATE-----';
const PEM = /-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g;

/** Reads the files. Throws an error that names the setting at fault, and contains nothing of the files. */
export function readTlsFiles(paths: TlsPaths): TlsMaterial {
  const { names } = paths;
  const material = {
    ...(paths.ca !== undefined && { ca: readText(names.ca, paths.ca) }),
    ...(paths.cert !== undefined && { cert: readText(names.cert, paths.cert) }),
    ...(paths.key !== undefined && { key: readText(names.key, paths.key) }),
  };
  if (material.ca !== undefined) certificatesIn(names.ca, material.ca);
  if (material.cert === undefined || material.key === undefined) return material;
  const [leaf] = certificatesIn(names.cert, material.cert);
  if (!leaf!.checkPrivateKey(keyIn(names.key, material.key)))
    throw new Error(`${names.key} does not contain the key of the certificate in ${names.cert}`);
  try {
    createSecureContext(material);
  } catch (error) {
    throw new Error(`${names.cert} cannot be used (${(error as NodeJS.ErrnoException).code})`);
  }
  return material;
}

function readText(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`${name} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

function certificatesIn(name: string, text: string): X509Certificate[] {
  try {
    const found = (text.match(PEM) ?? []).map((pem) => new X509Certificate(pem));
    // OpenSSL would leave out what is cut off, such as the rest of a file that is being written.
    if (found.length > 0 && found.length === text.split(BEGIN).length - 1) return found;
  } catch {
    // Reports it like a file without certificates.
  }
  throw new Error(`${name} must contain certificates in the form of PEM (${BEGIN})`);
}

function keyIn(name: string, text: string) {
  try {
    return createPrivateKey(text);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(
      code === 'ERR_MISSING_PASSPHRASE'
        ? `${name} must contain a private key without a passphrase`
        : `${name} must contain a private key in the form of PEM (-----BEGIN PRIVATE KEY-----)`,
    );
  }
}

/** The files of one connection. Takes up renewed files, and keeps the previous content while they cannot be used. */
export class TlsFiles {
  private readonly logger = new Logger('Certificates');
  private material: TlsMaterial;
  private prepared: { readonly of: TlsMaterial; readonly context: SecureContext } | undefined;
  private fault: string | null = null;
  private readAt = performance.now();

  constructor(private readonly paths: TlsPaths) {
    this.material = readTlsFiles(paths);
  }

  /** The content in use. The object changes if and only if the content does. */
  current(): TlsMaterial {
    const now = performance.now();
    if (now - this.readAt >= REREAD_MS) {
      this.readAt = now;
      this.reread();
    }
    return this.material;
  }

  /** Returns the options of a connection by TLS with the files in use. */
  options(): { readonly secureContext?: SecureContext } {
    const material = this.current();
    if (Object.keys(material).length === 0) return {};
    if (this.prepared?.of !== material)
      this.prepared = { of: material, context: createSecureContext(material) };
    return { secureContext: this.prepared.context };
  }

  /** Returns, for the status, when each file expires and why its renewed content is not used; null if it is in use as it is. */
  signs(now: Date) {
    const { ca, cert } = this.current();
    const { names } = this.paths;
    const sign = (name: string, text: string, kind: 'authority' | 'client') => ({
      name,
      ...expiryOf(certificatesIn(name, text), kind, now),
      fault: this.fault,
    });
    return [
      ...(ca === undefined ? [] : [sign(names.ca, ca, 'authority')]),
      ...(cert === undefined ? [] : [sign(names.cert, cert, 'client')]),
    ];
  }

  private reread(): void {
    const { names } = this.paths;
    const before = this.fault;
    try {
      const read = readTlsFiles(this.paths);
      this.fault = null;
      if (JSON.stringify(read) !== JSON.stringify(this.material)) {
        this.material = read;
        this.logger.log(`took up renewed files of ${[names.ca, names.cert, names.key].join(', ')}`);
      } else if (before !== null) this.logger.log(`the files in use are there again: ${before}`);
    } catch (error) {
      this.fault = (error as Error).message;
      if (this.fault !== before)
        this.logger.error(`${this.fault}; the files as they were read before stay in use`);
    }
  }
}

/** The connections with files of their own, and how the names of their settings begin. */
const PREFIXES = { remote: 'SCS', broker: 'EVENT_BROKER' } as const;
type OwnConnection = keyof typeof PREFIXES;
export const OWN_CONNECTIONS = Object.keys(PREFIXES) as OwnConnection[];

/** Returns the files that the settings of a connection name. */
export function tlsPathsOf(environment: Environment, of: OwnConnection): TlsPaths {
  const prefix = PREFIXES[of];
  const names = {
    ca: `${prefix}_CA_FILE`,
    cert: `${prefix}_CLIENT_CERT_FILE`,
    key: `${prefix}_CLIENT_KEY_FILE`,
  } as const;
  return { names, ca: environment[names.ca], cert: environment[names.cert], key: environment[names.key] };
}

const opened = new WeakMap<Environment, Partial<Record<OwnConnection, TlsFiles>>>();

/** Returns the files of a connection, the same object for each caller of a process. */
export function tlsFilesOf(environment: Environment, of: OwnConnection): TlsFiles {
  const files = opened.get(environment) ?? {};
  opened.set(environment, files);
  return (files[of] ??= new TlsFiles(tlsPathsOf(environment, of)));
}

/** Returns all files of certificates whose expiry the status shows. */
export function watchedFiles(environment: Environment): TlsFiles[] {
  const ofDatabase = [environment.DATABASE_URL, environment.DATABASE_DIRECT_URL]
    .filter((url, index, all) => url !== undefined && all.indexOf(url) === index)
    .flatMap((url) => {
      try {
        return new TlsFiles(databaseTlsOf(url));
      } catch {
        // The connection reports it.
        return [];
      }
    });
  return [...OWN_CONNECTIONS.map((of) => tlsFilesOf(environment, of)), ...ofDatabase];
}

/** Returns the files that a URL of PostgreSQL names. `pg` reads them itself, at every new connection. */
function databaseTlsOf(url: string): TlsPaths {
  const { searchParams } = new URL(url);
  const path = (name: string) => searchParams.get(name) ?? undefined;
  return {
    names: { ca: 'sslrootcert', cert: 'sslcert', key: 'sslkey' },
    ca: path('sslrootcert'),
    cert: path('sslcert'),
    key: path('sslkey'),
  };
}
