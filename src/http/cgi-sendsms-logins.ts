import { createHmac, timingSafeEqual } from 'node:crypto'
import { BoundedMap } from '../collections/bounded-map.ts'
import { type RateLimit, SENDSMS_USERNAME, type SendsmsUser } from '../domain/configuration/configuration.ts'
import { isPassword, NO_PASSWORD } from '../domain/credentials.ts'
import { RateLimiter } from '../domain/limits/rate-limits.ts'
import { unavailable } from './outages.ts'
import { takeOrRefuse } from './rate-limiting.ts'

export interface Login {
  readonly username: string
  readonly password: string
  /** Whose failures count together. */
  readonly address: string
  /** Unix milliseconds. */
  readonly nowMs: number
}

/** Wrong passwords of one address, and those for one username: ten, and then ten a minute. */
const FAILURES: RateLimit = { perSecond: 10 / 60, burst: 10 }
/** Most users whose passwords are remembered. */
const MAX_REMEMBERED = 1_000
/** Each waits some 50 ms for the one before it. */
const MAX_WAITING = 20

/**
 * Checks the passwords of sendsms users. A password that was right is remembered as an HMAC, so that a request costs no
 * scrypt. Every other attempt costs one, of a user that exists or not; they take turns.
 */
export class CgiSendsmsLogins {
  readonly #key: Uint8Array
  /** HMACs of right passwords, by the stored hash. A changed password has another. */
  readonly #right = new BoundedMap<string, Buffer>(MAX_REMEMBERED)
  readonly #failures = new RateLimiter<string>()
  /** Attempts that are being checked, so that many requests at once are one. */
  readonly #waiting = new Map<string, Promise<boolean>>()
  #last: Promise<unknown> = Promise.resolve()

  /** `key`: 32 random bytes. */
  constructor(key: Uint8Array) {
    this.#key = key
  }

  /** Rejects with RATE_LIMITED after too many failures, and with SERVICE_UNAVAILABLE when too many attempts wait. */
  async isRight(user: SendsmsUser | undefined, login: Login): Promise<boolean> {
    const mac = createHmac('sha256', this.#key).update(login.password).digest()
    const known = user && this.#right.get(user.passwordHash)
    if (known !== undefined && timingSafeEqual(mac, known)) return true
    const name = JSON.stringify([login.username, user?.passwordHash, mac.toString('hex'), login.address])
    const same = this.#waiting.get(name)
    if (same !== undefined) return same
    if (this.#waiting.size >= MAX_WAITING) throw unavailable()
    const checked = this.#last
      .then(() => this.#check(user, login, mac))
      .finally(() => this.#waiting.delete(name))
    this.#waiting.set(name, checked)
    this.#last = checked.catch(() => undefined)
    return checked
  }

  async #check(user: SendsmsUser | undefined, login: Login, mac: Buffer): Promise<boolean> {
    const { address, nowMs, password, username } = login
    // Any other text is no username, and would only take room.
    const keys = [address, ...(SENDSMS_USERNAME.test(username) ? [`user ${username}`] : [])]
    const takes = keys.map((key) => ({ name: 'sendsms', key, limit: FAILURES, nowMs }))
    const spent = takes.find(({ key }) => this.#failures.left(key, FAILURES, nowMs) === 0)
    if (spent !== undefined) takeOrRefuse(this.#failures, spent)
    const isRight = (await isPassword(password, user?.passwordHash ?? NO_PASSWORD)) && user !== undefined
    if (isRight) this.#right.set(user.passwordHash, mac)
    else for (const take of takes) this.#failures.take(take.key, FAILURES, nowMs)
    return isRight
  }
}
