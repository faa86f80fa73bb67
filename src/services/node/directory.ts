import { setTimeout as wait } from 'node:timers/promises'
import type { Directory } from '../../domain/configuration/directory.ts'
import { openSecret, type SecretKeys } from '../../domain/secrets.ts'
import type { Log } from '../../log.ts'
import type { Database } from '../../store/database.ts'
import { readDirectory, readDirectoryVersion } from '../../store/directory.ts'
import { PeriodicTask } from '../loops/periodic-task.ts'
import { SharedRun } from '../loops/shared-run.ts'

export interface DirectoryServiceOptions {
  readonly db: Database
  /** Opens carrier passwords and webhook secrets (`deriveKey(masterKey, 'secrets')`). */
  readonly secretKey: SecretKeys
  /** Milliseconds that only ever go forward (`performance.now`). */
  readonly clock: () => number
  readonly log: Log
  /** The longest wait of `fresh`. */
  readonly freshWaitMs?: number | undefined
  /** The most calls of `fresh` that may wait at once. */
  readonly maxFreshWaits?: number
}

type Listener = (directory: Directory) => void

/**
 * How often the version is read, and how old the snapshot may get before it counts as stale. Together with the time-out of a
 * request being answered, a revoked token is refused everywhere within 5 s.
 */
const POLL_INTERVAL_MS = 1_000
const STALE_AFTER_MS = 4_000
/** Long enough for a database restart, short enough for a client that waits. */
const FRESH_WAIT_MS = 2_000
/** Pause after a failed refresh. It is retried as long as somebody waits for it. */
const FRESH_RETRY_MS = 100
const MAX_FRESH_WAITS = 1_000
const NOT_READ = 'configuration not read'

/** Keeps the configuration of the whole installation in memory, at most some seconds old. */
export class DirectoryService {
  readonly #options: DirectoryServiceOptions
  readonly #listeners = new Set<Listener>()
  #directory: Directory | null = null
  #confirmedAtMs = Number.NEGATIVE_INFINITY
  readonly #reads = new SharedRun(() => this.#load())
  #freshening: Promise<Directory | null> | null = null
  #freshWaits = 0
  readonly #poll: PeriodicTask

  constructor(options: DirectoryServiceOptions) {
    this.#options = options
    this.#poll = new PeriodicTask(options.log, NOT_READ, POLL_INTERVAL_MS, () => this.refresh())
  }

  /** Loads the configuration, then polls for changes. Rejects, and does not poll, when the first load fails. */
  async start(): Promise<void> {
    await this.refresh()
    this.#poll.start()
  }

  /** Stops polling. Resolves when the poll in flight has ended. */
  async stop(): Promise<void> {
    await this.#poll.stop()
    await this.#reads.idle()
  }

  /** Resolves when the snapshot holds everything committed before the call. */
  refresh(): Promise<void> {
    return this.#reads.ask()
  }

  /** The snapshot. Throws before the first load. */
  current(): Directory {
    if (this.#directory === null) throw new Error('the directory is not loaded yet')
    return this.#directory
  }

  /** True when the snapshot was not confirmed for 4 s. What it allows may have been revoked since. */
  stale(): boolean {
    return this.#options.clock() - this.#confirmedAtMs > STALE_AFTER_MS
  }

  /**
   * Returns the snapshot while it is not stale. After a pause of the process or an outage of the database it is refreshed
   * first, once for all who wait. Resolves to null when that takes longer than 2 s, or when too many wait already.
   */
  fresh(): Directory | Promise<Directory | null> {
    if (!this.stale()) return this.current()
    const { maxFreshWaits = MAX_FRESH_WAITS } = this.#options
    if (this.#freshWaits >= maxFreshWaits) return Promise.resolve(null)
    this.#freshWaits += 1
    this.#freshening ??= this.#freshen().finally(() => {
      this.#freshening = null
      this.#freshWaits = 0
    })
    return this.#freshening
  }

  /** Calls `listener` after every change of the snapshot, including the first load. Returns a function that ends this. */
  onChange(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async #freshen(): Promise<Directory | null> {
    const { promise: late, resolve } = Promise.withResolvers<void>()
    let inTime = true
    const timer = setTimeout(() => {
      inTime = false
      resolve()
    }, this.#options.freshWaitMs ?? FRESH_WAIT_MS)
    try {
      while (inTime && this.stale()) {
        const failed = await Promise.race([
          this.refresh().then(
            () => false,
            () => true,
          ),
          late,
        ])
        if (failed) await Promise.race([wait(FRESH_RETRY_MS), late])
      }
    } finally {
      clearTimeout(timer)
    }
    return this.stale() ? null : this.current()
  }

  async #load(): Promise<void> {
    const { db, secretKey, clock } = this.#options
    const beganAtMs = clock()
    const version = await readDirectoryVersion(db)
    if (version !== this.#directory?.contents.version) {
      const open = (sealed: string, context: string) => openSecret(secretKey, sealed, context)
      const directory = await readDirectory(db, open, this.#directory)
      this.#report(directory.unreadable)
      this.#directory = directory
      for (const listener of this.#listeners) this.#notify(listener, directory)
    }
    this.#confirmedAtMs = beganAtMs
  }

  #report(unreadable: readonly string[]): void {
    const known = this.#directory?.unreadable ?? []
    for (const fault of unreadable)
      if (!known.includes(fault))
        this.#options.log.error({ fault }, 'secret cannot be decrypted: what needs it is out of service')
  }

  /** A listener that throws must not affect the others, or the admin request that caused the change. */
  #notify(listener: Listener, directory: Directory): void {
    try {
      listener(directory)
    } catch (error) {
      this.#options.log.error({ err: error }, NOT_READ)
    }
  }
}
