import { Injectable } from '@nestjs/common';
import type { EventPublisher } from './event-publisher.js';

/** The supported kinds of brokers, by the scheme of EVENT_BROKER_URL. */
const KINDS = { 'nats:': 'nats', 'tls:': 'nats' } as const;

export type BrokerKind = (typeof KINDS)[keyof typeof KINDS];

/** Opens publishers. To support another kind of broker, add a scheme above, a case below, and a file beside nats.publisher.ts. */
@Injectable()
export class Publishers {
  kindOf(url: string): BrokerKind {
    return KINDS[`${url.slice(0, url.indexOf(':'))}:` as keyof typeof KINDS];
  }

  /** Throws BrokerError if the broker is unreachable, rejects our credentials, or would not store the events. */
  async open(url: string): Promise<EventPublisher> {
    switch (this.kindOf(url)) {
      case 'nats':
        // Load the client only if a broker is configured.
        return (await import('./nats.publisher.js')).openNats(url);
    }
  }
}
