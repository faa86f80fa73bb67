import { createInterface } from 'node:readline'

/** The other end of children.ts, for the processes of the bench that are written for Node. */

/** Commands by name. Each returns its answer, or NO_ANSWER if it has none. */
type Handlers = Readonly<Record<string, (argument: string) => unknown>>

export const NO_ANSWER = Symbol('no answer')

/** Tells the parent that this process is ready, and handles its commands in order, until SIGTERM or the parent's end. */
export function serveParent(ready: object, handlers: Handlers, stop: () => Promise<unknown>): void {
  let last = Promise.resolve()
  const lines = createInterface({ input: process.stdin })
  lines.on('line', (line) => {
    const [name = ''] = line.split(' ', 1)
    last = last.then(() => answer(handlers[name], line.slice(name.length + 1)))
  })
  let stopping = false
  const stopOnce = async () => {
    if (stopping) return
    stopping = true
    await stop()
    lines.close()
    process.stdin.destroy()
  }
  process.on('SIGTERM', stopOnce)
  // Ctrl-C reaches the whole group; the parent stops its children in order.
  process.on('SIGINT', () => undefined)
  lines.on('close', stopOnce)
  // The parent is gone; the end of standard input reports that too.
  process.stdout.on('error', () => undefined)
  write({ ready })
}

/** Reports news that the parent did not ask for. */
export function tellParent(news: number): void {
  write({ news })
}

/** Reports a fault that makes the run worthless. */
export function tellFault(fault: string): void {
  write({ fault })
}

async function answer(handler: Handlers[string] | undefined, argument: string): Promise<void> {
  if (handler === undefined) return write({ error: 'there is no such command' })
  try {
    const value = await handler(argument)
    if (value !== NO_ANSWER) write({ value: value ?? null })
  } catch (error) {
    write({ error: String(error) })
  }
}

function write(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
