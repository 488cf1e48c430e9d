import { STORED_RESPONSES } from '../idempotency/idempotency-keys.store.js';
import { TOKENS } from '../auth/token.store.js';
import {
  PREVIOUS_WEBHOOK_SECRETS,
  WEBHOOK_HEADERS,
  WEBHOOK_SECRETS,
} from '../webhooks/secrets/sealing.service.js';
import { INVITATION_TOKENS } from '../invitations/invitations.sql.js';
import { START_URLS } from '../onboarding/store/sessions.sql.js';

/** Every column that `Cipher` encrypts. */
export const ENCRYPTED_COLUMNS = [
  START_URLS,
  INVITATION_TOKENS,
  TOKENS,
  WEBHOOK_SECRETS,
  PREVIOUS_WEBHOOK_SECRETS,
  WEBHOOK_HEADERS,
  STORED_RESPONSES,
];
