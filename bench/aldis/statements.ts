import type pg from 'pg'
import { walBytes } from './database.ts'

/** PostgreSQL's own figures between two moments: statements, WAL, HOT updates, index entries. */

interface Statement {
  readonly query: string
  readonly calls: number
  readonly rows: number
  readonly execMs: number
  readonly planMs: number
  readonly maxMs: number
  readonly hits: number
  readonly reads: number
  readonly walBytes: number
}

interface Table {
  readonly name: string
  readonly inserted: number
  readonly updated: number
  readonly hot: number
  readonly deleted: number
  readonly seqScans: number
  readonly indexScans: number
}

export class DatabaseActivity {
  readonly #db: pg.Client
  #walBefore = 0
  #walAfter = 0
  #statements: Statement[] = []
  #tables: Table[] = []

  constructor(db: pg.Client) {
    this.#db = db
  }

  async start(): Promise<void> {
    await this.#db.query('create extension if not exists pg_stat_statements')
    await this.#db.query('select pg_stat_statements_reset(), pg_stat_reset()')
    this.#walBefore = await walBytes(this.#db)
  }

  async stop(): Promise<void> {
    this.#walAfter = await walBytes(this.#db)
    const statements = await this.#db.query<Statement>(`
      select regexp_replace(query, '\\s+', ' ', 'g') as query, calls::integer, rows::integer,
             total_exec_time as "execMs", total_plan_time as "planMs", max_exec_time as "maxMs",
             shared_blks_hit::float8 as hits,
             shared_blks_read::float8 as reads, wal_bytes::float8 as "walBytes"
      from pg_stat_statements order by total_exec_time desc limit 15`)
    this.#statements = statements.rows
    const tables = await this.#db.query<Table>(`
      select regexp_replace(relname, '_?[0-9_]{6,}$', '') as name, sum(n_tup_ins)::integer as inserted,
             sum(n_tup_upd)::integer as updated, sum(n_tup_hot_upd)::integer as hot,
             sum(n_tup_del)::integer as deleted, sum(seq_scan)::integer as "seqScans",
             sum(coalesce(idx_scan, 0))::integer as "indexScans"
      from pg_stat_user_tables group by 1 having sum(n_tup_ins + n_tup_upd + n_tup_del) > 0 or sum(seq_scan) > 5
      order by sum(n_tup_ins + n_tup_upd + n_tup_del) desc`)
    this.#tables = tables.rows
  }

  text(messages: number): string {
    const each = (value: number, digits = 2) => (value / Math.max(1, messages)).toFixed(digits)
    const lines = [`WAL for one message: ${each(this.#walAfter - this.#walBefore, 0)} bytes`, '', 'Tables:']
    for (const { name, inserted, updated, hot, deleted, seqScans, indexScans } of this.#tables) {
      const share = updated === 0 ? '' : ` (${((100 * hot) / updated).toFixed(1)} % HOT)`
      lines.push(
        `  ${name}: ${each(inserted)} inserts, ${each(updated)} updates${share}, ${each(deleted)} deletes,` +
          ` ${each(indexScans)} index scans for one message; ${seqScans} sequential scans`,
      )
    }
    lines.push('', 'Statements, ms of execution and planning for one message:')
    for (const { query, calls, rows, execMs, planMs, maxMs, hits, reads, walBytes } of this.#statements) {
      lines.push(
        `  ${each(execMs, 4)} + ${each(planMs, 4)}  ${calls} calls of ${(rows / calls).toFixed(1)} rows,` +
          ` ${(execMs / calls).toFixed(2)} ms (most ${maxMs.toFixed(0)}), ${each(hits, 1)} buffers hit, ${each(reads, 2)} read,` +
          ` ${each(walBytes, 0)} WAL bytes  ${query.trim().slice(0, 90)}`,
      )
    }
    return `${lines.join('\n')}\n`
  }
}
