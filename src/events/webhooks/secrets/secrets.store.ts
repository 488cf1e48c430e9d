import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../access/audit-log.store.js';
import { Database } from '../../../platform/database/database.js';
import { lastEndOf, planRotation } from './rotation.rules.js';
import { holdEndpoint, unknownEndpoint } from '../deliver/lock-endpoint.sql.js';
import { WebhookSealing } from './sealing.service.js';
import { newWebhookSecret } from './secret.js';
import { GET_DESTINATION, ROTATE_SECRET, type SealedSecrets } from './secrets.sql.js';
import type { Destination } from '../send/sender.service.js';

interface DestinationRow extends SealedSecrets {
  readonly url: string;
  readonly headersCiphertext: Buffer | null;
}

export interface RotatedSecret {
  readonly secret: string;
  /** When the last previous secret ends; null if none signs any more. */
  readonly previousSecretUntil: Date | null;
}

/** Reads the destination of webhooks, and rotates secrets. */
@Injectable()
export class WebhookSecretsStore {
  constructor(
    private readonly database: Database,
    private readonly sealing: WebhookSealing,
    private readonly audit: AuditLog,
  ) {}

  /** Returns the URL, headers and signing secrets as of now. Throws Problem not_found. */
  async getDestination(id: string): Promise<Destination> {
    const destination = await this.findDestination(id);
    if (destination === null) throw unknownEndpoint(id);
    return destination;
  }

  async findDestination(id: string): Promise<Destination | null> {
    const [row] = await this.database.query<DestinationRow>(GET_DESTINATION, [id]);
    if (row === undefined) return null;
    const { secret, previous } = this.sealing.openSecrets(id, row);
    return {
      url: row.url,
      headers: this.sealing.openHeaders(id, row.headersCiphertext),
      secrets: [secret, ...previous.map((other) => other.secret)],
    };
  }

  /** Replaces the signing secret. Default of `secret`: a generated one. Throws Problem not_found. */
  async rotate(
    id: string,
    secret: string | undefined,
    overlapSeconds: number,
    actor: string,
  ): Promise<RotatedSecret> {
    const renewed = secret ?? newWebhookSecret();
    return this.database.transaction(async (tx) => {
      const held = await holdEndpoint(tx, id);
      const previous = planRotation(this.sealing.openSecrets(id, held), renewed, overlapSeconds, held.now);
      const previousSecretUntil = lastEndOf(previous);
      await tx.query(ROTATE_SECRET, [
        id,
        this.sealing.sealSecret(id, renewed),
        this.sealing.sealPrevious(id, previous),
        previousSecretUntil,
      ]);
      const details = { overlapSeconds };
      await this.audit.record(tx, { actor, action: 'webhook_endpoint.secret_rotated', target: id, details });
      return { secret: renewed, previousSecretUntil };
    });
  }
}
