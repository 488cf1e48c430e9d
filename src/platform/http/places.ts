import { Problem } from '../problem/problem.js';

const RETRY = { retryAfterSeconds: 10 };

interface Limits {
  /** The use of the places, in the plural, for the text of the problem. */
  readonly of: string;
  readonly ofKey: number;
  /** Default: no limit. */
  readonly inAll?: number;
}

/** Limits the concurrent requests of a kind, such as uploads, at this replica. A limit per API key keeps one key from taking all places. */
export class Places {
  private readonly holders: string[] = [];

  constructor(private readonly limits: Limits) {}

  /** Takes a place for `holder`. Returns a function that releases the place. Throws Problem at a limit. */
  take(holder: string): () => void {
    const { of, ofKey, inAll = Infinity } = this.limits;
    if (this.holders.filter((each) => each === holder).length >= ofKey)
      throw new Problem('too_many_requests', `A key may have ${ofKey} ${of} at once at one replica`, RETRY);
    if (this.holders.length >= inAll)
      throw new Problem('replica_busy', `This replica has ${inAll} ${of}, its maximum`, RETRY);
    this.holders.push(holder);
    return () => void this.holders.splice(this.holders.indexOf(holder), 1);
  }
}
