export { WebhookVerificationError } from 'standardwebhooks';
export type { RetryOptions } from './backoff.js';
export {
  createClient,
  type Client,
  type ClientOptions,
  type Registration,
  type Schemas,
  type Session,
  type User,
} from './client.js';
export {
  followEvents,
  type EventOf,
  type EventType,
  type FollowOptions,
  type OnboardingEvent,
} from './events.js';
export type { paths } from './openapi.js';
export { items, pages, type ListPath } from './pages.js';
export { isTemporary, ProblemError, type ProblemCode } from './problem.js';
export { NotOnlineError, waitForOnline, type WaitOptions } from './wait-for-online.js';
export { verifyWebhook } from './webhook.js';
