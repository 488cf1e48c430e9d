import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { PollsStore } from '../../../src/onboarding/poll/polls.store.js';

export interface PollingGate {
  open(): void;
  /** Stops claims. Reads in flight continue. */
  close(): void;
}

/** Blocks the poller of an application until `open` is called. */
export function gatePolling(app: NestFastifyApplication): PollingGate {
  const polls = app.get(PollsStore);
  const claimDue = polls.claimDue.bind(polls);
  let isOpen = false;
  polls.claimDue = async (limit) => (isOpen ? claimDue(limit) : []);
  return { open: () => void (isOpen = true), close: () => void (isOpen = false) };
}
