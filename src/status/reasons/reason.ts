import type { Environment } from '../../platform/env/environment.js';
import type { Facts } from '../facts.view.js';

export const SEVERITIES = ['critical', 'warning'] as const;
export const ACTORS = ['us', 'tenant', 'remote_service'] as const;

export type Settings = Pick<
  Environment,
  'SCS_MAX_REQUESTS_PER_SECOND' | 'NODE_ENV' | 'BRAND_NAME' | 'BRAND_PRIVACY_URL'
>;

/** An operation of our API, as it is called. */
export interface Remedy {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly label: string;
}

/** A reason why a deployment is degraded. Its alert in ops/prometheus/alerts.yml is written from it. */
export interface Reason {
  readonly severity: (typeof SEVERITIES)[number];
  /** A sentence without its full stop. */
  readonly title: string;
  /** The anchor of a section of docs/operations.md, which names the code. */
  readonly runbook: string;
  /** Who has to act next: the operator of the deployment, the apps and people of the tenant, or the provider of the remote service. */
  readonly waitsFor: (typeof ACTORS)[number];
  /** The operations that can end it. Default: none can. */
  readonly remedies?: readonly Remedy[];
  /** For how long the reason must hold before its alert fires. Default: the alert fires at once. */
  readonly alertAfter?: `${number}m`;
  /** For how long the alert treats the reason as present after it was last seen. For a reason that comes and goes. Default: not at all. */
  readonly alertKeeps?: `${number}m`;
  /** Returns a sentence for each instance of the reason. Each false is no instance. */
  readonly find: (facts: Facts, settings: Settings) => string | false | readonly (string | false)[];
  /**
   * Returns the times at which the reason began, or its ages in seconds; 0 for an absent instance. Default: the facts do not contain them,
   * so only the samples of the status know.
   */
  readonly began?: (facts: Facts) => readonly (Date | number)[];
}
