import { expect, test } from 'vitest'
import { adminServerOfFile } from '../../../support/admin-server.ts'

/** Configuration files that are applied at once. */

const server = await adminServerOfFile()

const PREFIXES = Array.from({ length: 500 }, (_, n) => `+4670${100 + n}`)
const NETWORKS = ['24001', '24002', '24003', '24004']

/** Applies one file for each network, and returns the sorted statuses. */
async function applyAll(headers: Readonly<Record<string, string>>): Promise<number[]> {
  const answers = await Promise.all(
    NETWORKS.map((mccmnc) =>
      fetch(`${server.baseUrl}/admin/v1/configuration/apply`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${server.operatorToken}`,
          'content-type': 'application/json',
          ...headers,
        },
        body: JSON.stringify({
          ranges: Object.fromEntries(PREFIXES.map((prefix) => [prefix, { mccmnc }])),
        }),
      }),
    ),
  )
  return answers.map(({ status }) => status).sort()
}

async function networks(): Promise<string[]> {
  const { body } = await server.request('GET', '/configuration')
  return Object.values<{ mccmnc: string }>(body.configuration.ranges).map(({ mccmnc }) => mccmnc)
}

test('one of those that saw the same version is applied, the others get 412', async () => {
  const { body } = await server.request('GET', '/configuration')
  expect(await applyAll({ 'if-match': `"${body.version}"` })).toEqual([200, 412, 412, 412])
  const found = await networks()
  expect([found.length, new Set(found).size]).toEqual([500, 1])
})

test('without a version all are applied, and the last one is whole', async () => {
  expect(await applyAll({})).toEqual([200, 200, 200, 200])
  const found = await networks()
  expect([found.length, new Set(found).size]).toEqual([500, 1])
})
