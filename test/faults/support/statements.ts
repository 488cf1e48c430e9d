import pg from 'pg';

/** The phases of one statement: it is about to be sent, it was sent, or its result has arrived. */
export const PHASES = ['unsent', 'sent', 'returned'] as const;
export type Phase = (typeof PHASES)[number];

interface Hooks {
  /** Returns the statement to send in the place of `text`. */
  readonly replace?: (text: string) => string;
  /** `count` statements were begun before this one. */
  readonly reached: (phase: Phase, count: number, text: string) => void;
}

/** Calls the hooks for each statement of each connection of this process. Returns a function that stops this. */
export function watchStatements({ replace = (text) => text, reached }: Hooks): () => void {
  const query = pg.Client.prototype.query;
  let begun = 0;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const [statement, ...others] = args;
    if (typeof statement !== 'string') return Reflect.apply(query, this, args) as unknown;
    const count = begun++;
    reached('unsent', count, statement);
    const result = Reflect.apply(query, this, [replace(statement), ...others]) as unknown;
    // node-postgres writes to the socket within the call, unless a statement of the same connection is running.
    setImmediate(() => reached('sent', count, statement));
    if (result instanceof Promise)
      return result.finally(() => {
        reached('returned', count, statement);
      });
    return result;
  } as typeof query;
  return () => {
    pg.Client.prototype.query = query;
  };
}
