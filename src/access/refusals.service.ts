import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { within } from '../platform/async/within.js';
import { runOutsideRequest } from '../platform/http/request-context.js';
import { errorText } from '../observability/redaction/error-text.js';
import { STOP_WITHIN_MS } from '../platform/shutdown/limits.js';
import { ApiKeysStore, hashOf, isApiKey } from './api-keys.store.js';
import { addRefused, NONE_REFUSED, REFUSED_STATUSES, RefusalLines, type Refused } from './refusal-lines.js';
import type { Principal } from './scopes.js';

const WRITE_AFTER_MS = 5_000;
/** The most keys that are told apart between two writes, since a client may send a new key with each request. Those beyond count as unknown. */
const MOST_KEYS = 1_000;
const UNKNOWN = 'unknown';

/** Counts refused requests by key in memory, and writes and logs the counts every few seconds, so that a refused request costs no statement. */
@Injectable()
export class Refusals implements OnApplicationShutdown {
  private readonly logger = new Logger(Refusals.name);
  private readonly lines = new RefusalLines();
  /** By the hash of the key, the name of ADMIN_API_KEY, or UNKNOWN. */
  private counts = new Map<string, Refused>();
  private timer: NodeJS.Timeout | undefined;
  private isFailing = false;

  constructor(private readonly keys: ApiKeysStore) {}

  /** Counts a response, if it is a refusal. */
  note(key: string, principal: Principal | undefined, statusCode: number): void {
    const status = REFUSED_STATUSES.find((each) => each === statusCode);
    if (status === undefined) return;
    this.count(subjectOf(key, principal), { ...NONE_REFUSED, [`refused${status}`]: 1 });
    this.writeLater();
  }

  /** Writes what was counted, and logs the lines that are due. */
  async write(now: number = performance.now()): Promise<void> {
    const counts = this.counts;
    this.counts = new Map();
    try {
      await this.record(counts);
      this.isFailing = false;
    } catch (error) {
      for (const [subject, refused] of counts) this.count(subject, refused);
      if (!this.isFailing) this.logger.warn(`could not record refused requests: ${errorText(error)}`);
      this.isFailing = true;
    }
    for (const line of this.lines.take(now)) this.logger.warn(line);
    if (this.counts.size > 0 || !this.lines.isEmpty) this.writeLater();
  }

  async onApplicationShutdown(): Promise<void> {
    await within(STOP_WITHIN_MS.refusals, this.write());
    clearTimeout(this.timer);
  }

  private count(subject: string, refused: Refused): void {
    const isToldApart = this.counts.has(subject) || this.counts.size < MOST_KEYS;
    const as = isToldApart ? subject : UNKNOWN;
    this.counts.set(as, addRefused(this.counts.get(as) ?? NONE_REFUSED, refused));
  }

  private async record(counts: ReadonlyMap<string, Refused>): Promise<void> {
    const hashes = [...counts].filter(([subject]) => HASH.test(subject));
    const known = hashes.length === 0 ? [] : await this.keys.addRefusals(hashes);
    const keys = new Map(known.map((key) => [key.hash, key]));
    for (const [subject, refused] of counts) {
      const key = keys.get(subject);
      if (key !== undefined) {
        const kind = key.isRevoked ? 'revoked key' : 'key';
        this.lines.add(
          { message: `requests with the ${kind} ${key.name} are refused`, keyId: key.id },
          refused,
        );
      } else if (subject === UNKNOWN || HASH.test(subject))
        this.lines.add({ message: 'requests with an unknown key are refused' }, refused);
      else this.lines.add({ message: 'requests with ADMIN_API_KEY are refused' }, refused);
    }
  }

  private writeLater(): void {
    if (this.timer !== undefined) return;
    const write = () => {
      this.timer = undefined;
      void this.write();
    };
    this.timer = runOutsideRequest(() => setTimeout(write, WRITE_AFTER_MS).unref());
  }
}

const HASH = /^[0-9a-f]{64}$/;

function subjectOf(key: string, principal: Principal | undefined): string {
  if (principal?.id === null) return principal.name;
  return isApiKey(key) ? hashOf(key).toString('hex') : UNKNOWN;
}
