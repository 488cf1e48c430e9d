import { AsyncLocalStorage } from 'node:async_hooks';

/** How long a repetition counts, in SQL. docs/api.md promises it. */
export const REPEATABLE_FOR = `interval '24 hours'`;

/** The one execution of a request that can be repeated, or one after it. */
export interface Execution {
  /** The same for all executions of a request. */
  readonly id: string;
  /** What the handler has stored instead of the response: from it, each execution makes its own. */
  readonly result?: object | undefined;
  /** Stores the result of an effect that no transaction can hold, such as a remote call. */
  remember(result: object): Promise<void>;
  /** Stores the intent before such an effect: it is the result for an execution after a crash, and is erased with its subject. */
  intend(intent: object): Promise<void>;
}

const executing = new AsyncLocalStorage<Execution>();

/** Runs `work`, and everything that it starts, as the handler of a request that can be repeated. */
export const executeAs = <T>(execution: Execution, work: () => T): T => executing.run(execution, work);

/** Returns the execution of which the caller is a part; undefined if no feature lets the request be repeated. */
export const currentExecution = (): Execution | undefined => executing.getStore();
