import type pg from 'pg';

/** Makes the first such statement fail as after a deadlock. `statement`: for example `UPDATE ON users`. */
export const seedDeadlock = (client: Pick<pg.Client, 'query'>, statement: string) =>
  client.query(`
    CREATE SEQUENCE deadlocks;
    CREATE FUNCTION deadlock() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        -- A sequence keeps its value when the transaction is rolled back.
        IF nextval('deadlocks') = 1 THEN RAISE 'seeded' USING ERRCODE = 'deadlock_detected'; END IF;
        RETURN NULL;
      END $$;
    CREATE TRIGGER deadlock BEFORE ${statement} EXECUTE FUNCTION deadlock()`);
