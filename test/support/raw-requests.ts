import type { Socket } from 'node:net'

/** Takes one request after the other off a connection; the next is looked at when the one before it is answered. */
export function readRequests(socket: Socket, onRequest: (head: string, body: string) => Promise<void>): void {
  let unread = Buffer.alloc(0)
  let isAnswering = false
  const look = () => {
    if (isAnswering) return
    const headEnd = unread.indexOf('\r\n\r\n')
    if (headEnd === -1) return
    const head = unread.toString('latin1', 0, headEnd)
    const bodyStart = headEnd + 4
    const bodyEnd = bodyStart + Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
    if (unread.length < bodyEnd) return
    const body = unread.toString('utf8', bodyStart, bodyEnd)
    unread = unread.subarray(bodyEnd)
    isAnswering = true
    void onRequest(head, body).then(() => {
      isAnswering = false
      look()
    })
  }
  socket.on('data', (chunk: Buffer) => {
    unread = Buffer.concat([unread, chunk])
    look()
  })
  socket.resume()
}
