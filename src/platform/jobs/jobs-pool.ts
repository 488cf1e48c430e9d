import pg from 'pg';

type Done = (reason?: Error | boolean) => void;
type Callback = (error: Error | undefined, client: pg.PoolClient | undefined, done: Done) => void;

/**
 * Lets a client be given back twice. graphile-worker 0.17.3 does that with the one that listens, when its connection is lost while the
 * worker stops, and awaits neither: the error that pg throws then would be an unhandled rejection, which ends the process.
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
