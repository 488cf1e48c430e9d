import pg from 'pg';

/** Counts the statements that this process sends to PostgreSQL. Each is a round trip. */
export class RoundTrips {
  private readonly names: string[] = [];
  private readonly query = pg.Client.prototype.query;

  /** `isCounted`: whether to count a statement, by its name or, without one, its text, and by its database. */
  constructor(isCounted: (name: string, database: string) => boolean = () => true) {
    const { names, query } = this;
    const counting = function (this: pg.Client, ...given: unknown[]) {
      const [statement] = given as [string | pg.QueryConfig];
      const { name = '', text } = typeof statement === 'string' ? { text: statement } : statement;
      if (isCounted(name || text, this.database!)) names.push(name || text);
      return Reflect.apply(query, this, given) as never;
    };
    pg.Client.prototype.query = counting;
  }

  get count(): number {
    return this.names.length;
  }

  /** Returns the statements of `work`, after it has run once, so that nothing is done for the first time. */
  async of(work: () => Promise<unknown>): Promise<readonly string[]> {
    await work();
    const before = this.names.length;
    await work();
    return this.names.slice(before);
  }

  end(): void {
    pg.Client.prototype.query = this.query;
  }
}
