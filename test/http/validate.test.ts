import fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FilterRules, WINDOW_RULES } from '../../src/domain/lists.ts'
import { fault } from '../../src/errors.ts'
import { answerError } from '../../src/http/error-responses.ts'
import { listQuery } from '../../src/http/schemas/parameters.ts'
import { Type } from '../../src/http/schemas/schema-builder.ts'
import { parsedBy, patterned, validateRequests, withCheck } from '../../src/http/validate.ts'

const PLAN = '65f0c0ffee65f0c0ffee65f0'

interface Colours {
  readonly colour: 'red' | 'blue' | null
  readonly from: string | null
  readonly fromDate: number | null
  readonly toDate: number | null
}

const RULES: FilterRules<Colours> = {
  colour: {
    parse: (text) => (text === 'red' || text === 'blue' ? text : null),
    meaning: 'must be red or blue',
  },
  from: { parse: (text) => (/^\+[0-9]+$/.test(text) ? text : null), meaning: 'must be a number' },
  ...WINDOW_RULES,
}
const text = () => Type.String()
const FILTERS = { colour: text(), from: text(), fromDate: text(), toDate: text() }
const Strict = Type.Object(
  { limit: Type.Optional(patterned(/^[0-9]{1,3}$/, 'must be at most 3 digits')) },
  { additionalProperties: false },
)
const Params = Type.Object({
  id: parsedBy(Type.String({ description: 'shown' }), {
    parse: (id) => (id === 'x' ? null : id),
    meaning: 'must not be x',
  }),
})
const Body = withCheck(
  Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: 3 }),
      at: Type.Optional(Type.String({ format: 'date-time' })),
      size: Type.Optional(Type.Unsafe({ type: ['integer', 'null'], minimum: 1 })),
    },
    { additionalProperties: false },
  ),
  ({ name }) => (name === 'no' ? [fault('name', 'TAKEN', 'is taken')] : []),
)

let app: FastifyInstance

beforeAll(async () => {
  app = fastify()
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply))
  validateRequests(app)
  const echo = async ({ query }: { query: unknown }) => query
  app.get('/list', { schema: { querystring: listQuery(RULES, FILTERS, { needsFilter: true }) } }, echo)
  app.get('/all', { schema: { querystring: listQuery(RULES, FILTERS) } }, echo)
  app.get('/strict', { schema: { querystring: Strict } }, echo)
  app.post('/things/:id', { schema: { params: Params, body: Body } }, async () => 'done')
  app.post('/attached', { schema: { body: Body }, attachValidation: true }, async ({ faults }) => faults)
  await app.ready()
})
afterAll(() => app.close())

interface Fault {
  field: string
  code: string
  message: string
}

const brief = (faults: Fault[]) => faults.map(({ field, code }) => `${field} ${code}`)

async function get(path: string, query: string) {
  const answer = await app.inject(`${path}?${query}`)
  const body = answer.json()
  return { status: answer.statusCode, body, faults: (body.errors ?? []) as Fault[] }
}

const faultsOf = async (query: string, path = '/list') => brief((await get(path, query)).faults)

async function post(path: string, payload: unknown) {
  const headers = { 'content-type': 'application/json' }
  const answer = await app.inject({ method: 'POST', url: path, headers, payload: JSON.stringify(payload) })
  return { status: answer.statusCode, body: answer.statusCode === 200 ? answer.body : answer.json() }
}

describe('the query of a list', () => {
  const of = (query: string) => `servicePlanId=${PLAN}&${query}`

  it('passes with its texts, and what it does not know', async () => {
    const query = of('colour=red&limit=050&cursor=abc&unknown=ignored&toString[]=x')
    expect(await get('/list', query)).toMatchObject({
      status: 200,
      body: { servicePlanId: PLAN, colour: 'red', limit: 50, cursor: 'abc', unknown: 'ignored' },
    })
  })

  it('has the plus of an address that arrived as a space', async () => {
    expect((await get('/list', of('from=+155'))).body.from).toBe('+155')
    expect((await get('/list', of('from=%2B155'))).body.from).toBe('+155')
    expect(await faultsOf(of('colour=+1'))).toEqual(['colour INVALID_FORMAT'])
  })

  it('lists every fault in the order of its parameters', async () => {
    const query = 'cursor[]=x&limit=%D9%A2&fromDate=&toDate=1&toDate=2&colour=green'
    expect(await faultsOf(query)).toEqual([
      'cursor REPEATED',
      'servicePlanId REQUIRED',
      'colour INVALID_FORMAT',
      'fromDate EMPTY',
      'toDate REPEATED',
      'limit INVALID_FORMAT',
    ])
    expect(await faultsOf('servicePlanId=1&limit=0&cursor=')).toEqual([
      'servicePlanId INVALID_FORMAT',
      'limit INVALID_FORMAT',
      'cursor EMPTY',
    ])
  })

  it('says what a filter must be', async () => {
    const { faults } = await get('/list', of('colour=green'))
    expect(faults.map(({ message }) => message)).toEqual(['must be red or blue'])
  })

  it('needs a filter besides the plan, and names those there are', async () => {
    const message = 'needs one of colour, from, fromDate, toDate or cursor'
    const { faults } = await get('/list', of('limit=5&status=SENT'))
    expect(faults).toEqual([{ field: 'request', code: 'FILTER_REQUIRED', message }])
    expect(await faultsOf(of('colour=blue'))).toEqual([])
    expect(await faultsOf(of('cursor=x'))).toEqual([])
    expect(await faultsOf(of('limit=5'), '/all')).toEqual([])
  })

  it('takes a filter in brackets for a fault of that filter, not for none', async () => {
    expect(await faultsOf(of('colour[]=red'))).toEqual(['colour REPEATED'])
    expect(await faultsOf(of('cursor[0]=x'))).toEqual(['cursor REPEATED'])
  })

  it('has the faults of its window between those of its filters and of its page', async () => {
    const window = 'fromDate=2026-01-01T00:00:00Z&toDate=2026-02-01T00:00:00.001Z'
    expect(await faultsOf(of(`cursor=&limit=x&${window}&colour=`))).toEqual([
      'colour EMPTY',
      'toDate RANGE_TOO_LARGE',
      'limit INVALID_FORMAT',
      'cursor EMPTY',
    ])
  })
})

it('a query without unknown parameters refuses brackets as unknown, and says of others what every query says', async () => {
  expect(await faultsOf('limit[]=1', '/strict')).toEqual(['limit[] UNKNOWN_FIELD'])
  expect(await faultsOf('limit=&none=', '/strict')).toEqual(['none UNKNOWN_FIELD', 'limit EMPTY'])
  expect(await faultsOf('limit=1&limit=2', '/strict')).toEqual(['limit REPEATED'])
  expect((await get('/strict', 'limit=1000')).faults[0]!.message).toBe('must be at most 3 digits')
})

describe('a body', () => {
  it.each<[unknown, string[]]>([
    [{}, ['name REQUIRED']],
    [[], ['request WRONG_TYPE']],
    [{ name: '' }, ['name TOO_SHORT']],
    [{ name: '😀😀😀😀' }, ['name TOO_LONG']],
    [{ name: 'no', at: 'today' }, ['at INVALID_FORMAT', 'name TAKEN']],
    [{ name: 1, size: 0, old: 1 }, ['old UNKNOWN_FIELD', 'name WRONG_TYPE', 'size OUT_OF_RANGE']],
  ])('%j', async (payload, faults) => {
    const { status, body } = await post('/things/1', payload)
    expect([status, brief(body.errors)]).toEqual([400, faults])
  })

  it('has types and formats in words', async () => {
    const { body } = await post('/things/1', { name: 5, size: 'x', at: '2026-02-30T00:00:00Z' })
    expect(body.errors.map(({ message }: Fault) => message)).toEqual([
      'must be a string',
      'must be an RFC 3339 date and time with offset',
      'must be an integer or null',
    ])
  })

  it('lists 50 faults, none further', async () => {
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`f${n}`, n]))
    expect((await post('/things/1', many)).body.errors).toHaveLength(50)
  })

  it('has its faults listed behind those of the path', async () => {
    const { body } = await post('/things/x', { name: 1 })
    expect(body.errors).toEqual([
      { field: 'id', code: 'INVALID_FORMAT', message: 'must not be x' },
      { field: 'name', code: 'WRONG_TYPE', message: 'must be a string' },
    ])
    expect(await post('/things/1', { name: 'abc' })).toEqual({ status: 200, body: 'done' })
  })

  it('of a route that attaches its validation is left to the handler', async () => {
    const { status, body } = await post('/attached', {})
    expect([status, brief(JSON.parse(body))]).toEqual([200, ['name REQUIRED']])
  })
})
