import { vi } from 'vitest'
import { parseUserData } from '../../src/domain/text/concatenation.ts'
import { decodeInboundParts } from '../../src/domain/text/inbound-text.ts'
import type { SimulatorOptions } from '../../src/simulator/options.ts'
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts'
import { type Connection, type ConnectOptions, connect } from '../../src/smpp/connection.ts'
import type { BindInput, PduOf, RequestInput, RequestPdu, ResponsePdu } from '../../src/smpp/pdu.ts'
import type { CloseReason } from '../../src/smpp/session-handlers.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'

const cleanups: (() => unknown)[] = []

/** To be undone after the test, last first. */
export function later(cleanup: () => unknown): void {
  cleanups.push(cleanup)
}

/** For afterEach. */
export async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
}

/** Resolves when `condition` holds; the deadline is there for a busy machine. */
export function until(condition: () => boolean): Promise<unknown> {
  return vi.waitUntil(condition, { interval: 2, timeout: 60_000 })
}

/** A simulator on a free port that waits for nothing. */
export async function simulated(options: Partial<SimulatorOptions> = {}): Promise<Simulator> {
  const simulator = await startSimulator({
    port: 0,
    receiptDelayMs: 0,
    earlyReceiptLeadMs: 1,
    lateReceiptDelayMs: 0,
    retryDelayMs: 1,
    stopTimeoutMs: 100,
    ...options,
  })
  later(() => simulator.stop())
  return simulator
}

export interface Esme {
  readonly link: Connection
  /** Every deliver_sm, in order of arrival. */
  readonly delivered: PduOf<'deliver_sm'>[]
  /** What happened, in order: `resp <id>` and `deliver <first word>`. */
  readonly events: string[]
  readonly ended: Promise<CloseReason>
}

const BIND: BindInput = { command: 'bind_transceiver', system_id: 'esme', password: 'pw' }

interface EsmeOptions extends Partial<Omit<ConnectOptions, 'bind'>> {
  readonly bind?: Partial<BindInput>
  /** The status that answers a deliver_sm; null for no answer. Default ESME_ROK. */
  readonly answer?: (pdu: RequestPdu, link: Connection) => number | null
}

/** Our own ESME, not yet bound. */
export function esmeTo(simulator: Simulator, options: EsmeOptions = {}): Esme {
  const { bind, answer = () => STATUSES.ESME_ROK, ...rest } = options
  const ended = Promise.withResolvers<CloseReason>()
  const delivered: PduOf<'deliver_sm'>[] = []
  const events: string[] = []
  const link = connect(
    {
      host: '127.0.0.1',
      port: simulator.port,
      tickMs: 5,
      windowSize: 100,
      ...rest,
      bind: { ...BIND, ...bind } as BindInput,
    },
    {
      onRequest: (pdu, self) => {
        if (pdu.command === 'deliver_sm') {
          delivered.push(pdu)
          events.push(`deliver ${pdu.short_message.toString('latin1').split(' ')[0]}`)
        }
        const status = answer(pdu, self)
        if (status !== null) self.respond(pdu, status)
      },
      onClose: (reason) => ended.resolve(reason),
    },
  )
  later(() => link.destroy())
  return { link, delivered, events, ended: ended.promise }
}

export async function boundEsme(simulator: Simulator, options?: EsmeOptions): Promise<Esme> {
  const esme = esmeTo(simulator, options)
  await esme.link.whenBound()
  return esme
}

/** A submit_sm that asks for a receipt. */
export function submitTo(destination: string, fields: Partial<RequestInput> = {}): RequestInput {
  return {
    command: 'submit_sm',
    source_addr_ton: 3,
    source_addr: '12345',
    dest_addr_ton: 1,
    dest_addr_npi: 1,
    destination_addr: destination,
    registered_delivery: 1,
    short_message: Buffer.from('hello'),
    ...fields,
  } as RequestInput
}

/** Status and message_id of a response, noted among the events. */
export async function submit(
  esme: Esme,
  pdu: RequestInput,
): Promise<{ readonly status: number; readonly messageId: string }> {
  const response = (await esme.link.request(pdu)) as ResponsePdu & { readonly message_id?: string }
  const messageId = response.message_id ?? ''
  esme.events.push(`resp id:${messageId}`)
  return { status: response.status, messageId }
}

/** What the ESME makes of all it received, as one message. */
export function receivedText(esme: Esme): string {
  const parts = esme.delivered.map((pdu) => {
    const { payload, part } = parseUserData({
      esmClass: pdu.esm_class,
      shortMessage: pdu.short_message,
      tlvs: pdu.tlvs,
    })
    return { sequence: part?.sequence ?? 1, payload, dataCoding: pdu.data_coding }
  })
  return decodeInboundParts(parts)
}
