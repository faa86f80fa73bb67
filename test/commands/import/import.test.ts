import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { runAldis } from '../../support/cli.ts'
import { scratchFolder } from '../../support/process.ts'

const folder = scratchFolder()
afterAll(() => folder[Symbol.dispose]())

const KANNEL = `group = smsc
smsc = smpp
smsc-id = acme
host = smpp.example.net
port = 2775
smsc-username = us
smsc-password = "it's $HOME"
alt-charset = UTF-8
`
const file = (name: string, text: string | Buffer) => {
  writeFileSync(join(folder.path, name), text)
  return join(folder.path, name)
}
const output = join(folder.path, 'moved')
const read = (name: string) => readFileSync(join(output, name), 'utf8')

it('writes both files for their owner, never over others, and says what became of every line', async () => {
  const kannel = file('kannel.conf', KANNEL)
  const first = await runAldis(['import', 'kannel', kannel, '-o', output])
  expect(first).toMatchObject({ code: 0, stderr: '' })
  expect(first.stdout).toMatch(/kannel\.conf:4 +host +carriers\.acme +host\n/)
  expect(first.stdout).toMatch(/kannel\.conf:8 +alt-charset +texts are sent in the GSM alphabet or UCS-2\n/)
  expect(first.stdout).not.toContain('HOME')
  expect(read('aldis.yaml')).toContain(`  # smsc acme, ${kannel}:1\n  acme:\n    state: stopped\n`)
  expect(read('secrets.env')).toContain(`ACME_PASSWORD="it's \\$HOME"\n`)
  expect(statSync(join(output, 'secrets.env')).mode & 0o777).toBe(0o600)

  const again = await runAldis(['import', kannel, '-o', output])
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('would be overwritten; --force') })
  const forced = await runAldis(['import', kannel, '-o', output, '--force', '--json'])
  const { files, carried, dropped } = JSON.parse(forced.stdout)
  expect(files).toEqual([join(output, 'aldis.yaml'), join(output, 'secrets.env')])
  expect(carried).toContainEqual({
    file: kannel,
    line: 4,
    setting: 'host',
    object: 'carriers.acme',
    as: 'host',
  })
  expect(dropped.map(({ line }: { line: number }) => line)).toEqual([8])
})

it.each<[string, string | Buffer, readonly string[], string]>([
  ['a fault', 'group = core\nadmin-port', ['kannel'], 'faulty:2: is no line of the form name = value'],
  ['what is neither', '{}', [], 'faulty looks like neither Kannel nor Jasmin'],
  ['Latin-1', Buffer.from('group = core\nm\xe9', 'latin1'), [], 'faulty:2: is no line'],
  ['what jcli prints', 'jcli : \n#x', [], 'faulty:2: is no heading'],
])('says where %s is, and writes nothing', async (_, text, gateway, message) => {
  const elsewhere = join(folder.path, 'elsewhere')
  const { code, stdout, stderr } = await runAldis([
    'import',
    ...gateway,
    file('faulty', text),
    '-o',
    elsewhere,
  ])
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain(message)
  expect(() => statSync(elsewhere)).toThrow('ENOENT')
})

it('says that nothing was carried over', async () => {
  const empty = join(folder.path, 'empty')
  const { stdout } = await runAldis([
    'import',
    file('wap.conf', 'group = core\nwapbox-port = 13002\n'),
    '-o',
    empty,
  ])
  expect(stdout).toMatch(/^Nothing was carried over\.\n\nNot carried over, or not as it was:\nPLACE/)
})

it('names a file that is not there, and asks for one', async () => {
  expect((await runAldis(['import', 'kannel', 'gone.conf'])).stderr).toBe(
    'error: cannot read gone.conf: ENOENT\n',
  )
  expect((await runAldis(['import', 'jasmin'])).stderr).toBe(
    'error: name the file: aldis import jasmin FILE\n',
  )
})
