/** The child's end of children.ts. */

type Handlers = Readonly<Record<string, (argument: never) => unknown>>

/** Configuration given by the parent. */
export function configuration<T>(): T {
  return JSON.parse(process.argv[2] ?? '{}') as T
}

/** Tells the parent that everything answers, and answers its requests until `stop`. */
export function serveParent(ready: object, handlers: Handlers, stop: () => Promise<unknown>): void {
  process.on('message', async ({ id, kind, argument }: { id: number; kind: string; argument: never }) => {
    try {
      process.send!({ id, value: (await handlers[kind]!(argument)) ?? null })
    } catch (error) {
      process.send!({ id, error: String(error) })
    }
  })
  let stopping = false
  const stopOnce = async () => {
    if (stopping) return
    stopping = true
    await stop()
    if (process.connected) process.disconnect!()
  }
  process.on('SIGTERM', stopOnce)
  // Ctrl-C reaches the whole group; the parent stops its children in order.
  process.on('SIGINT', () => undefined)
  process.on('disconnect', stopOnce)
  process.send!({ ready })
}

/** Something the parent did not ask for. */
export function tellParent(news: number): void {
  if (process.connected) process.send!({ news })
}
