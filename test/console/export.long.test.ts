import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { messageId } from '../../src/domain/identifiers.ts'
import { openConsole } from '../support/console-page.ts'
import { startService } from '../support/service.ts'

/** As the page says. */
const MOST_ROWS = 100_000

test('an export ends at 100,000 messages, and says so', async () => {
  await using service = await startService()
  const now = Date.now()
  const ids = Array.from({ length: MOST_ROWS + 1 }, (_, index) => messageId(now - index, randomBytes(9), 7))
  await service.db.query(
    `insert into messages (plan_id, msg_id, sender, recipient, status, country, segments, updated_at, body)
     select $1, unnest($2::uuid[]), 'Aldis', '+15551230000', 'SENT', 'US', 1, now(), 'text'`,
    [await service.planKey(), ids],
  )
  await using opened = await openConsole(service.app.url, { tokens: [service.operatorToken] })
  const { page } = opened
  await opened.goto('/admin/messages')
  const [file] = await Promise.all([
    page.waitForEvent('download', { timeout: 0 }),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ])
  const lines = (await readFile(await file.path(), 'utf8')).trimEnd().split('\r\n')
  expect(lines.slice(1).map((line) => line.slice(0, line.indexOf(',')))).toEqual(ids.slice(0, MOST_ROWS))
  await page.getByText('More match: a file has at most 100,000').waitFor()
  expect(opened.faults).toEqual([])
})
