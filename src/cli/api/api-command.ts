import { Command } from 'commander';
import type { Client } from '#client/client.js';
import { confirm, YES, type Confirmation } from '../confirm.js';
import { JSON_OPTION, printJson } from '../print.js';
import type { FindApi } from './service-api.js';

/** Returns the parameters of a call about one item. */
export const at = (id: string) => ({ params: { path: { id } } });

export class ApiCommand extends Command {
  private effectOf?: (client: Client, ...given: never[]) => string | undefined | Promise<string | undefined>;

  constructor(
    name: string,
    private readonly findApi: FindApi,
  ) {
    super(name);
  }

  /** Asks for a confirmation before the call. `effectOf` returns the effect of the call, or undefined if it needs no confirmation. */
  confirms(effectOf: NonNullable<ApiCommand['effectOf']>): this {
    this.effectOf = effectOf;
    return this.option(...YES);
  }

  /** Runs `call` with the arguments and options of the command. Prints the result as JSON with `--json`, else with `forPeople`. */
  calls<Arguments extends unknown[], Result>(
    call: (client: Client, ...given: Arguments) => Promise<{ readonly data: Result }>,
    forPeople: (result: Result) => void,
  ): this {
    return this.option(...JSON_OPTION).action(async () => {
      const { json, yes, ...options } = this.opts<Confirmation & { json?: boolean }>();
      const given = [...(this.processedArgs as unknown[]), options] as Arguments;
      const api = await this.findApi();
      const { data } = await api.run(async (client) => {
        const effect = await this.effectOf?.(client, ...(given as unknown[] as never[]));
        if (effect !== undefined) await confirm(`At ${api.url}`, effect, { yes });
        return call(client, ...given);
      });
      if (json) printJson(data);
      else forPeople(data);
    });
  }
}
