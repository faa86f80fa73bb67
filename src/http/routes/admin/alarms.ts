import { ALARM_NAMES, whatToDo } from '../../../domain/alarms.ts'
import { AppError, conflict } from '../../../errors.ts'
import { listAlarms } from '../../../store/alarms.ts'
import { Type } from '../../schemas/schema-builder.ts'
import { instant, Nullable, nullableInteger, nullableString, oneOf, titled } from '../../schemas/shapes.ts'
import { Timestamp } from './fields.ts'
import { type AdminDeps, type AdminScope, addOperation } from './operations.ts'

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

const TestAlarm = titled('TestAlarm', {
  alarmId: Type.String({ format: 'uuid' }),
  destination: Type.String({ description: 'Scheme, host and port of ALARM_WEBHOOK_URL' }),
  delivered: Type.Boolean({ description: 'It was answered 2xx' }),
  responseStatus: nullableInteger(),
  latencyMs: Type.Integer({ description: 'From the DNS look-up to the end of the answer' }),
  error: nullableString({ description: 'Why it was not delivered' }),
  responseHead: nullableString({ description: 'The first 1 KiB of the answer' }),
})

/** Everything that is wrong now, whether or not anybody is told; and a test of whether somebody is. */
export function registerAlarms(scope: AdminScope, deps: AdminDeps): void {
  registerList(scope, deps)
  registerTest(scope, deps)
}

function registerTest(scope: AdminScope, { change, testAlarms }: AdminDeps): void {
  addOperation(scope, 'POST /alarms/test', {
    operationId: 'sendTestAlarm',
    summary: 'Test the receiver of alarms with one that never happened',
    description:
      'Sends a signed alarm of the name test from this node to ALARM_WEBHOOK_URL, once, and returns the result within 15 s. One a second. Refused if the variable is not set.',
    tags: ['Alarms'],
    answer: TestAlarm,
    failures: [429],
    run: async (request) => {
      if (testAlarms == null) throw conflict('this node has no ALARM_WEBHOOK_URL')
      const answer = await testAlarms.send()
      const { alarmId, destination, delivered, responseStatus } = answer
      const after = { destination, delivered, responseStatus }
      // Nothing is stored of the alarm itself: only its row of the audit log.
      return change(request, async () => ({
        value: answer,
        entry: { objectType: 'alarm', objectId: alarmId, before: null, after },
      }))
    },
  })
}

function registerList(scope: AdminScope, { reads, readAlarms }: AdminDeps): void {
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
      const alarms = await listAlarms(reads)
      const items = conditions.map((condition) => {
        const { name, object } = condition
        const raised = alarms.find(
          (one) => one.name === name && one.object === object && one.state === 'raised',
        )
        const { since, raisedAt } = raised ?? { ...condition, raisedAt: null }
        return { ...condition, since, raisedAt, whatToDo: whatToDo(name) }
      })
      return { items }
    },
  })
}
