import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { PollsStore } from '../../../src/onboarding/poll/polls.store.js';

export interface PollingGate {
  open(): void;
  /** No session is claimed from then on; reads that are under way go on. */
  close(): void;
}

/** Decides when the poller of an application claims sessions; closed at first. */
export function gatePolling(app: NestFastifyApplication): PollingGate {
  const polls = app.get(PollsStore);
  const claimDue = polls.claimDue.bind(polls);
  let isOpen = false;
  polls.claimDue = async (limit) => (isOpen ? claimDue(limit) : null);
  return { open: () => void (isOpen = true), close: () => void (isOpen = false) };
}
