import pg from 'pg';

type Done = (reason?: Error | boolean) => void;
type Callback = (error: Error | undefined, client: pg.PoolClient | undefined, done: Done) => void;

/**
 * Ignores the second release of a client. graphile-worker 0.17.3 releases its listening client twice, without awaiting either, if the
 * connection is lost while the worker stops. The error that pg would throw is an unhandled rejection, which ends the process.
 */
export class JobsPool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<pg.PoolClient> | void {
    if (callback === undefined) return super.connect();
    super.connect((error, client, done: Done) => {
      let isGivenBack = false;
      callback(error, client, (reason) => {
        if (isGivenBack) return;
        isGivenBack = true;
        done(reason);
      });
    });
  }
}
