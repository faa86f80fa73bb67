import { type InboundMessage, inboundMessageFields } from '../../src/simulator/inbound-messages.ts'
import { type Connection, connect } from '../../src/smpp/connection.ts'
import { SmppRequestError } from '../../src/smpp/promised-request.ts'
import { STATUSES, statusName } from '../../src/smpp/statuses.ts'

export interface InboundInjection extends InboundMessage {
  /** Where the simulator listens. */
  readonly host: string
  readonly port: number
  /** The simulator's handsetSystemId. Default `handset`. */
  readonly systemId?: string
  /** For the connection, the bind and each answer. Default 5,000. */
  readonly timeoutMs?: number
  /** Like Math.random, the default. */
  readonly random?: () => number
}

/**
 * Sends an MO message into a simulator of another process: binds as a handset, submits every part, unbinds. Resolves
 * when the simulator accepted all parts, not when the ESME has them.
 * @throws (rejects) Error whose message says what went wrong, in one line; RangeError for a field that does not fit.
 */
export async function injectInbound(injection: InboundInjection): Promise<void> {
  const { host, port, timeoutMs = 5_000, random = Math.random } = injection
  const parts = inboundMessageFields(injection, Math.floor(random() * 256))
  const link = connect({
    host,
    port,
    bind: { command: 'bind_transmitter', system_id: injection.systemId ?? 'handset' },
    connectTimeoutMs: timeoutMs,
    bindTimeoutMs: timeoutMs,
    responseTimeoutMs: timeoutMs,
    unbindTimeoutMs: 1_000,
  })
  try {
    await link.whenBound()
    for (const fields of parts) await submit(link, fields)
  } catch (error) {
    throw error instanceof SmppRequestError ? explained(error, `${host}:${port}`) : error
  } finally {
    await link.unbind()
  }
}

async function submit(
  link: Connection,
  fields: ReturnType<typeof inboundMessageFields>[number],
): Promise<void> {
  const { status } = await link.request({ command: 'submit_sm', ...fields })
  if (status === STATUSES.ESME_ROK) return
  if (status === STATUSES.ESME_RDELIVERYFAILURE) {
    throw new Error('No ESME that can receive is bound to the simulator')
  }
  throw new Error(`The simulator refused the message: ${statusName(status)}`)
}

function explained(error: SmppRequestError, address: string): Error {
  const { reason } = error
  if (reason?.code === 'connect_failed' || reason?.code === 'connect_timeout') {
    const cause = (reason.error as NodeJS.ErrnoException | undefined)?.code ?? 'no answer'
    return new Error(`No simulator can be reached at ${address}: ${cause}`, { cause: error })
  }
  if (reason?.code === 'bind_rejected') {
    const status = statusName(reason.status ?? STATUSES.ESME_RBINDFAIL)
    return new Error(`The SMSC at ${address} takes no handset: ${status}`, { cause: error })
  }
  return new Error(`The simulator at ${address} did not answer: ${reason?.code ?? error.code}`, {
    cause: error,
  })
}
