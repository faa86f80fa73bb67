import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { commandWords } from '../../../../console/src/pages/resources/command-words.ts'
import { operationOf } from '../../../../console/src/pages/resources/operations.ts'
import { RESOURCES } from '../../../../console/src/pages/resources/resources.ts'
import { CONSOLE_OPERATIONS, consoleOperations } from '../../../../scripts/console-operations.ts'
import { operations } from '../../../../src/commands/admin/document.ts'

test('operations.json is made of the commands as they are (otherwise: npm run generate-admin-openapi)', () => {
  expect(readFileSync(CONSOLE_OPERATIONS, 'utf8')).toBe(consoleOperations())
})

test('every operation of a resource is one of the API', () => {
  const known = new Set(operations().map(({ id }) => id))
  for (const { list, get = list, create, update = create, remove, import: load = create } of Object.values(
    RESOURCES,
  ))
    for (const id of [list, get, create, update, remove, load]) expect(known).toContain(id)
})

test('a command line has objects in one word, lists with commas, and no secret', () => {
  expect(
    commandWords(operationOf('createRoute'), {
      name: 'main',
      carriers: [{ carrier: 'acme', weight: 3 }, { carrier: 'bell' }],
      qualityFloor: { minDelivered: 80 },
    }),
  ).toEqual('route create main --carrier acme:0:3 --carrier bell --quality-floor 80'.split(' '))
  expect(
    commandWords(operationOf('updateServicePlan'), {
      servicePlanId: '65f0c0ffee65f0c0ffee65f0',
      active: false,
      route: null,
      nationalLanguages: [],
      optOut: { stopWords: ['STOP', 'ENDE'], stopReply: 'You are out.' },
    }),
  ).toEqual([
    ...'plan update 65f0c0ffee65f0c0ffee65f0 --no-active --no-route --no-national-language'.split(' '),
    ...['--opt-out', '--stop-word', 'STOP,ENDE', '--stop-reply', 'You are out.'],
  ])
  const account = commandWords(operationOf('updateAccount'), {
    accountId: '64f0c0ffee64f0c0ffee64f0',
    defaultDlrUrl: 'https://user:secret@example.com/',
    webhookHeaders: [{ name: 'X-Key', value: 'secret' }],
    webhookCredentials: { username: 'user', password: 'secret' },
  })
  expect(JSON.stringify(account)).not.toContain('secret')
  expect(account.slice(-6)).toEqual([
    '--default-dlr-url',
    { verbatim: '"$DEFAULT_DLR_URL"' },
    '--webhook-header',
    { verbatim: `'X-Key':"$X_KEY"` },
    '--webhook-basic',
    { verbatim: '"$ALDIS_WEBHOOK_BASIC"' },
  ])
})

test.each([
  ['updateCarrier', { carrier: 'acme' }, ['carrier', 'update', 'acme'], 'CARRIER'],
  ['updateSendsmsUser', { username: 'tester' }, ['sendsms-user', 'update', 'tester'], 'SENDSMS'],
] as const)('the password of %s is a variable of its own', (id, key, words, kind) => {
  expect(commandWords(operationOf(id), { ...key, password: 'secret' })).toEqual([
    ...words,
    '--password',
    { verbatim: `"$ALDIS_${kind}_PASSWORD"` },
  ])
})
