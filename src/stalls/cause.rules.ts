import { STALL_KINDS, WAITS_FOR } from '../events/event-schemas.rules.js';

export { STALL_KINDS, WAITS_FOR };
/** What the subject of a stall is. */
export type StallKind = (typeof STALL_KINDS)[number];
export type WaitsFor = (typeof WAITS_FOR)[number];

/** `now`: every hour makes it worse. `soon`: within a day. `later`: a person may look, and may as well wait. */
export const URGENCIES = ['now', 'soon', 'later'] as const;
export type Urgency = (typeof URGENCIES)[number];

/** The observed values and the threshold. Contains no personal data. Only `lastError` may quote the remote service or a receiver. */
export type Evidence = Readonly<Record<string, string | number | boolean | null>>;

/** What the remedies of a stall take their arguments from. */
export interface StallSubject {
  readonly id: string;
  readonly gridLocationId?: string | null;
  readonly brand?: string | null;
}

export interface Remedy {
  /** The operation of our API that does it. Its path parameters come from the subject. */
  readonly operationId: string;
  readonly label: string;
  /** Default: the operation has no body, or a person has to write it. */
  readonly body?: (subject: StallSubject) => Readonly<Record<string, unknown>>;
  /** What cannot be undone. Default: it can. */
  readonly confirm?: string;
}

export const remedy = (
  operationId: string,
  label: string,
  options: Pick<Remedy, 'body' | 'confirm'> = {},
): Remedy => ({
  operationId,
  label,
  ...options,
});

/** Who is waited for, why, and what can be done. A wait without an urgency is ordinary: nothing is stalled. */
export interface Wait {
  readonly waitsFor: WaitsFor;
  /** The reason in one sentence that fits every subject. */
  readonly title: string;
  /** The reason in one sentence, with the evidence. Default: the title. */
  readonly text?: (evidence: Evidence) => string;
  /** What a person has to do before the remedies, or without any. */
  readonly before?: string;
  readonly remedies: readonly Remedy[];
}

export interface Cause extends Wait {
  readonly urgency: Urgency;
}

export type Causes<Code extends string = string> = Readonly<Record<Code, Cause>>;

/** Declares the causes of one kind of subjects, and keeps their codes as a type. */
export const causes = <Code extends string>(of: Causes<Code>): Causes<Code> => of;

export const textOf = ({ title, text }: Wait, evidence: Evidence): string => text?.(evidence) ?? title;
