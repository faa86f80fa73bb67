import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Simulator, startSimulator } from '../src/simulator/simulator.ts'
import { startAdminServer } from './support/admin-server.ts'
import { ALDIS, sectionOf, textsOf } from './support/document-commands.ts'
import { eventually } from './support/eventually.ts'
import { ROOT, scratchFolder, start } from './support/process.ts'
import { startService } from './support/service.ts'

/** What docs/from-kannel.md and docs/from-jasmin.md tell to type, typed. The short form of all typed documents is typed-documents.test.ts. */

interface Gateway extends AsyncDisposable {
  readonly url: string
  readonly operatorToken: string
  /** The file of the document, with hosts that are there. */
  withHosts(text: string): string
  check(): Promise<void>
}

const SERVICES: Readonly<Record<string, () => Promise<Gateway>>> = {
  /** A whole service with two carriers: what is sent goes to the one that Kannel would have chosen. */
  async 'docs/from-kannel.md'() {
    const service = await startService({ app: { cgiSendsms: true } })
    const carriers = await Promise.all(
      ['acme', 'world'].map(() => startSimulator({ port: 0, recordSubmissions: true })),
    )
    const [acme, world] = carriers as [Simulator, Simulator]
    return {
      url: service.app.url,
      operatorToken: service.operatorToken,
      withHosts: (text) =>
        text
          .replace('smpp.acme.example\nport = 2775', `127.0.0.1\nport = ${acme.port}`)
          .replace('smpp.world.example\nport = 2775', `127.0.0.1\nport = ${world.port}`),
      async check() {
        await eventually(() => acme.submissions.length > 0)
        expect(acme.submissions.map(({ destination }) => destination)).toEqual(['358401234567'])
        expect(world.submissions).toEqual([])
      },
      async [Symbol.asyncDispose]() {
        await service[Symbol.asyncDispose]()
        await Promise.all(carriers.map((carrier) => carrier.stop()))
      },
    }
  },
  async 'docs/from-jasmin.md'() {
    const server = await startAdminServer()
    return {
      url: server.baseUrl,
      operatorToken: server.operatorToken,
      withHosts: (text) => text,
      check: async () => {},
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    }
  },
}

/** It counts what others have changed, too. */
const withoutVersion = (text: string) => text.replace(/(configuration version) [0-9]+/, '$1')

test.each(Object.entries(SERVICES))(
  '%s tells to type what works, and shows what it prints',
  async (path, startGateway) => {
    const walk = sectionOf(readFileSync(join(ROOT, path), 'utf8'), '## A walk through it')
    await using gateway = await startGateway()
    using folder = scratchFolder()
    const [setting, ...commands] = textsOf(walk, 'sh')
    const [url, token] = [...setting!.matchAll(/(ALDIS_\w+)=/g)].map(([, name]) => name!) as [string, string]
    const source = /^aldis import \w+ (\S+)/m.exec(commands[0]!)![1]!
    writeFileSync(join(folder.path, source), gateway.withHosts(textsOf(walk, 'ini')[0]!))
    // One shell types all of them, so that what a command sets is there for the next.
    const typed = commands.map((command, index) => `{ ${command}} > out.${index} 2>&1`).join('\n')
    const env = { [url]: gateway.url, [token]: gateway.operatorToken }
    await using running = start('/bin/sh', ['-c', `${ALDIS}\n${typed}`], { cwd: folder.path, env })
    expect(await running.exited).toMatchObject({ stderr: '' })
    const printed = commands.map((_, index) =>
      readFileSync(join(folder.path, `out.${index}`), 'utf8').trimEnd(),
    )
    // What is shown follows what was typed.
    const shown = /^```sh\n((?:(?!```).*\n)+)```\n\n```text\n((?:(?!```).*\n)+)```$/gm
    for (const [, command, text] of walk.matchAll(shown))
      expect(withoutVersion(printed[commands.indexOf(command!)]!)).toBe(withoutVersion(text!.trimEnd()))
    expect(printed.join('\n')).not.toMatch(/^error/m)
    await gateway.check()
  },
)
