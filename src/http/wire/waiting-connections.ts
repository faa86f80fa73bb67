import type { Server as HttpServer } from 'node:http'

/** Connections that a client has made and Node has not accepted yet. The kernel resets them when the server stops listening. */

/** Node's own field of a server: the listening socket. */
type Server = HttpServer & { _handle?: { listen(backlog: number): number } | null }

/** Node lets 511 wait. */
const MOST_WAITING = 1_024

/**
 * Resolves once all connections are accepted that were made before. From then on at most one may wait. The kernel ignores
 * any other, whose client tries again and is refused.
 */
export async function acceptWaiting(server: Server): Promise<void> {
  let accepted = 0
  const count = () => {
    accepted += 1
  }
  server.on('connection', count)
  await untilStill(() => accepted)
  server._handle?.listen(0)
  await untilStill(() => accepted)
  server.removeListener('connection', count)
}

/** libuv accepts one connection in each turn of the event loop. */
async function untilStill(accepted: () => number): Promise<void> {
  for (let left = MOST_WAITING; left > 0; left -= 1) {
    const before = accepted()
    await nextPoll()
    if (accepted() === before) return
  }
}

/** Resolves when the event loop has read every socket once more, and before it does anything else. */
export async function nextPoll(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  await new Promise((resolve) => setImmediate(resolve))
}
