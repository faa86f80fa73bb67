import type { ConnectionHandlers } from '../../src/smpp/connection.ts'
import { type Connection, type ConnectOptions, connect } from '../../src/smpp/connection.ts'
import { type ListenOptions, listen, type SmscServer } from '../../src/smpp/listener.ts'
import type { RequestPdu, ResponsePdu } from '../../src/smpp/pdu.ts'
import type { CloseReason } from '../../src/smpp/session-handlers.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { RawPeer, rawServer } from './raw-peer.ts'

export const SUBMIT = { command: 'submit_sm', destination_addr: '447700900123' } as const
export const DELIVER = { command: 'deliver_sm', source_addr: '447700900123' } as const
export const BIND = { command: 'bind_transceiver', system_id: 'esme', password: 'pw' } as const

const cleanups: (() => unknown)[] = []

/** To be undone after the test, last first. */
export function later(cleanup: () => unknown): void {
  cleanups.push(cleanup)
}

/** For afterEach. */
export async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
}

/** Our SMSC: accepts every bind, answers each request with its sequence number as message_id. */
export async function smscServer(
  handlers: ConnectionHandlers<string> = {},
  options: Partial<ListenOptions> = {},
): Promise<SmscServer<string>> {
  const server = await listen<string>({ port: 0, tickMs: 5, ...options }, () => ({
    onBind: (pdu, link) => link.respond(pdu, STATUSES.ESME_ROK, { system_id: 'smsc' }),
    onRequest: (pdu, link) => link.respond(pdu, STATUSES.ESME_ROK, { message_id: `${pdu.sequence}` }),
    ...handlers,
  }))
  later(() => server.close())
  return server
}

/** A raw peer bound to a fresh SMSC of ours. */
export async function boundPeer(
  handlers?: ConnectionHandlers<string>,
  options?: Partial<ListenOptions>,
): Promise<RawPeer> {
  const peer = await RawPeer.connect((await smscServer(handlers, options)).port)
  await peer.bind()
  return peer
}

interface Link {
  connection: Connection<string>
  responses: [string, ResponsePdu][]
  requests: RequestPdu[]
  late: string[]
  ended: Promise<[CloseReason, string[]]>
}

/** Our ESME, everything it reports written down. */
export function esmeTo(
  port: number,
  options: Partial<ConnectOptions> = {},
  handlers: ConnectionHandlers<string> = {},
): Link {
  const ended = Promise.withResolvers<[CloseReason, string[]]>()
  const link: Omit<Link, 'connection'> = { responses: [], requests: [], late: [], ended: ended.promise }
  const connection = connect<string>(
    { host: '127.0.0.1', port, bind: BIND, tickMs: 5, ...options },
    {
      onResponse: (token, pdu) => link.responses.push([token, pdu]),
      onRequest: (pdu) => link.requests.push(pdu),
      onLateResponse: (token) => link.late.push(token),
      onClose: (reason, unanswered) => ended.resolve([reason, unanswered]),
      ...handlers,
    },
  )
  later(() => connection.destroy())
  return { ...link, connection }
}

/** Our ESME bound to a raw SMSC; its bind was sequence 1. */
export async function boundEsme(
  options: Partial<ConnectOptions> = {},
  handlers: ConnectionHandlers<string> = {},
): Promise<Link & { peer: RawPeer }> {
  const { port, accepted, server } = await rawServer({ allowHalfOpen: true })
  later(() => server.close())
  const link = esmeTo(port, options, handlers)
  const peer = await accepted
  later(() => peer.socket.destroy())
  await peer.next()
  peer.write({ command: 'bind_transceiver_resp', sequence: 1, system_id: 'raw' })
  await link.connection.whenBound()
  return { ...link, peer }
}
