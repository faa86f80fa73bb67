import fastify, { type FastifyInstance, type InjectOptions } from 'fastify'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { answerError } from '../../../../src/http/error-responses.ts'
import { pageQuery, RowId } from '../../../../src/http/routes/admin/fields.ts'
import type { AdminDeps } from '../../../../src/http/routes/admin/operations.ts'
import { addDelete, addIssue, addReads, type Resource } from '../../../../src/http/routes/admin/resource.ts'
import { Type } from '../../../../src/http/schemas/schema-builder.ts'
import { validateRequests } from '../../../../src/http/validate.ts'
import type { Transaction } from '../../../../src/store/database.ts'

interface Row {
  readonly id: number
  readonly title: string
  readonly hidden: string
}

const Note = Type.Object({ noteId: Type.Integer(), title: Type.String() })
const Body = Type.Object({ title: Type.String() }, { additionalProperties: false })
const NOTES: Resource<typeof Note, Row> = {
  table: {
    noun: 'release note',
    find: async (_db, noteId) => rows.find(({ id }) => id === Number(noteId)),
    list: async (_db, { after, limit }, { title }: { title?: string }) =>
      rows.filter((each) => each.id > Number(after) && (title ?? each.title) === each.title).slice(0, limit),
  },
  path: '/release-notes',
  texts: {},
  key: 'noteId',
  keyField: RowId,
  item: Note,
  keyOf: ({ id }) => String(id),
  present: ({ id, title }) => ({ noteId: id, title }),
}

/** Without a database, the rows being in memory. */
const DEPS = {
  change: async (_request, work) => {
    const { value, entry: change } = await work({} as Transaction)
    changes.push(change)
    return value
  },
} as AdminDeps
const changes: unknown[] = []

let app: FastifyInstance
let rows: Row[]
const row = (id: number, title: string): Row => ({ id, title, hidden: 'secret' })
const tags: unknown[] = []

beforeAll(async () => {
  app = fastify()
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply))
  validateRequests(app)
  app.register(
    async (scope) => {
      scope.addHook('onRoute', ({ method, schema }) => {
        if (method !== 'HEAD') tags.push(schema?.tags)
      })
      addIssue(scope, DEPS, NOTES, {
        body: Body,
        answer: Type.Object({ ...Note.properties, token: Type.String() }),
        issue: async (_transaction, { title }) => ({ row: row(7, title), secret: { token: 'once' } }),
      })
      addReads(scope, DEPS, NOTES, pageQuery(RowId, { title: Type.Optional(Type.String()) }))
      addDelete(scope, DEPS, NOTES, async (_transaction, noteId) => {
        rows = rows.filter(({ id }) => id !== Number(noteId))
      })
    },
    { prefix: '/admin/v1' },
  )
  await app.ready()
})
afterAll(() => app.close())
beforeEach(() => {
  changes.length = 0
  rows = [row(1, 'one'), row(2, 'two'), row(3, 'three')]
})

async function request(method: InjectOptions['method'] & string, path: string, payload?: object) {
  const answer = await app.inject({ method, url: `/admin/v1${path}`, ...(payload && { payload }) })
  return { status: answer.statusCode, location: answer.headers.location, body: answer.body && answer.json() }
}

test('what is created is shown with its place and its secret, which is not in the audit log', async () => {
  expect(await request('POST', '/release-notes', { title: 'new' })).toEqual({
    status: 201,
    location: '/admin/v1/release-notes/7',
    body: { noteId: 7, title: 'new', token: 'once' },
  })
  const after = { noteId: 7, title: 'new' }
  expect(changes).toEqual([{ objectType: 'release-note', objectId: '7', before: null, after }])
})

test.each([
  ['?limit=2', [1, 2], '2'],
  ['?limit=2&after=2', [3], null],
  ['?limit=3', [1, 2, 3], null],
  ['', [1, 2, 3], null],
  ['?title=two', [2], null],
])('a list with %j has the items %j and goes on behind %j', async (query, ids, nextAfter) => {
  const { status, body } = await request('GET', `/release-notes${query}`)
  expect(status).toBe(200)
  expect(body.items.map(({ noteId }: { noteId: number }) => noteId)).toEqual(ids)
  expect(body.nextAfter).toBe(nextAfter)
})

test('one is shown without what its schema does not name; one that is not there is 404 by its name', async () => {
  expect(await request('GET', '/release-notes/2')).toMatchObject({
    status: 200,
    body: { noteId: 2, title: 'two' },
  })
  expect(await request('GET', '/release-notes/9')).toMatchObject({
    status: 404,
    body: { errorMessage: 'No such release note' },
  })
})

test('what is deleted is gone, and there is nothing to say', async () => {
  const { status, body } = await request('DELETE', '/release-notes/2')
  expect([status, body]).toEqual([204, ''])
  expect(changes).toMatchObject([{ before: { noteId: 2, title: 'two' }, after: null }])
  expect(rows.map(({ id }) => id)).toEqual([1, 3])
})

test.each([
  ['POST', '/release-notes', { name: 'new' }],
  ['GET', '/release-notes/two', undefined],
  ['GET', '/release-notes?limit=0', undefined],
  ['GET', '/release-notes?after=two', undefined],
  ['DELETE', '/release-notes/two', undefined],
] as const)('%s %s %j is refused', async (method, path, payload) => {
  expect((await request(method, path, payload)).status).toBe(400)
  expect(changes).toEqual([])
  expect(rows).toHaveLength(3)
})

test('the document has every route under the plural of the name', () => {
  expect(tags).toEqual(Array(4).fill(['Release notes']))
})
