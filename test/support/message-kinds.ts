import type { Status } from '../../src/domain/messages/messages.ts'
import type { Queryable } from '../../src/store/database.ts'
import { noteKindsInstead, type OfAKind } from '../../src/store/message-kinds.ts'

interface RowOfAKind extends Omit<OfAKind, 'planId' | 'msgId' | 'status'> {
  readonly plan_id: number
  readonly msg_id: string
  readonly status: string
}

/** After rows were written by SQL alone. Triggers have done it but on Citus, where there are none. */
export async function noteKindsOf(db: Queryable, rows: readonly RowOfAKind[]): Promise<void> {
  await noteKindsInstead(
    db,
    rows.map(({ plan_id: planId, msg_id: msgId, status, ...kind }) => ({
      ...kind,
      planId,
      msgId,
      status: status as Status,
    })),
  )
}
