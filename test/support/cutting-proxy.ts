import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** Forwards to a server until the client sends bytes that `cut` picks: those arrive, their answer does not. */
export async function cuttingProxy(
  { connectionString }: { readonly connectionString: string },
  cut: (sent: string) => boolean,
) {
  const target = new URL(connectionString)
  const sockets = new Set<Socket>()
  const proxy: Server = createServer((client) => {
    const server = connect({ host: '127.0.0.1', port: Number(target.port) })
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
    }
    client.on('data', (bytes) => {
      server.write(bytes)
      if (cut(bytes.toString('latin1'))) client.destroy()
    })
    server.on('data', (bytes) => client.destroyed || client.write(bytes))
    client.on('close', () => server.end())
    server.on('close', () => client.destroy())
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const url = new URL(target)
  url.search = ''
  url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
  return {
    connectionString: url.href,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      proxy.close()
      await once(proxy, 'close')
    },
  }
}
