import type { EventPublisher } from '../../../../src/broker/event-publisher.js';
import { Publishers } from '../../../../src/broker/broker.service.js';
import { startWorker } from '../../../db/events/fixture.js';

// DIES_AT=after_ack: dies after the broker has confirmed the second page, before the position of that page is saved.
// PUBLISHER=hasty, the bug: reports the second page as confirmed without publishing it, and dies at the third page.

const { open } = Publishers.prototype;
const isHasty = process.env.PUBLISHER === 'hasty';
let pages = 0;

const die = (): Promise<never> => {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => {});
};

Publishers.prototype.open = async function (this: Publishers, ...addressed): Promise<EventPublisher> {
  const publisher = await open.call(this, ...addressed);
  return {
    warnings: [],
    lastId: isHasty ? undefined : publisher.lastId,
    close: () => publisher.close(),
    publish: async (events) => {
      if (events.length > 0) pages += 1;
      if (isHasty && pages === 2) return events.length;
      if (isHasty && pages === 3) return die();
      const published = await publisher.publish(events);
      if (process.env.DIES_AT === 'after_ack' && pages === 2) return die();
      return published;
    },
  };
};

const worker = await startWorker(process.env.DATABASE_URL ?? '', [], {
  EVENT_BROKER_URL: process.env.EVENT_BROKER_URL ?? '',
});
worker.enableShutdownHooks();
process.send?.({ type: 'ready', url: '' });
