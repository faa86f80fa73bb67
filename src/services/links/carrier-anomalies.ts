import type { Carrier } from '../../domain/configuration/configuration.ts'
import { MINUTE_MS } from '../../domain/instants.ts'
import type { Log } from '../../log.ts'
import { RESPONSE_BIT } from '../../smpp/commands.ts'
import type { Pdu } from '../../smpp/pdu.ts'
import type { Anomaly } from '../../smpp/session-handlers.ts'
import { STATUSES, statusName } from '../../smpp/statuses.ts'

/** Violations of SMPP, and receipts that nobody can use. */
export type CarrierAnomaly = Anomaly | 'receipt_without_id'

export interface CarrierAnomaliesOptions {
  /** Adds one to the metrics. */
  readonly count: (kind: CarrierAnomaly, carrier: Carrier) => void
  readonly log: Log
  /** Milliseconds of a monotonic clock. */
  readonly clock: () => number
}

interface Warning {
  readonly message: string
  readonly details: object
  /** Pause before the same warning is repeated for a carrier; infinite: it is logged once. */
  readonly everyMs: number
}

const PER_MINUTE = '(logged at most once a minute; the metrics count all)'

/** Counts what carriers have done wrong on this node since it started, and logs warnings for the operator. */
export class CarrierAnomalies {
  readonly #options: CarrierAnomaliesOptions
  readonly #counts = new Map<number, Map<CarrierAnomaly, number>>()
  /** When a warning was last logged, by carrier, kind and command. These are closed lists, so the map is bounded. */
  readonly #warnedAtMs = new Map<string, number>()

  constructor(options: CarrierAnomaliesOptions) {
    this.#options = options
  }

  /** Counts by kind. Kinds that never happened are left out. */
  of(carrierId: number): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts.get(carrierId) ?? [])
  }

  /** `pdu`: the one at fault, if there is one. */
  readonly note = (kind: CarrierAnomaly, carrier: Carrier, pdu: Pdu | null): void => {
    this.#options.count(kind, carrier)
    const counts = this.#counts.get(carrier.id) ?? new Map<CarrierAnomaly, number>()
    this.#counts.set(carrier.id, counts.set(kind, (counts.get(kind) ?? 0) + 1))
    const warning = warningOf(kind, pdu)
    if (warning === null) return
    const nowMs = this.#options.clock()
    const key = `${carrier.id} ${kind} ${commandOf(pdu)}`
    if (nowMs - (this.#warnedAtMs.get(key) ?? -Infinity) < warning.everyMs) return
    this.#warnedAtMs.set(key, nowMs)
    this.#options.log.warn({ carrier: carrier.name, ...warning.details }, warning.message)
  }
}

/** Null for kinds that only the metrics show. A response is never refused, so there is nothing to warn of. */
function warningOf(kind: CarrierAnomaly, pdu: Pdu | null): Warning | null {
  const command = commandOf(pdu)
  const refused = (status: number, more: object = {}) => ({
    message: `refused a PDU of the carrier ${PER_MINUTE}`,
    details: { command, status: statusName(status), ...more },
    everyMs: MINUTE_MS,
  })
  if (kind === 'receipt_without_id')
    return { message: `receipt without a message id ${PER_MINUTE}`, details: {}, everyMs: MINUTE_MS }
  if (kind === 'overlong_string' && pdu !== null && 'overlong' in pdu) {
    const message =
      'the carrier sends strings longer than SMPP 3.4 allows: taken (logged once for each command)'
    return { message, details: { command, field: pdu.overlong }, everyMs: Number.POSITIVE_INFINITY }
  }
  if (kind === 'wrong_bind') {
    const message = 'the carrier sends over a transmitter session: taken (logged once for each command)'
    return { message, details: { command }, everyMs: Number.POSITIVE_INFINITY }
  }
  if (pdu === null || pdu.commandId >= RESPONSE_BIT) return null
  if (pdu.command === 'malformed') return refused(pdu.answer, { field: pdu.field, fault: pdu.fault })
  if (kind === 'unexpected_command') return refused(STATUSES.ESME_RINVBNDSTS)
  return kind === 'unknown_command'
    ? refused(STATUSES.ESME_RINVCMDID, { commandId: hex(pdu.commandId) })
    : null
}

function commandOf(pdu: Pdu | null): string {
  return (pdu?.command === 'malformed' ? pdu.of : pdu?.command) ?? 'none'
}

function hex(commandId: number): string {
  return `0x${commandId.toString(16).padStart(8, '0')}`
}
