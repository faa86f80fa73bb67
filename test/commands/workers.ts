/** A service of two workers, as its log and its metrics show it. */
import { expect } from 'vitest'
import { requestAdmin } from '../../src/commands/admin/client.ts'
import { type Served, startServe } from '../support/process.ts'
import { exchange, requestBytes } from '../support/raw-http.ts'

interface Line {
  readonly msg: string
  readonly worker?: number
  readonly pid: number
}

/** What was logged with this text, by anyone. */
export function said({ running }: Served, msg: string): Line[] {
  const lines = running.stderr.split('\n').slice(0, -1)
  return lines.map((line): Line => JSON.parse(line)).filter((line) => line.msg === msg)
}

export function portOf({ baseUrl }: { baseUrl: string }): number {
  return Number(new URL(baseUrl).port)
}

/** The values of a metric, by worker. Over a connection of its own: the system chooses the worker. */
export async function byWorker(service: Served, metric: string): Promise<Record<string, number>> {
  const answer = await exchange(portOf(service), requestBytes({ method: 'GET', path: '/metrics' }))
  expect(answer?.status).toBe(200)
  const found = answer!.text.matchAll(new RegExp(`^${metric}\\{[^}]*worker="(\\d+)"\\} (\\S+)$`, 'gm'))
  return Object.fromEntries([...found].map(([, worker, value]) => [worker, Number(value)]))
}

export function admin({ baseUrl, operatorToken }: Served, method: string, path: string, body?: object) {
  return requestAdmin({ url: baseUrl, operatorToken }, method, path, body)
}

/** Two workers on this database, ready. */
export function startWorkers(connectionString: string): Promise<Served> {
  return startServe(
    { DATABASE_URL: connectionString, NODE_ID: 'both', LOG_LEVEL: 'info', AMBIGUITY_WAIT_MS: '1000' },
    ['--workers', '2'],
  )
}
