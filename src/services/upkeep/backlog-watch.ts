import {
  type Backlog,
  type HeldGroup,
  shownMessages,
  summed,
  type WaitingMessages,
  type WaitingWebhooks,
  waitingCause,
} from '../../domain/backlog.ts'
import type { Directory } from '../../domain/configuration/directory.ts'
import { createdAtMs } from '../../domain/identifiers.ts'
import type { CarrierCondition } from '../../domain/routing/routing.ts'
import {
  countParkedEvents,
  countWaitingEvents,
  countWaitingMessages,
  type WaitingEvents,
} from '../../store/backlog.ts'
import type { Database } from '../../store/database.ts'

export interface BacklogWatchOptions {
  /** The pool for look-ups, so that counting takes no connection from the message path. */
  readonly reads: Database
  readonly directory: () => Directory
  readonly held: () => readonly HeldGroup[]
  readonly conditionOf: (carrierId: number, routeId: number) => CarrierCondition
  /** Unix milliseconds. */
  readonly clock: () => number
}

/** A count of the database is reused for this long, however many ask. */
const MAX_AGE_MS = 10_000
/** It is also reused for this many times its own duration, so that counting takes at most 2 % of a connection. */
const AGE_PER_COST = 50
/** Routes, carriers and causes that are shown. Smaller ones are added up as `other`. */
const MAX_SHOWN = 200

type Counted = Pick<Backlog, 'waiting' | 'webhooks' | 'destinations' | 'more' | 'countedAtMs'>

/** Counts what waits, where and why: when somebody asks, but not too often. */
export class BacklogWatch {
  readonly #options: BacklogWatchOptions
  #counted: Promise<Counted> | null = null
  #expiresAtMs = Number.NEGATIVE_INFINITY

  constructor(options: BacklogWatchOptions) {
    this.#options = options
  }

  /** @throws when the database does not answer. */
  async read(): Promise<Backlog> {
    return { held: this.held(), ...(await this.#count()) }
  }

  /** Messages in the memory of this node. */
  held(): WaitingMessages[] {
    const directory = this.#options.directory()
    return shownMessages(
      this.#options.held().map(({ routeId, carrierId, cause, count, oldestMsgId }) => ({
        ...named(directory, routeId, carrierId),
        cause,
        count,
        oldestMs: createdAtMs(oldestMsgId),
      })),
      MAX_SHOWN,
    )
  }

  #count(): Promise<Counted> {
    const { clock } = this.#options
    if (this.#counted !== null && clock() < this.#expiresAtMs) return this.#counted
    const startedAtMs = clock()
    this.#expiresAtMs = Number.POSITIVE_INFINITY
    this.#counted = this.#read()
    this.#counted.then(
      () => {
        const tookMs = clock() - startedAtMs
        this.#expiresAtMs = clock() + Math.max(MAX_AGE_MS, AGE_PER_COST * tookMs)
      },
      () => (this.#counted = null),
    )
    return this.#counted
  }

  /** One statement after the other, so that a scrape takes one connection. */
  async #read(): Promise<Counted> {
    const { reads, directory, conditionOf, clock } = this.#options
    const messages = await countWaitingMessages(reads)
    const events = await countWaitingEvents(reads)
    const parked = await countParkedEvents(reads)
    const current = directory()
    const waiting = messages.groups.map((group) => ({
      ...named(current, group.routeId, group.carrierId),
      cause: waitingCause(group, current, conditionOf),
      count: group.count,
      oldestMs: createdAtMs(group.oldestMsgId),
    }))
    const ofTroubled = parked.destinations.flatMap(({ state, count, oldestMs }) =>
      oldestMs === null
        ? []
        : [{ cause: state === 'open' ? 'breaker-open' : state, count, oldestMs } as const],
    )
    return {
      waiting: shownMessages(waiting, MAX_SHOWN),
      webhooks: summed<WaitingWebhooks>(
        [...events.groups.map(waitingWebhooks), ...ofTroubled],
        ({ cause }) => cause,
      ),
      destinations: parked.destinations,
      more: { messages: messages.more, webhooks: events.more || parked.more },
      countedAtMs: clock(),
    }
  }
}

function waitingWebhooks({ due, retried, count, oldestAt }: WaitingEvents): WaitingWebhooks {
  return { cause: due ? 'due' : retried ? 'retry' : 'behind', count, oldestMs: oldestAt.getTime() }
}

function named(directory: Directory, routeId: number, carrierId: number | null) {
  return {
    route: directory.contents.routes.find(({ id }) => id === routeId)?.name ?? null,
    carrier: carrierId === null ? null : (directory.carrierById(carrierId)?.name ?? null),
  }
}
