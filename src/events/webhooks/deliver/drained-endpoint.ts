import type { Connections } from '../../../platform/http-client/connections.js';
import type { Destination, WebhookSender } from '../send/sender.service.js';
import type { EndpointHealth, WebhookDrainStore } from './drain.store.js';
import { placesOf, planHealth } from './endpoint-health.rules.js';
import type { SendOutcome } from '../send/outcome.rules.js';
import type { Message } from '../send/signature.js';

/** The interval at which the endpoint is read again, to notice that it was changed or disabled. */
const REFRESH_MS = 1_000;

/** The endpoint of a drain, as last read or written. Once the drain has found it disabled or deleted, it stays closed. */
export class DrainedEndpoint {
  /** Set by the first `refresh` that finds the endpoint. */
  health: EndpointHealth;
  isClosed = false;
  private healthReadAtMs = performance.now();
  private readonly opened: Connections[] = [];
  private destination: Destination | undefined;
  private refreshedAtMs = -Infinity;

  constructor(
    readonly id: string,
    private readonly store: WebhookDrainStore,
    private readonly sender: WebhookSender,
  ) {}

  async refresh(): Promise<void> {
    if (this.isClosed || performance.now() - this.refreshedAtMs < REFRESH_MS) return;
    const found = await this.store.findEndpoint(this.id);
    this.refreshedAtMs = performance.now();
    if (found !== null && found.destination.url !== this.destination?.url)
      this.opened.push(this.sender.open(found.destination.url));
    this.destination = found?.destination;
    this.setHealth(found?.health ?? null);
  }

  /** Makes the next `refresh` read the endpoint. Without this, a delivery that is due at once could go to the old URL again and again. */
  expire(): void {
    this.refreshedAtMs = -Infinity;
  }

  /** Sets the health. Null means that the endpoint is disabled or deleted, and closes it. */
  setHealth(health: EndpointHealth | null): void {
    if (health === null) this.isClosed = true;
    else if (health !== this.health) {
      this.health = health;
      this.healthReadAtMs = performance.now();
    }
  }

  /** Returns how many requests may be in flight, given outcomes that are not recorded yet. 0 if closed, or in the quiet period after failures. */
  placesAfter(outcomes: readonly SendOutcome[]): number {
    if (this.isClosed) return 0;
    const now = this.now();
    const health = planHealth(this.health, outcomes, now);
    const isQuiet = health.quietUntil !== null && health.quietUntil > now;
    return isQuiet ? 0 : placesOf(health);
  }

  /** Where `send` sends. */
  get url(): string {
    return this.destination!.url;
  }

  send(message: Message): Promise<SendOutcome> {
    return this.sender.sendOver(this.opened.at(-1)!, this.destination!, message);
  }

  /** Returns the time of the database, extrapolated by the monotonic clock of this process. */
  private now(): Date {
    return new Date(this.health.now.getTime() + performance.now() - this.healthReadAtMs);
  }

  async disconnect(): Promise<void> {
    await Promise.all(this.opened.map((connections) => connections.close()));
  }
}
