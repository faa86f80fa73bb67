import type { Database, Queryable } from '../../src/store/database.ts'

interface PlanNode {
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly PlanNode[]
}

/** How many rows of a table, or of its partitions, the statements read that `run` makes; each is run twice. */
export async function rowsRead(
  db: Database,
  table: string,
  run: (db: Queryable) => Promise<unknown>,
): Promise<number> {
  let read = 0
  const visit = (node: PlanNode): void => {
    const { 'Actual Rows': rows, 'Actual Loops': loops, 'Rows Removed by Filter': removed = 0 } = node
    if (node['Relation Name']?.startsWith(table)) read += (rows + removed) * loops
    node.Plans?.forEach(visit)
  }
  const explained = async (statement: { text: string; values: unknown[] }) => {
    const text = `explain (analyze, format json) ${statement.text}`
    const { rows } = await db.query({ text, values: statement.values })
    visit(rows[0]['QUERY PLAN'][0].Plan)
    return await db.query(statement)
  }
  await run({ query: explained } as unknown as Queryable)
  return read
}
