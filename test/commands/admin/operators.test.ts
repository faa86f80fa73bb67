import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdminServer, startAdminServer } from '../../support/admin-server.ts'
import { runAldis } from '../../support/cli.ts'

let server: AdminServer
beforeAll(async () => {
  server = await startAdminServer()
})
afterAll(() => server[Symbol.asyncDispose]())

const run = (args: string[], token = server.operatorToken) =>
  runAldis(args, { env: { ALDIS_URL: server.baseUrl, ALDIS_OPERATOR_TOKEN: token } })

async function issue(name: string, role: string): Promise<string> {
  const { code, stdout } = await run(['operator-token', 'create', name, '--role', role, '--json'])
  expect(code).toBe(0)
  return JSON.parse(stdout).token
}

test('an operator is named by a token of its own, and the audit log names it', async () => {
  const token = await issue('Jane Doe', 'admin')
  expect(await run(['account', 'create', '--name', 'Example'], token)).toMatchObject({ code: 0 })
  const { stdout } = await run(['audit-log', 'list', '--token', 'Jane Doe'])
  const [head, line, ...more] = stdout.trimEnd().split('\n')
  expect(head).toMatch(/^AT +TOKEN +ADDRESS +OPERATION +OBJECT TYPE +OBJECT ID$/)
  expect(line).toMatch(/^20\S+Z +Jane Doe +127\.0\.0\.1 +createAccount +account +[0-9a-f]{24}$/)
  expect(more).toEqual([])
  const json = await run(['audit-log', 'list', '--object-type', 'account', '--json'])
  expect(JSON.parse(json.stdout).items).toMatchObject([{ before: null, after: { name: 'Example' } }])
})

test('support may read, and is told why not more; nobody has the token any more once it is deleted', async () => {
  const token = await issue('John Roe', 'support')
  expect(await run(['account', 'list'], token)).toMatchObject({ code: 0 })
  expect(await run(['account', 'create', '--name', 'Other'], token)).toMatchObject({
    code: 1,
    stderr: 'error: The operator token John Roe has the role support, which may only read\n',
  })
  const { items } = JSON.parse((await run(['operator-token', 'list', '--json'])).stdout)
  const { operatorTokenId } = items.find(({ name }: { name: string }) => name === 'John Roe')
  expect(await run(['operator-token', 'delete', String(operatorTokenId)])).toMatchObject({ code: 0 })
  expect((await run(['account', 'list'], token)).stderr).toContain('does not know this operator token')
})
