import type { App } from '../app/start.ts'

/** What `aldis serve` and its workers tell each other. Both are of one version, and the channel loses nothing. */

type Metrics = Awaited<ReturnType<App['metrics']>>
type TakenReceipts = Awaited<ReturnType<App['takeReceipts']>>

export type Question =
  | { readonly what: 'metrics' }
  /** It is to read the configuration, which another has changed. */
  | { readonly what: 'refresh' }
  /** As JSON: the parent passes them on as they are. */
  | { readonly what: 'receipts'; readonly receipts: string }

/** Empty for a configuration that was read. */
export type Answer = Metrics | TakenReceipts

/** What a worker is to do; everything else it reads from its environment, as its parent did. */
export interface Assignment {
  /** From 1. */
  readonly number: number
  /** How many workers there are. */
  readonly workers: number
  readonly nodeName: string
  readonly databaseUrl: string
  readonly httpPort: number
  readonly operatorPort: number | null
  /** Stop every carrier first. */
  readonly carriersStopped: boolean
  /** Listen before anything is started, so that a port in use is found first; else when everything answers. */
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
  /** What the other workers have answered. */
  | { readonly kind: 'others'; readonly id: number; readonly answers: readonly Answer[] }

export type FromWorker =
  | { readonly kind: 'ready'; readonly ports: Ports }
  /** It could not start. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** Another process has the name of its node. */
  | { readonly kind: 'replaced' }
  | {
      readonly kind: 'answer'
      readonly id: number
      readonly what: Question['what']
      readonly answer: Answer
    }
  /** All other workers are to be asked. */
  | { readonly kind: 'ask-others'; readonly id: number; readonly question: Question }
