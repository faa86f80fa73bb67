/**
 * Runs the receivers of docs/guides/verify-webhooks.md against an `aldis dev` of its own: each takes a signed event, and
 * refuses one that is signed with another secret. Says which language is not on this machine. Exits 1 if a receiver is wrong.
 */
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { requestAdmin } from '../src/commands/admin/client.ts'
import { blocksOf } from '../test/support/document-commands.ts'
import { freePort, type Ready, ROOT, scratchFolder, startDev } from '../test/support/process.ts'

const RECEIVERS: Readonly<Record<string, (port: number) => readonly [command: string, ...args: string[]]>> = {
  'receiver.py': () => ['python3', 'receiver.py'],
  'receiver.go': () => ['go', 'run', 'receiver.go'],
  'receiver.php': (port) => ['php', '-S', `127.0.0.1:${port}`, 'receiver.php'],
  'Receiver.java': () => ['java', 'Receiver.java'],
}
/** `go run` compiles first. */
const MOST_ATTEMPTS = 60
/** A test event a second is allowed. */
const PAUSE_MS = 1_100

/** What the receiver answers to a signed event; null: it never answered. */
async function answerOf(ready: Ready, port: number): Promise<number | null> {
  const connection = { url: ready.baseUrl, operatorToken: ready.operatorToken }
  const body = { servicePlanId: ready.servicePlanId, url: `http://127.0.0.1:${port}/` }
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
    const sent = requestAdmin(connection, 'POST', '/webhook-tests', body)
    const { responseStatus } = (await sent) as { responseStatus: number | null }
    await sleep(PAUSE_MS)
    if (responseStatus !== null) return responseStatus
  }
  return null
}

async function run(folder: string, ready: Ready, file: string, secret: string): Promise<number | null> {
  const port = await freePort()
  const [command, ...args] = RECEIVERS[file]!(port)
  const env = { ...process.env, PORT: String(port), ALDIS_WEBHOOK_SECRETS: secret }
  const receiver = spawn(command, args, { cwd: folder, env, stdio: 'ignore', detached: true })
  try {
    return await answerOf(ready, port)
  } finally {
    // `go run` is the parent of the receiver.
    process.kill(-receiver.pid!, 'SIGKILL')
  }
}

async function secretOf(ready: Ready): Promise<string> {
  const connection = { url: ready.baseUrl, operatorToken: ready.operatorToken }
  const path = `/accounts/${ready.accountId}/webhook-secret/rotate`
  return ((await requestAdmin(connection, 'POST', path)) as { webhookSecret: string }).webhookSecret
}

const guide = blocksOf(readFileSync(join(ROOT, 'docs/guides/verify-webhooks.md'), 'utf8'))
using folder = scratchFolder()
await using dev = await startDev(folder.path)
const secret = await secretOf(dev.ready)
const other = `whsec_${randomBytes(32).toString('base64')}`
for (const [file, commandOf] of Object.entries(RECEIVERS)) {
  const [command] = commandOf(0)
  if (spawnSync('which', [command]).status !== 0) {
    process.stdout.write(`${file}: not run, because ${command} is not here\n`)
    continue
  }
  writeFileSync(join(folder.path, file), guide.find(({ tag }) => tag === `file=${file}`)!.text)
  const answers = [
    await run(folder.path, dev.ready, file, `${other} ${secret}`),
    await run(folder.path, dev.ready, file, other),
  ]
  const isRight = answers.join() === '200,401'
  process.stdout.write(`${file}: ${isRight ? 'right' : `wrong, it answered ${answers.join(' and ')}`}\n`)
  if (!isRight) process.exitCode = 1
}
