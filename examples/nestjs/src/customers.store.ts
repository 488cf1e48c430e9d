import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { OnboardingEvent } from '@pv-onboarding/client';
import pg from 'pg';

export interface Customer {
  readonly reference: string;
  readonly ean: string;
  readonly sessionId: string | null;
  /** The types of its events, the last one first. */
  readonly events: readonly string[];
}

const TABLES = `
  CREATE TABLE IF NOT EXISTS customers (reference text PRIMARY KEY, ean text NOT NULL, session_id uuid);
  CREATE TABLE IF NOT EXISTS events (id uuid PRIMARY KEY, sequence bigint, type text NOT NULL, reference text)`;
const CUSTOMERS = `SELECT reference, ean, session_id AS "sessionId",
  ARRAY(SELECT type FROM events WHERE events.reference = customers.reference ORDER BY sequence DESC) AS events FROM customers`;

/** The app's own database. */
@Injectable()
export class CustomersStore implements OnModuleInit, OnApplicationShutdown {
  private readonly pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });

  async onModuleInit(): Promise<void> {
    // The pool replaces a connection that the database has closed.
    this.pool.on('error', ({ message }) => console.error(message));
    await this.pool.query(TABLES);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.end();
  }

  async list(): Promise<Customer[]> {
    return (await this.pool.query<Customer>(`${CUSTOMERS} ORDER BY reference LIMIT 100`)).rows;
  }

  async find(reference: string): Promise<Customer | null> {
    const { rows } = await this.pool.query<Customer>(`${CUSTOMERS} WHERE reference = $1`, [reference]);
    return rows[0] ?? null;
  }

  async save({ reference, ean, sessionId }: Omit<Customer, 'events'>): Promise<void> {
    await this.pool.query(
      'INSERT INTO customers VALUES ($1, $2, $3) ON CONFLICT (reference) DO UPDATE SET session_id = $3',
      [reference, ean, sessionId],
    );
  }

  /** Stores an event, unless it has come before. What your app does about it belongs into the same transaction. */
  async receive(event: OnboardingEvent): Promise<void> {
    const { id, type, data } = event;
    const sequence = 'sequence' in event ? event.sequence : null;
    const reference = 'tenantReference' in data ? data.tenantReference : null;
    const row = [id, sequence, type, reference];
    await this.pool.query('INSERT INTO events VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING', row);
  }
}
