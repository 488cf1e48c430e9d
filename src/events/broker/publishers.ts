import { Injectable } from '@nestjs/common';
import type { EventPublisher } from './event-publisher.js';

/** The kinds of brokers that there is a publisher for, by the scheme of EVENT_BROKER_URL. */
const KINDS = { 'nats:': 'nats', 'tls:': 'nats' } as const;

export type BrokerKind = (typeof KINDS)[keyof typeof KINDS];

/** A broker of another kind needs a scheme above, a case below, and a file beside nats.publisher.ts. */
@Injectable()
export class Publishers {
  kindOf(url: string): BrokerKind {
    return KINDS[`${url.slice(0, url.indexOf(':'))}:` as keyof typeof KINDS];
  }

  /** Rejects with a BrokerError when the broker cannot be reached, refuses us, or would not keep what it is given. */
  async open(url: string): Promise<EventPublisher> {
    switch (this.kindOf(url)) {
      case 'nats':
        // The client is loaded only where there is a broker.
        return (await import('./nats.publisher.js')).openNats(url);
    }
  }
}
