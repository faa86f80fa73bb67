/** The part of the npm package `smpp` that the tests use; it ships no types. */
declare module 'smpp' {
  import type { EventEmitter } from 'node:events'
  import type { Server as NetServer, Socket } from 'node:net'

  export interface NodePdu {
    readonly command: string
    readonly command_status: number
    readonly sequence_number: number
    readonly [field: string]: unknown
    response(fields?: Record<string, unknown>): NodePdu
  }

  type Send = (fields?: Record<string, unknown>, onResponse?: (pdu: NodePdu) => void) => boolean

  export interface NodeSession extends EventEmitter {
    readonly socket: Socket
    readonly bind_transceiver: Send
    readonly bind_transmitter: Send
    readonly bind_receiver: Send
    readonly submit_sm: Send
    readonly deliver_sm: Send
    readonly data_sm: Send
    readonly query_sm: Send
    readonly enquire_link: Send
    readonly unbind: Send
    send(pdu: NodePdu): boolean
    close(): void
    destroy(): void
  }

  const smpp: {
    createServer(onSession: (session: NodeSession) => void): NetServer
    connect(options: { host: string; port: number }, onConnect?: () => void): NodeSession
  }
  export default smpp
}
