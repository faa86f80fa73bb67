import type { LivingNode, NodeReport } from '../domain/nodes.ts'
import type { Queryable } from '../store/database.ts'
import { listNodes } from '../store/node-reports.ts'

/** The node that answers, as it is now; null: it has nothing to report. */
export type OwnReport = () => { readonly nodeId: number; readonly report: NodeReport } | null

/** The living nodes with their last reports. That of the node that answers is taken from its memory. */
export async function readNodes(db: Queryable, ownReport: OwnReport): Promise<LivingNode[]> {
  const own = ownReport()
  const nodes = await listNodes(db)
  return nodes.map((node) =>
    node.nodeId === own?.nodeId ? { ...node, reportAgeMs: 0, report: own.report } : node,
  )
}
