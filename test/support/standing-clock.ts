import type { Database } from '../../src/store/database.ts'
import { openDatabase } from '../../src/store/database-pool.ts'
import type { FreshDatabase } from './database.ts'

/** A clock that stands still until it is set. */
export interface StandingClock extends AsyncDisposable {
  /** Unix milliseconds. */
  readonly now: () => number
  /** Connections whose `now()` is this clock's. */
  readonly db: Database
  set(atMs: number): Promise<void>
}

/** Puts another `now()` before the server's, for every connection to the database that is made from here on. */
export async function standingClock({ db: before, connectionString }: FreshDatabase): Promise<StandingClock> {
  await before.query(`
    create schema clock;
    create table clock.instant (at timestamptz not null);
    insert into clock.instant values (pg_catalog.now());
    create function clock.now() returns timestamptz stable language sql as 'select at from clock.instant';
    do $$ begin
      execute format('alter database %I set search_path = clock, public, pg_catalog', current_database());
    end $$`)
  const db = openDatabase({ connectionString, poolSize: 4 })
  let nowMs = Date.now()
  return {
    db,
    now: () => nowMs,
    async set(atMs) {
      nowMs = atMs
      await before.query('update clock.instant set at = $1', [new Date(atMs).toISOString()])
    },
    [Symbol.asyncDispose]: () => db.end(),
  }
}
