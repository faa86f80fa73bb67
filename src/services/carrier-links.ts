import type { Carrier, Directory } from '../domain/directory.ts'
import {
  type BindCommand,
  CarrierLink,
  type LinkEvents,
  type LinkStatus,
  type LinkTimings,
} from './carrier-link.ts'

export interface CarrierLinksOptions<Token> {
  readonly events: LinkEvents<Token>
  readonly timings?: LinkTimings
  readonly log: (message: string, details: object) => void
}

const BINDS: Record<Carrier['bindMode'], readonly BindCommand[]> = {
  transceiver: ['bind_transceiver'],
  transmitter: ['bind_transmitter'],
  receiver: ['bind_receiver'],
  'transmitter+receiver': ['bind_transmitter', 'bind_receiver'],
}

/** The links of every carrier that is not stopped, following the directory: a carrier whose settings change is bound anew. */
export class CarrierLinks<Token> {
  readonly #options: CarrierLinksOptions<Token>
  readonly #links = new Map<number, { fingerprint: string; links: CarrierLink<Token>[] }>()
  readonly #stopping = new Set<Promise<void>>()
  #stopped = false

  constructor(options: CarrierLinksOptions<Token>) {
    this.#options = options
  }

  /** Makes the links those of this directory. */
  follow(directory: Directory): void {
    if (this.#stopped) return
    const wanted = new Map(
      directory.contents.carriers
        .filter((carrier) => carrier.state !== 'stopped')
        .map((carrier) => [carrier.id, carrier]),
    )
    for (const [id, { fingerprint, links }] of this.#links) {
      const carrier = wanted.get(id)
      if (carrier !== undefined && fingerprint === JSON.stringify(carrier)) continue
      this.#links.delete(id)
      for (const link of links) this.#stopLink(link)
    }
    for (const [id, carrier] of wanted) if (!this.#links.has(id)) this.#startCarrier(carrier)
  }

  /** Whether a message could be submitted to the carrier now, or as soon as its window has room. */
  canSubmit(carrierId: number): boolean {
    return this.#links.get(carrierId)?.links.some((link) => link.canSubmit) ?? false
  }

  /** The link of the carrier with most room, or null when there is none. */
  freest(carrierId: number): CarrierLink<Token> | null {
    let best: CarrierLink<Token> | null = null
    for (const link of this.#links.get(carrierId)?.links ?? []) {
      if (link.windowFree > (best?.windowFree ?? 0)) best = link
    }
    return best
  }

  status(carrierId: number): readonly LinkStatus[] {
    return this.#links.get(carrierId)?.links.map((link) => link.status) ?? []
  }

  /** One line for the operator; null when the carrier has no link here. */
  summary(carrierId: number): { state: string; since: string | null; lastError: string | null } | null {
    const links = this.status(carrierId)
    if (links.length === 0) return null
    const bound = links.filter((link) => link.boundSince !== null)
    const latest = bound.map((link) => link.boundSince!.toISOString()).sort()
    return {
      state: links.map((link) => link.state).join(', '),
      since: bound.length === links.length ? (latest.at(-1) ?? null) : null,
      lastError: links.map((link) => link.lastClose).find((close) => close !== null) ?? null,
    }
  }

  /** Requests on all links that still wait for their response. */
  get unanswered(): number {
    let sum = 0
    for (const { links } of this.#links.values()) for (const link of links) sum += link.unanswered
    return sum
  }

  async stop(): Promise<void> {
    this.#stopped = true
    for (const { links } of this.#links.values()) for (const link of links) this.#stopLink(link)
    this.#links.clear()
    await Promise.all(this.#stopping)
  }

  #startCarrier(carrier: Carrier): void {
    const { events, timings = {}, log } = this.#options
    const links = BINDS[carrier.bindMode].map(
      (bind) => new CarrierLink(carrier, bind, events, { timings, log }),
    )
    this.#links.set(carrier.id, { fingerprint: JSON.stringify(carrier), links })
    for (const link of links) link.start()
  }

  #stopLink(link: CarrierLink<Token>): void {
    const stopped = link.stop().finally(() => this.#stopping.delete(stopped))
    this.#stopping.add(stopped)
  }
}
