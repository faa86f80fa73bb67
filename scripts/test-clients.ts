/**
 * Generates clients from the OpenAPI document and sends a message with each, against an `aldis dev` of its own:
 * openapi-generator for Python and for Go, and openapi-python-client. Needs Java and Maven, Go, and Python 3 with their
 * registries, and says which client it could not run. Exits 1 when one fails.
 */
import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PROGRAMS = join(ROOT, 'scripts', 'clients')
const OPENAPI_GENERATOR = '7.25.0'
const OPENAPI_PYTHON_CLIENT = '0.29.1'
const START_MS = 120_000

interface Client {
  readonly name: string
  /** Commands that it needs. */
  readonly needs: readonly string[]
  run(folder: string, env: NodeJS.ProcessEnv): void
}

const CLIENTS: readonly Client[] = [
  {
    name: 'openapi-generator for Python',
    needs: ['java', 'mvn', 'python3'],
    run(folder, env) {
      generate(folder, 'python', 'packageName=aldis_client')
      const python = virtualEnvironment(folder, ['-r', join(folder, 'client', 'requirements.txt')])
      const path = { ...env, PYTHONPATH: join(folder, 'client') }
      execute(python, [join(PROGRAMS, 'openapi-generator.py')], folder, path)
    },
  },
  {
    name: 'openapi-generator for Go',
    needs: ['java', 'mvn', 'go'],
    run(folder, env) {
      generate(folder, 'go', 'packageName=aldis')
      const client = join(folder, 'client')
      execute('go', ['mod', 'edit', '-module', 'example.com/aldis'], client)
      mkdirSync(join(client, 'send'))
      copyFileSync(join(PROGRAMS, 'openapi-generator.go'), join(client, 'send', 'main.go'))
      execute('go', ['run', './send'], client, env)
    },
  },
  {
    name: 'openapi-python-client',
    needs: ['python3'],
    run(folder, env) {
      const python = virtualEnvironment(folder, [`openapi-python-client==${OPENAPI_PYTHON_CLIENT}`])
      const options = ['--path', '../openapi.json', '--output-path', 'client', '--overwrite']
      execute(join(folder, 'venv', 'bin', 'openapi-python-client'), ['generate', ...options], folder)
      const path = { ...env, PYTHONPATH: join(folder, 'client') }
      execute(python, [join(PROGRAMS, 'openapi-python-client.py')], folder, path)
    },
  },
]

function generate(folder: string, language: string, properties: string): void {
  const artifact = `org.openapitools:openapi-generator-cli:${OPENAPI_GENERATOR}`
  const copy = ['-q', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`]
  execute('mvn', copy, folder)
  const jar = join(folder, `openapi-generator-cli-${OPENAPI_GENERATOR}.jar`)
  const options = ['-i', '../openapi.json', '-o', 'client', `--additional-properties=${properties}`]
  execute('java', ['-jar', jar, 'generate', '-g', language, ...options], folder)
}

/** Returns its Python, with the packages installed. */
function virtualEnvironment(folder: string, packages: readonly string[]): string {
  execute('python3', ['-m', 'venv', 'venv'], folder)
  const python = join(folder, 'venv', 'bin', 'python')
  execute(python, ['-m', 'pip', 'install', '--quiet', ...packages], folder)
  return python
}

/** Throws with the output when the command fails. */
function execute(command: string, options: readonly string[], cwd: string, env = process.env): void {
  const { status, error, stdout, stderr } = spawnSync(command, options, { cwd, env, encoding: 'utf8' })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`${command} ${options.join(' ')} exited ${status}\n${stdout}${stderr}`)
}

function isInstalled(command: string): boolean {
  return (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, command)))
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** Starts `aldis dev`. Returns what it wrote to its ready file, and how to stop it. */
async function startDev(folder: string) {
  const readyFile = join(folder, 'ready.json')
  const ports = ['--port', String(await freePort()), '--listen-port', String(await freePort())]
  const options = ['dev', ...ports, '--data-dir', join(folder, 'data'), '--ready-file', readyFile]
  const child = spawn(process.execPath, [join(ROOT, 'src', 'main.ts'), ...options], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const exited = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGTERM')
    await exited
  }
  for (const deadline = Date.now() + START_MS; !existsSync(readyFile); await sleep(100)) {
    if (child.exitCode !== null) throw new Error('aldis dev did not start')
    if (Date.now() > deadline) {
      await stop()
      throw new Error(`aldis dev was not ready after ${START_MS / 1_000} s`)
    }
  }
  return { ready: JSON.parse(readFileSync(readyFile, 'utf8')), stop }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Returns whether it sent its message, or null when a command that it needs is missing. */
function tried(client: Client, root: string, env: NodeJS.ProcessEnv): boolean | null {
  const missing = client.needs.filter((command) => !isInstalled(command))
  if (missing.length > 0) {
    say(`not run: ${client.name}: needs ${missing.join(', ')}`)
    return null
  }
  try {
    client.run(mkdtempSync(join(root, 'client-')), { ...env, ALDIS_KEY: randomUUID() })
    say(`passed: ${client.name}`)
    return true
  } catch (error) {
    say(`FAILED: ${client.name}: ${(error as Error).message}`)
    return false
  }
}

const root = mkdtempSync(join(tmpdir(), 'aldis-clients-'))
const { ready, stop } = await startDev(root)
try {
  const document = await fetch(`${ready.baseUrl}/openapi.json`)
  writeFileSync(join(root, 'openapi.json'), await document.text())
  const env = {
    ...process.env,
    ALDIS_URL: ready.baseUrl,
    ALDIS_TOKEN: ready.token,
    ALDIS_PLAN: ready.servicePlanId,
    ALDIS_SENDER: ready.sender,
  }
  const results = CLIENTS.map((client) => tried(client, root, env))
  if (results.includes(false)) process.exitCode = 1
} finally {
  await stop()
  rmSync(root, { recursive: true, force: true })
}
