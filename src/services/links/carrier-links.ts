import { BIND_TYPES, type Carrier } from '../../domain/configuration/configuration.ts'
import type { Directory } from '../../domain/configuration/directory.ts'
import type { BindReport, LinkStatus, LinkSummary } from '../../domain/nodes.ts'
import type { Log } from '../../log.ts'
import { mapInSlices } from '../../slices.ts'
import {
  type BindCommand,
  CarrierLink,
  type CarrierLinkOptions,
  type LinkListeners,
  type LinkTimings,
} from './carrier-link.ts'

export interface CarrierLinksOptions {
  readonly timings?: LinkTimings
  /** The carrier with the address and password that this node binds with; null: it cannot bind yet. Default: as configured. */
  readonly located?: (carrier: Carrier) => Carrier | null
  readonly log: Log
}

/** Messages per second that this node may submit to a carrier. */
export type CarrierRateLimits = Pick<Carrier, 'messagesPerSecond' | 'senderMessagesPerSecond'>

interface LinkedCarrier<Token> {
  readonly carrier: Carrier
  readonly links: readonly CarrierLink<Token>[]
  /** Null without links. */
  readonly rateLimits: CarrierRateLimits | null
}

/** Whether this node may make the bind. */
type Holds = (carrierId: number, number: number) => boolean

/** SMPP 3.4 §5.2.2, without the NUL. Longer ones are sent whole, as many carriers issue them. */
const STANDARD_PASSWORD_LENGTH = 8

/** The settings that a session is made with. Only a change of one of these replaces the session. */
function sessionKey(carrier: Carrier): string {
  const { host, port, tls, tlsCa, tlsServerName, systemId, password, systemType, window } = carrier
  return JSON.stringify([host, port, tls, tlsCa, tlsServerName, systemId, password, systemType, window])
}

/** The links of every carrier that is not stopped, for the binds this node holds. `adopt` gives them a new directory. */
export class CarrierLinks<Token> {
  readonly #options: CarrierLinksOptions
  readonly #carriers = new Map<number, LinkedCarrier<Token>>()
  /** Binds whose sessions are closing, by carrier and number. */
  readonly #ending = new Map<string, Promise<void>>()
  /** The links of those sessions. */
  readonly #leaving = new Set<CarrierLink<Token>>()
  /** Links that `adopt` makes, until it starts them. */
  readonly #made: CarrierLink<Token>[] = []
  #listeners: LinkListeners<Token> | null = null
  #stopped = false

  constructor(options: CarrierLinksOptions) {
    this.#options = options
  }

  /** Sets the listeners of all links. Call it before `adopt` makes the first link. */
  heardBy(listeners: LinkListeners<Token>): void {
    this.#listeners = listeners
  }

  /**
   * Makes the links of this directory whose binds this node `holds`, and ends all others. A session whose own settings have
   * not changed continues.
   */
  adopt(directory: Directory, holds: Holds): void {
    const listeners = this.#listeners
    if (this.#stopped || listeners === null) return
    const { located = (carrier) => carrier } = this.#options
    const wanted = new Map(
      directory.contents.carriers
        .filter((carrier) => carrier.state !== 'stopped')
        .map(located)
        .filter((carrier) => carrier !== null)
        .map((carrier) => [carrier.id, carrier]),
    )
    for (const [id, { links }] of this.#carriers) {
      if (wanted.has(id)) continue
      this.#carriers.delete(id)
      for (const link of links) this.#stopLink(link)
    }
    for (const carrier of wanted.values()) this.#adoptCarrier(carrier, holds, listeners)
    // To open the sockets of 1,000 carriers takes 30 ms.
    void mapInSlices(this.#made.splice(0), (link) => link.start())
  }

  /** Whether a message could be submitted to the carrier now, or as soon as its window has room. */
  canSubmit(carrierId: number): boolean {
    const entry = this.#carriers.get(carrierId)
    return entry?.carrier.state === 'started' && entry.links.some((link) => link.canSubmit)
  }

  /** Whether none of its submitting sessions is known to answer. Each then takes one message at a time, as a trial. */
  isDoubtful(carrierId: number): boolean {
    const links = this.#carriers.get(carrierId)?.links ?? []
    return links.some((link) => link.isDoubtful) && !links.some((link) => link.canSubmit && !link.isDoubtful)
  }

  /** The carrier's link with the most room, or null when nothing can be submitted now. */
  freest(carrierId: number): CarrierLink<Token> | null {
    const entry = this.#carriers.get(carrierId)
    if (entry?.carrier.state !== 'started') return null
    let best: CarrierLink<Token> | null = null
    for (const link of entry.links) {
      if (link.windowFree > (best?.windowFree ?? 0)) best = link
    }
    return best
  }

  /** How many PDUs may be in flight to the carrier. */
  places(carrierId: number): number {
    let sum = 0
    for (const link of this.#carriers.get(carrierId)?.links ?? []) sum += link.places
    return sum
  }

  /** PDUs in flight to the carrier. */
  inFlight(carrierId: number): number {
    let sum = 0
    for (const link of this.#carriers.get(carrierId)?.links ?? []) sum += link.unanswered
    return sum
  }

  /**
   * The carrier's limits apply to the whole installation, so a node that has some of its binds has that share of its rate limits.
   * Null when it has none.
   */
  rateLimits(carrierId: number): CarrierRateLimits | null {
    return this.#carriers.get(carrierId)?.rateLimits ?? null
  }

  /** Resolves when no session of the bind is left. This node must not hold the bind. */
  async whenUnbound(carrierId: number, number: number): Promise<void> {
    await this.#ending.get(endingKey(carrierId, number))
  }

  status(carrierId: number): LinkStatus[] {
    return this.#carriers.get(carrierId)?.links.map((link) => link.status) ?? []
  }

  /** Null when the carrier has no link here. */
  summary(carrierId: number): LinkSummary | null {
    const links = this.status(carrierId)
    if (links.length === 0) return null
    const boundSince = links.map((link) => link.boundSince)
    return {
      state: statesText(links.map((link) => link.state)),
      since: boundSince.includes(null) ? null : (boundSince.toSorted().at(-1) ?? null),
      lastError: links.map((link) => link.lastClose).find((close) => close !== null) ?? null,
      unanswered: links.reduce((sum, link) => sum + link.unanswered, 0),
      links,
    }
  }

  /** Every bind that this node keeps up or is ending, by carrier. */
  reports(): ReadonlyMap<number, BindReport[]> {
    const links = [...this.#carriers.values()].flatMap((entry) => entry.links)
    const reports = new Map<number, BindReport[]>()
    for (const link of [...links, ...this.#leaving]) {
      const { id } = link.carrier
      reports.set(id, [...(reports.get(id) ?? []), link.report])
    }
    return reports
  }

  /**
   * Closes every link soon, until `adopt` is called again. A session that is not over after `mostMs` is cut, even one that
   * was closing already.
   */
  async close(mostMs?: number): Promise<void> {
    for (const { links } of this.#carriers.values()) for (const link of links) this.#stopLink(link)
    this.#carriers.clear()
    for (const link of this.#leaving) void link.close(mostMs)
    await Promise.all(this.#ending.values())
  }

  stop(): Promise<void> {
    this.#stopped = true
    return this.close()
  }

  #adoptCarrier(carrier: Carrier, holds: Holds, listeners: LinkListeners<Token>): void {
    const before = this.#carriers.get(carrier.id)
    const commands = BIND_TYPES[carrier.bindMode].map((type): BindCommand => `bind_${type}`)
    const same = before !== undefined && sessionKey(before.carrier) === sessionKey(carrier)
    if (!same && carrier.password.length > STANDARD_PASSWORD_LENGTH)
      this.#options.log.warn(
        { carrier: carrier.name },
        'the password of the carrier is longer than SMPP 3.4 allows',
      )
    const held = (number: number) => number < carrier.binds && holds(carrier.id, number)
    const links: CarrierLink<Token>[] = []
    for (const link of before?.links ?? []) {
      link.carrier = carrier
      if (same && commands.includes(link.bind) && held(link.number)) links.push(link)
      else this.#stopLink(link)
    }
    const going = links.length
    for (let number = 0; number < carrier.binds; number += 1) {
      if (!held(number)) continue
      for (const bind of commands) {
        if (!links.some((link) => link.number === number && link.bind === bind))
          links.push(this.#makeLink({ carrier, number, bind, listeners }))
      }
    }
    links.sort((a, b) => a.number - b.number)
    this.#carriers.set(carrier.id, { carrier, links, rateLimits: rateLimitsOf(carrier, links) })
    // Messages that waited while the carrier was draining are sent now.
    if (going > 0 && before?.carrier.state === 'draining' && carrier.state === 'started') {
      for (const link of links) if (link.canSubmit) listeners.submitter.onReady(link)
    }
  }

  /** Carriers allow a fixed number of sessions, so a new one begins when the one it replaces is over. */
  #makeLink(made: Omit<CarrierLinkOptions<Token>, 'timings' | 'log'>): CarrierLink<Token> {
    const { timings = {}, log } = this.#options
    const link = new CarrierLink({ ...made, timings, log })
    const ending = this.#ending.get(endingKey(made.carrier.id, made.number))
    if (ending === undefined) this.#made.push(link)
    else void ending.then(() => link.start())
    return link
  }

  #stopLink(link: CarrierLink<Token>): void {
    const key = endingKey(link.carrier.id, link.number)
    this.#leaving.add(link)
    const stopped = link.stop().then(() => void this.#leaving.delete(link))
    const ending = Promise.all([this.#ending.get(key), stopped]).then(() => {
      if (this.#ending.get(key) === ending) this.#ending.delete(key)
    })
    this.#ending.set(key, ending)
  }
}

function rateLimitsOf(carrier: Carrier, links: readonly { number: number }[]): CarrierRateLimits | null {
  if (links.length === 0) return null
  const part = new Set(links.map((link) => link.number)).size / carrier.binds
  const { messagesPerSecond, senderMessagesPerSecond } = carrier
  return {
    messagesPerSecond: messagesPerSecond === null ? null : messagesPerSecond * part,
    senderMessagesPerSecond: senderMessagesPerSecond === null ? null : senderMessagesPerSecond * part,
  }
}

function endingKey(carrierId: number, number: number): string {
  return `${carrierId}/${number}`
}

/** `BOUND_TRX x3, CLOSED` */
function statesText(states: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const state of states) counts.set(state, (counts.get(state) ?? 0) + 1)
  return [...counts].map(([state, count]) => (count === 1 ? state : `${state} x${count}`)).join(', ')
}
