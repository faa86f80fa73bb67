import { putNumberRange, putNumberRanges } from '../../../operations/configuration/number-ranges.ts'
import { deleteRow } from '../../../operations/manage/configuration-rows.ts'
import { type NumberRangeRecord, numberRanges } from '../../../store/number-ranges.ts'
import { Type } from '../../schemas/schema-builder.ts'
import { requestBody, titled } from '../../schemas/shapes.ts'
import { Mccmnc, NumberPrefix, pageQuery, Timestamp } from './fields.ts'
import { type AdminDeps, type AdminScope, addOperation } from './operations.ts'
import { addDelete, addImport, addReads, ImportResult, type Resource, rowChange } from './resource.ts'

export const NumberRangeChange = requestBody('NumberRangeChange', { mccmnc: Mccmnc }, { mccmnc: '23410' })
/** 1,000 of the longest take 54 kB; a body may have 64 KiB. */
const Import = requestBody(
  'NumberRangeImport',
  {
    ranges: Type.Array(
      Type.Object(
        { prefix: NumberPrefix, mccmnc: Mccmnc },
        { title: 'NumberRangeCreation', additionalProperties: false },
      ),
      { minItems: 1, maxItems: 1_000 },
    ),
  },
  { ranges: [{ prefix: '+4478', mccmnc: '23415' }] },
)
const Query = pageQuery(NumberPrefix, { mccmnc: Type.Optional(Mccmnc) })
const NumberRange = titled('NumberRange', {
  prefix: Type.String(),
  mccmnc: Type.String(),
  createdAt: Timestamp,
})

const RANGES: Resource<typeof NumberRange, NumberRangeRecord> = {
  table: numberRanges,
  path: '/number-ranges',
  texts: {
    show: 'Returns the network of the prefix.',
    import: 'Sets the networks of up to 1,000 number ranges at once, all or none.',
    remove: 'Its numbers belong to the network of the next shorter prefix, if any.',
  },
  key: 'prefix',
  keyField: NumberPrefix,
  item: NumberRange,
  present: (range) => range,
}

export function registerNumberRanges(scope: AdminScope, deps: AdminDeps): void {
  const { change } = deps

  addImport(scope, deps, RANGES, { body: Import, answer: ImportResult }, async (transaction, { ranges }) => {
    const created = await putNumberRanges(transaction, ranges)
    return { created, changed: ranges.length - created }
  })

  addOperation(scope, 'PUT /number-ranges/:prefix', {
    operationId: 'setNumberRange',
    summary: 'Create or replace a number range',
    description: 'Sets the network of a prefix. A number belongs to the network of its longest prefix.',
    tags: ['Number ranges'],
    params: Type.Object({ prefix: NumberPrefix }),
    body: NumberRangeChange,
    answer: NumberRange,
    statuses: [200, 201],
    run: async (request, reply) => {
      const { prefix } = request.params
      const { mccmnc } = request.body
      const { before, after } = await change(request, async (transaction) => {
        const value = await putNumberRange(transaction, { prefix, mccmnc })
        return { value, entry: rowChange(RANGES, value.before, value.after) }
      })
      reply.code(before === undefined ? 201 : 200)
      return RANGES.present(after)
    },
  })

  addReads(scope, deps, RANGES, Query)
  addDelete(scope, deps, RANGES, (transaction, prefix) => deleteRow(transaction, numberRanges, prefix))
}
