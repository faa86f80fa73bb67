import type { Role } from '../../src/smpp/commands.ts'
import { decodePdu } from '../../src/smpp/decoding.ts'
import { encodePdu } from '../../src/smpp/encoding.ts'
import { Framer } from '../../src/smpp/framer.ts'
import type {
  Pdu,
  PduInput,
  RequestInput,
  RequestPdu,
  ResponseBody,
  ResponsePdu,
} from '../../src/smpp/pdu.ts'
import { Session } from '../../src/smpp/session.ts'
import type { CloseReason, SessionHandlers } from '../../src/smpp/session-handlers.ts'
import { type SessionOptions, sessionSettings } from '../../src/smpp/session-options.ts'

/** A frame of any command id, with any body. */
export function rawFrame(
  commandId: number,
  sequence: number,
  body: Buffer = Buffer.alloc(0),
  status = 0,
): Buffer {
  const bytes = Buffer.alloc(16 + body.length)
  bytes.writeUInt32BE(bytes.length, 0)
  bytes.writeUInt32BE(commandId, 4)
  bytes.writeUInt32BE(status, 8)
  bytes.writeUInt32BE(sequence, 12)
  body.copy(bytes, 16)
  return bytes
}

/** The PDUs in these octets. */
function pdusOf(bytes: Buffer): Pdu[] {
  const framer = new Framer()
  const pdus: Pdu[] = []
  framer.push(bytes)
  while (framer.next()) pdus.push(decodePdu(framer.buffer, framer.start, framer.end))
  return pdus
}

/** A session with a clock held by hand and everything it reports written down. */
export class SessionHarness {
  nowMs = 0
  readonly requests: RequestPdu[] = []
  readonly responses: [string, ResponsePdu][] = []
  readonly lateResponses: [string, ResponsePdu][] = []
  readonly timeouts: string[] = []
  readonly closes: [CloseReason, string[]][] = []
  readonly session: Session<string>

  constructor(role: Role, options: SessionOptions = {}, handlers: SessionHandlers<string> = {}) {
    this.session = new Session(sessionSettings(role, options), {
      onBind: (pdu) => this.requests.push(pdu),
      onRequest: (pdu) => this.requests.push(pdu),
      onResponse: (token, pdu) => this.responses.push([token, pdu]),
      onLateResponse: (token, pdu) => this.lateResponses.push([token, pdu]),
      onTimeout: (token) => this.timeouts.push(token),
      onClose: (reason, unanswered) => this.closes.push([reason, unanswered]),
      ...handlers,
    })
    this.session.open(this.nowMs)
  }

  /** Moves the clock and lets the session act. */
  at(nowMs: number): this {
    this.nowMs = nowMs
    this.session.tick(nowMs)
    return this
  }

  /** The peer sends these. */
  peer(...pdus: (PduInput | Buffer)[]): this {
    const bytes = pdus.map((pdu) => (Buffer.isBuffer(pdu) ? pdu : encodePdu(pdu)))
    this.session.receive(Buffer.concat(bytes), this.nowMs)
    return this
  }

  send(pdu: RequestInput, token: string): number {
    return this.session.send(pdu, token, this.nowMs)
  }

  respond(request: RequestPdu, status = 0, body?: ResponseBody): boolean {
    return this.session.respond(request, status, body, this.nowMs)
  }

  /** What the session has sent since the last call. */
  sent(): Pdu[] {
    return pdusOf(Buffer.concat(this.session.takeOutput()))
  }

  /** The same, as `[command, status, sequence]`. */
  sentHeads(): [string, number, number][] {
    return this.sent().map((pdu) => [pdu.command, pdu.status, pdu.sequence])
  }

  /** The code of the only close; null while the session lives. */
  get closed(): string | null {
    if (this.closes.length > 1) throw new Error('closed twice')
    return this.closes[0]?.[0].code ?? null
  }
}

/** An ESME bound as transceiver; its bind was sequence 1. */
export function boundEsme(
  options: SessionOptions = {},
  handlers: SessionHandlers<string> = {},
): SessionHarness {
  const bind = { command: 'bind_transceiver', system_id: 'esme', password: 'pw' } as const
  const harness = new SessionHarness('esme', { bind, ...options }, handlers)
  harness.peer({
    command: 'bind_transceiver_resp',
    sequence: (options.initialSequence ?? 0) + 1,
    system_id: 'smsc',
  })
  harness.sent()
  return harness
}

/** An SMSC whose peer is bound by this command. */
export function boundSmsc(
  command: 'bind_transceiver' | 'bind_receiver' | 'bind_transmitter' = 'bind_transceiver',
  options: SessionOptions = {},
  handlers: SessionHandlers<string> = {},
): SessionHarness {
  const harness = new SessionHarness('smsc', options, handlers)
  harness.peer({ command, sequence: 1, system_id: 'esme' })
  harness.respond(harness.requests.shift()!, 0, { system_id: 'smsc' })
  harness.sent()
  return harness
}
