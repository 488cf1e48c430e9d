import type { Operation } from './ledger.js';
import type { WireResponse } from './wire.js';

/** How a fault alters the response to a request. */
type Behaviour =
  | { readonly kind: 'delay' }
  | { readonly kind: 'hold' }
  | { readonly kind: 'answer'; readonly response: WireResponse }
  | { readonly kind: 'reset' }
  | { readonly kind: 'truncate' }
  | {
      readonly kind: 'drip';
      readonly intervalMs: number;
      readonly chunkBytes: number;
      readonly from: 'headers' | 'body';
    }
  | { readonly kind: 'stall'; readonly after: 'nothing' | 'headers' | 'half' };

export const FAULT_KINDS = [
  'delay',
  'hold',
  'answer',
  'redirect',
  'too_many_requests',
  'html',
  'reset',
  'truncate',
  'drip',
  'stall',
] as const;

/** The body of `POST /sandbox/faults`. */
export interface FaultScript {
  readonly kind: (typeof FAULT_KINDS)[number];
  readonly operation?: Operation | 'any';
  /** Limits the fault to requests whose path or body contains this text, such as an id or an EAN. */
  readonly contains?: string;
  /** Limits the fault to reads of sessions whose owner has chosen this brand in the web flow. */
  readonly brand?: string;
  /** The number of matching requests that stay unaffected before the fault applies. Default: 0. */
  readonly skip?: number;
  /** The number of requests that the fault affects. If null, it affects all until the faults are cleared. Default: 1. */
  readonly times?: number | null;
  /** Whether the request takes effect despite the faulty response. Default: see HAS_EFFECT. */
  readonly effect?: boolean;
  readonly delayMs?: number;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly bodyBase64?: string;
  /** The number of copies of the body in the response. Default: 1. */
  readonly repeat?: number;
  readonly location?: string;
  readonly retryAfter?: string;
  readonly intervalMs?: number;
  readonly chunkBytes?: number;
  readonly from?: 'headers' | 'body';
  readonly after?: 'nothing' | 'headers' | 'half';
}

export interface Fault {
  readonly id: number;
  readonly operation: Operation | 'any';
  readonly contains: string | null;
  readonly brand: string | null;
  readonly effect: boolean;
  readonly delayMs: number;
  readonly behaviour: Behaviour;
  skip: number;
  left: number | null;
  used: number;
  /** One function per held request, which releases the request. */
  readonly held: Set<() => void>;
}

/** The default of `effect` for each kind of fault. */
const HAS_EFFECT: Record<Behaviour['kind'], boolean> = {
  delay: true,
  hold: true,
  drip: true,
  truncate: true,
  answer: false,
  reset: false,
  stall: false,
};

export class Faults {
  #faults: Fault[] = [];
  #lastId = 0;

  add(script: FaultScript): Fault {
    const behaviour = behaviourOf(script);
    const fault: Fault = {
      id: ++this.#lastId,
      operation: script.operation ?? 'any',
      contains: script.contains ?? null,
      brand: script.brand ?? null,
      effect: script.effect ?? HAS_EFFECT[behaviour.kind],
      delayMs: script.delayMs ?? 0,
      behaviour,
      skip: script.skip ?? 0,
      left: script.times === undefined ? 1 : script.times,
      used: 0,
      held: new Set(),
    };
    this.#faults.push(fault);
    return fault;
  }

  /** Returns the fault for this request, or null. `brand`: of the session that it reads. Updates the counters of the matching faults. */
  take(operation: Operation, path: string, body: unknown, brand: string | null = null): Fault | null {
    for (const fault of this.#faults) {
      if (fault.left === 0) continue;
      if (fault.operation !== 'any' && fault.operation !== operation) continue;
      if (fault.brand !== null && fault.brand !== brand) continue;
      if (
        fault.contains !== null &&
        !path.includes(fault.contains) &&
        !(typeof body === 'string' && body.includes(fault.contains))
      )
        continue;
      if (fault.skip > 0) {
        fault.skip -= 1;
        continue;
      }
      if (fault.left !== null) fault.left -= 1;
      fault.used += 1;
      return fault;
    }
    return null;
  }

  find(id: number): Fault | null {
    return this.#faults.find((fault) => fault.id === id) ?? null;
  }

  list(): ReturnType<typeof describeFault>[] {
    return this.#faults.map(describeFault);
  }

  /** Removes all faults and releases all held requests. */
  clear(): void {
    for (const fault of this.#faults) release(fault);
    this.#faults = [];
  }
}

export const describeFault = (fault: Fault) => ({
  id: fault.id,
  kind: fault.behaviour.kind,
  operation: fault.operation,
  contains: fault.contains,
  brand: fault.brand,
  effect: fault.effect,
  skip: fault.skip,
  left: fault.left,
  used: fault.used,
  holding: fault.held.size,
});

/** Releases the requests that a fault holds. Returns their number. */
export const release = (fault: Fault): number => {
  const held = [...fault.held];
  fault.held.clear();
  for (const letGo of held) letGo();
  return held.length;
};

const behaviourOf = (script: FaultScript): Behaviour => {
  switch (script.kind) {
    case 'delay':
    case 'hold':
    case 'reset':
    case 'truncate':
      return { kind: script.kind };
    case 'drip':
      return {
        kind: 'drip',
        intervalMs: script.intervalMs ?? 200,
        chunkBytes: script.chunkBytes ?? 1,
        from: script.from ?? 'body',
      };
    case 'stall':
      return { kind: 'stall', after: script.after ?? 'nothing' };
    case 'answer':
      return answered(script);
    case 'redirect':
      return scripted(script.status ?? 302, { location: script.location ?? '/elsewhere' }, script);
    case 'too_many_requests':
      return scripted(script.status ?? 429, { 'retry-after': script.retryAfter ?? '1' }, script);
    case 'html':
      return scripted(
        script.status ?? 200,
        { 'content-type': 'text/html' },
        {
          body: '<!doctype html><title>Maintenance</title><p>We will be back soon.</p>',
          ...script,
        },
      );
  }
};

/** Returns the scripted answer. Default of the body of a 4xx: an object, as in the sandbox's own refusals. */
const answered = ({ status = 200, ...script }: FaultScript): Behaviour => {
  const isRefusal = status >= 400 && status < 500;
  const body = isRefusal ? { body: '{"message":"refused by a fault"}' } : {};
  return scripted(status, { 'content-type': 'application/json' }, { ...body, ...script });
};

const scripted = (
  status: number,
  headers: Record<string, string>,
  script: Pick<FaultScript, 'headers' | 'body' | 'bodyBase64' | 'repeat'>,
): Behaviour => {
  const body =
    script.bodyBase64 === undefined
      ? Buffer.from(script.body ?? '')
      : Buffer.from(script.bodyBase64, 'base64');
  return {
    kind: 'answer',
    response: {
      status,
      headers: { ...headers, ...script.headers },
      body: Buffer.concat(Array.from({ length: script.repeat ?? 1 }, () => body)),
    },
  };
};
