import { inSlices } from '../slices.ts'
import type { Queryable } from './database.ts'
import { eachRow, inJsonChunks, type JsonChunk } from './json-chunks.ts'

interface Description<Row, Columns> {
  /** What people call one of its rows: `routing rule`. */
  readonly noun: string
  readonly table: string
  /** What a row is read as besides its columns and `createdAt`, in SQL by property. The table is `t`. */
  readonly reads: { readonly [Property in Exclude<keyof Row, keyof Columns | 'createdAt'>]: string } & {
    readonly [Property in keyof Row]?: string
  }
  /** The tables that `reads` needs in addition to `t`. */
  readonly joins?: string
  /** The column of the key by which a row is known outside. Lists are sorted by it. */
  readonly key: string
  /** Converts the key to the form of its column. */
  readonly keyOf?: (key: string) => string | number
  /** Finds the row that $1 names. Default: the key equals $1. */
  readonly named?: string
  /** The column of each property that is written, and read unless it is one of `hidden`. */
  readonly columns: { readonly [Property in keyof Columns]-?: string }
  readonly hidden?: readonly (keyof Columns)[]
  /** Condition of the rows that `count` counts. Default: all. */
  readonly counted?: string
  /** Conditions of a list, by the query parameter that asks for them; `?` stands for its value. */
  readonly filters?: Readonly<Record<string, string>>
}

/** Rows that are read at once: some 0.5 MB of JSON, which are garbage before the next ones are read. */
const PAGE = 2_500

/** A filter by the beginning of the name, in any case. The collation is that of the index, which no other can serve. */
export const NAME_BEGINS = 'lower(t.name) collate "C" ^@ lower(?)'

/** A table with any columns: those that it does not have are ignored. */
export type AnyTable<Row extends object = object> = Pick<
  ConfigurationTable<Row, object>,
  | 'noun'
  | 'all'
  | 'each'
  | 'find'
  | 'list'
  | 'count'
  | 'insert'
  | 'insertAll'
  | 'update'
  | 'updateAll'
  | 'delete'
  | 'deleteAll'
>

/**
 * The statements that all configuration tables share. Each reads a row as its description says. Nothing in their text comes
 * from a request. A key that is taken, or a row that others refer to, is reported as the database's constraint violation.
 */
export class ConfigurationTable<Row extends object, Columns extends object> {
  readonly noun: string
  readonly #of: Description<Row, Columns>
  readonly #list: string
  readonly #named: string
  readonly #keyOf: (key: string) => string | number
  readonly #keyProperty: keyof Row

  constructor(description: Description<Row, Columns>) {
    this.noun = description.noun
    this.#of = description
    this.#named = description.named ?? `t.${description.key} = $1`
    this.#keyOf = description.keyOf ?? ((key) => key)
    const { key, columns } = description
    const reads = Object.entries<string | undefined>(description.reads).map(
      ([name, sql]) => `${sql} as "${name}"`,
    )
    const [property] =
      Object.entries<string>(columns).find(([, column]) => column === key) ??
      Object.entries<string | undefined>(description.reads).find(([, sql]) => sql === `t.${key}`)!
    this.#keyProperty = property as keyof Row
    this.#list = [this.columnList(description.hidden), 't.created_at as "createdAt"', ...reads].join()
  }

  /** The SELECT list of the columns of a row: `t.plan_id as "planId"`. */
  columnList(without: readonly (keyof Columns)[] = []): string {
    const own = Object.entries<string>(this.#of.columns).filter(
      ([name]) => !without.includes(name as keyof Columns),
    )
    return own.map(([name, column]) => `t.${column} as "${name}"`).join()
  }

  /** Every row, by key. */
  async all(db: Queryable): Promise<Row[]> {
    const rows: Row[] = []
    await this.each(db, (row) => rows.push(row))
    return rows
  }

  /**
   * Calls `use` for every row, by key, in slices. There may be 200,000: they are read page by page, and none is kept. The pages are
   * of one state in a transaction that sees one, or that keeps others from writing.
   */
  async each(db: Queryable, use: (row: Row) => void): Promise<void> {
    const { table, key } = this.#of
    const page = `${this.#select(`${table} t`)} where t.${key} > $1 order by t.${key} limit ${PAGE}`
    let after = ''
    let read = 0
    const useDated = (row: Row & { createdAt: Date }) => {
      row.createdAt = new Date(row.createdAt)
      read += 1
      after = String(row[this.#keyProperty])
      use(row)
    }
    do {
      read = 0
      const { rows } = await db.query<JsonChunk>(inJsonChunks('', page), [this.#keyOf(after)])
      await inSlices(eachRow(rows, useDated))
    } while (read === PAGE)
  }

  /** Adds rows as `insert` does. Rows that have values for the same properties go in one statement. */
  async insertAll(db: Queryable, rows: readonly Columns[]): Promise<void> {
    for (const [names, alike] of this.#alike(rows, (row) => row)) {
      const columns = names.map((name) => this.#of.columns[name])
      await db.query(
        `insert into ${this.#of.table} (${columns}) overriding system value
         select ${columns} from json_populate_recordset(null::${this.#of.table}, $1)`,
        [JSON.stringify(alike.map((row) => this.#byColumn(names, row)))],
      )
    }
  }

  /** Writes the given properties of the rows with these keys. Those of the same properties go in one statement. */
  async updateAll(
    db: Queryable,
    changes: readonly { readonly key: string; readonly change: Partial<Columns> }[],
  ): Promise<void> {
    const { table, key } = this.#of
    for (const [names, alike] of this.#alike(changes, ({ change }) => change)) {
      const set = names.map((name) => `${this.#of.columns[name]} = w.${this.#of.columns[name]}`)
      const wanted = alike.map((each) => ({
        ...this.#byColumn(names, each.change),
        [key]: this.#keyOf(each.key),
      }))
      await db.query(
        `update ${table} t set ${set} from json_populate_recordset(null::${table}, $1) w where t.${key} = w.${key}`,
        [JSON.stringify(wanted)],
      )
    }
  }

  /** Deletes the rows with these keys. */
  async deleteAll(db: Queryable, keys: readonly string[]): Promise<void> {
    const { table, key } = this.#of
    await db.query(`delete from ${table} where ${key} = any ($1)`, [keys.map(this.#keyOf)])
  }

  /** Adds a row. Properties without a column are ignored; those without a value get the column's default. */
  async insert(db: Queryable, row: Columns): Promise<Row> {
    const { columns, values } = this.#written(row)
    const places = columns.map((_, index) => `$${index + 1}`)
    const added = `insert into ${this.#of.table} (${columns}) overriding system value values (${places}) returning *`
    const { rows } = await db.query<Row>(`with t as (${added}) ${this.#select('t')}`, values)
    return rows[0]!
  }

  /** `lock` holds the row against other writers until the transaction ends. */
  async find(db: Queryable, key: string, lock?: 'for update'): Promise<Row | undefined> {
    const locking = lock === undefined ? '' : `${lock} of t`
    const { rows } = await db.query<Row>(
      `${this.#select(`${this.#of.table} t`)} where ${this.#named} ${locking}`,
      [this.#keyOf(key)],
    )
    return rows[0]
  }

  /** At most `limit` rows behind the key `after`, '' for the first. Parameters that are not filters are ignored. */
  async list(
    db: Queryable,
    { after, limit }: { after: string; limit: number },
    parameters: object = {},
  ): Promise<Row[]> {
    const { table, key, filters = {} } = this.#of
    const asked = Object.entries(parameters).filter(([name, value]) => name in filters && value !== undefined)
    const conditions = asked.map(([name], index) => ` and ${filters[name]!.replace('?', `$${index + 3}`)}`)
    const { rows } = await db.query<Row>(
      `${this.#select(`${table} t`)} where t.${key} > $1${conditions.join('')} order by t.${key} limit $2`,
      [this.#keyOf(after), limit, ...asked.map(([, value]) => value)],
    )
    return rows
  }

  /** Writes the given properties and returns the changed row. Undefined when there is none. */
  async update(db: Queryable, key: string, change: Partial<Columns>): Promise<Row | undefined> {
    const { columns, values } = this.#written(change)
    if (columns.length === 0) return this.find(db, key)
    const set = columns.map((column, index) => `${column} = $${index + 2}`)
    const changed = `update ${this.#of.table} t set ${set} where ${this.#named} returning t.*`
    const { rows } = await db.query<Row>(`with t as (${changed}) ${this.#select('t')}`, [
      this.#keyOf(key),
      ...values,
    ])
    return rows[0]
  }

  /** False when there is none. */
  async delete(db: Queryable, key: string): Promise<boolean> {
    const { rowCount } = await db.query(`delete from ${this.#of.table} t where ${this.#named}`, [
      this.#keyOf(key),
    ])
    return rowCount === 1
  }

  /** Ends a token for good. A repeated call keeps the first time. False when there is none. */
  async revoke(db: Queryable, key: string): Promise<boolean> {
    const set = 'revoked_at = coalesce(revoked_at, now())'
    const { rowCount } = await db.query(`update ${this.#of.table} t set ${set} where ${this.#named}`, [
      this.#keyOf(key),
    ])
    return rowCount === 1
  }

  async count(db: Queryable): Promise<number> {
    const { table, counted = 'true' } = this.#of
    const { rows } = await db.query<{ count: number }>(
      `select count(*)::integer as count from ${table} where ${counted}`,
    )
    return rows[0]!.count
  }

  #select(from: string): string {
    return `select ${this.#list} from ${from} ${this.#of.joins ?? ''}`
  }

  /** Items grouped by the properties that they have values for. Items without values are left out. */
  #alike<Item>(items: readonly Item[], rowOf: (item: Item) => Partial<Columns>) {
    const groups = Map.groupBy(items, (item) => this.#given(rowOf(item)).join())
    groups.delete('')
    return [...groups.values()].map((group) => [this.#given(rowOf(group[0]!)), group] as const)
  }

  #given(row: Partial<Columns>): (keyof Columns)[] {
    const names = Object.keys(this.#of.columns) as (keyof Columns)[]
    return names.filter((name) => row[name] !== undefined)
  }

  /** The row by column. */
  #byColumn(names: readonly (keyof Columns)[], row: Partial<Columns>): Record<string, unknown> {
    return Object.fromEntries(names.map((name) => [this.#of.columns[name], row[name]]))
  }

  #written(row: Partial<Columns>): { columns: string[]; values: unknown[] } {
    const given = this.#given(row)
    return {
      columns: given.map((name) => this.#of.columns[name]),
      values: given.map((name) => row[name]),
    }
  }
}
