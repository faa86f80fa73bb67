import { Type } from 'typebox'
import { ALARM_NAMES, type AlarmCondition, whatToDo } from '../../../domain/alarms.ts'
import { AppError } from '../../../errors.ts'
import { listAlarms } from '../../../store/alarms.ts'
import { instant, Nullable, oneOf, titled } from '../../schemas/shapes.ts'
import { Timestamp } from './fields.ts'
import { addOperation } from './operations.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

const Alarm = titled('Alarm', {
  name: oneOf(ALARM_NAMES),
  object: Type.String({ description: 'what it is about; empty: the whole installation' }),
  summary: Type.String(),
  value: Nullable(Type.Number({ description: 'how bad it is, in the unit of its alarm' })),
  since: Timestamp,
  raisedAt: Nullable(
    instant({ description: 'when the receiver of alarms was to be told; null: it was not' }),
  ),
  whatToDo: Type.String(),
})

/** Everything that is wrong now, whether or not anybody is told. */
export function registerAlarms(scope: AdminScope, { reads, readAlarms }: AdminDeps): void {
  addOperation(scope, 'GET /alarms', {
    operationId: 'listAlarms',
    summary: 'List the alarms',
    description:
      'Returns what is wrong now in the whole installation. A condition that has lasted for 30 s is also told by a webhook, if the nodes have ALARM_WEBHOOK_URL.',
    tags: ['Alarms'],
    answer: titled('Alarms', { items: Type.Array(Alarm) }),
    run: async () => {
      if (readAlarms === undefined) throw new AppError('NOT_FOUND')
      const conditions = (await readAlarms()).filter(({ isUncertain }) => !isUncertain)
      const told = await listAlarms(reads)
      const raisedAt = ({ name, object }: AlarmCondition) =>
        told.find((one) => one.name === name && one.object === object && one.state === 'raised')?.raisedAt ??
        null
      return {
        items: conditions.map((condition) => ({
          ...condition,
          raisedAt: raisedAt(condition),
          whatToDo: whatToDo(condition.name),
        })),
      }
    },
  })
}
