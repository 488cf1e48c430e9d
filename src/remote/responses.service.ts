import { Injectable } from '@nestjs/common';
import { type DocumentedFields, type Drift, foreignId } from './drift.js';
import { isObjectLike, type OperationClass, type Outcome } from './outcome.rules.js';
import type { RemoteResponse, Sent } from './outcome.rules.js';
import { Remote } from './remote.service.js';
import { outcomeOf } from './wire/read-response.js';
import { type Fields, readObject } from './wire/read-field.js';

interface ResponseReader<T> {
  readonly documented: DocumentedFields;
  read(fields: Fields, response: RemoteResponse): T;
}

/** Returns the `faultOf` of a request whose response `reader` reads. */
export const faultBy =
  <T>({ read }: ResponseReader<T>) =>
  (response: RemoteResponse): string | undefined => {
    const readBody = () => read(readObject(response.body), response);
    const outcome = outcomeOf({ kind: 'response', response }, readBody);
    return outcome.kind === 'unreadable' ? faultIn(outcome) : undefined;
  };

/** Describes an outcome for the status of its operation. */
const faultIn = ({ status, reason }: Extract<Outcome<never>, { kind: 'unreadable' }>): string =>
  `unreadable: status ${status}, ${reason}`;

const NO_OBJECT: Drift = { kind: 'other_type', field: 'body', expected: 'object', found: 'no JSON object' };

/** Interprets responses. Shows a feature how they differ from the interface; the poller passes only changed responses. */
@Injectable()
export class Responses {
  /** Receives the fields of a 2xx response, to compare them with the interface. */
  compare: (operation: OperationClass, fields: Fields, documented: DocumentedFields) => void = () => {};
  /** Receives differences that only the reader of a response can find. */
  reportDrift: (operation: OperationClass, drifts: readonly Drift[]) => void = () => {};

  constructor(private readonly remote: Remote) {}

  /** Returns the outcome of a call, and reports the drift of a 2xx response. */
  interpret<T>(operation: OperationClass, sent: Sent, { documented, read }: ResponseReader<T>) {
    let fields: Fields | undefined;
    const outcome = outcomeOf(sent, (response) => {
      fields = readObject(response.body);
      this.compare(operation, fields, documented);
      return read(fields, response);
    });
    if (outcome.kind !== 'unreadable') return outcome;
    const { foreignField } = outcome;
    if (fields === undefined) this.reportDrift(operation, [NO_OBJECT]);
    if (foreignField !== undefined) this.reportDrift(operation, [foreignId(foreignField)]);
    // `classifyResponse` has reported any other body, with its first characters. An object may have personal data: report only the reason.
    if (sent.kind === 'response' && isObjectLike(sent.response.body))
      this.remote.gates[operation].noteFault(faultIn(outcome));
    return outcome;
  }
}
