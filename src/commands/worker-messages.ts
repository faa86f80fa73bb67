import type { App } from '../app/start.ts'

/** What `aldis serve` and its workers tell each other. Both are of one version, and the channel loses nothing. */

type Metrics = Awaited<ReturnType<App['metrics']>>
type TakenReceipts = Awaited<ReturnType<App['takeReceipts']>>

export type Question =
  | { readonly what: 'metrics' }
  /** Another worker has changed the configuration: this one must read it. */
  | { readonly what: 'refresh' }
  /** The receipts are JSON, because the parent passes them on unread. */
  | { readonly what: 'receipts'; readonly receipts: string }

/** Empty after `refresh`. */
export type Answer = Metrics | TakenReceipts

/** What a worker must know beyond the environment, which it reads as its parent did. */
export interface Assignment {
  /** From 1. */
  readonly number: number
  /** How many workers there are. */
  readonly workers: number
  readonly nodeName: string
  readonly databaseUrl: string
  readonly httpPort: number
  readonly operatorPort: number | null
  /** Whether it stops every carrier first. */
  readonly carriersStopped: boolean
  /**
   * Whether it listens before it starts anything, so that a port in use is found first. Otherwise it listens once it can
   * answer.
   */
  readonly listensFirst: boolean
}

export interface Ports {
  readonly url: string
  readonly port: number
  readonly operatorPort: number | null
}

export type ToWorker =
  | { readonly kind: 'begin'; readonly assignment: Assignment }
  | { readonly kind: 'stop' }
  | { readonly kind: 'ask'; readonly id: number; readonly question: Question }
  /** The answers of the other workers. */
  | { readonly kind: 'others'; readonly id: number; readonly answers: readonly Answer[] }

export type FromWorker =
  | { readonly kind: 'ready'; readonly ports: Ports }
  /** It could not start. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** It must not run any more, and neither must the others. */
  | { readonly kind: 'barred'; readonly reason: string }
  | {
      readonly kind: 'answer'
      readonly id: number
      readonly what: Question['what']
      readonly answer: Answer
    }
  /** The worker is alive, and its answer waits for a COMMIT. Repeated until it answers. */
  | { readonly kind: 'working'; readonly id: number }
  /** A question to all other workers. */
  | { readonly kind: 'ask-others'; readonly id: number; readonly question: Question }
