import { repeatedKeyword } from '../../domain/configuration/configuration.ts'
import { fault } from '../../errors.ts'
import { type InboundNumberRecord, inboundNumbers } from '../../store/inbound-numbers.ts'
import { TableKind } from './kind.ts'

/** One number has one owner. */
export const NUMBERS = new TableKind<InboundNumberRecord>({
  name: 'numbers',
  table: inboundNumbers,
  nameField: 'number',
  required: ['plan'],
  references: { plan: 'plans' },
  settingsOf: ({ servicePlanId: plan, keywords }) => ({ plan, keywords }),
  judge(given, { faults }) {
    const { keywords = [] } = given as { keywords?: readonly string[] }
    const repeated = repeatedKeyword(keywords)
    if (repeated !== null)
      faults.push(fault('keywords', 'REPEATED', `must differ in more than case: ${repeated} is repeated`))
    return given
  },
})
