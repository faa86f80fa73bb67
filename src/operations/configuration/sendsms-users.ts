import { randomBytes } from 'node:crypto'
import { hashPassword, isPassword, SALT_BYTES } from '../../domain/credentials.ts'
import { classifySender } from '../../domain/messages/addresses.ts'
import { fault } from '../../errors.ts'
import type { Queryable } from '../../store/database.ts'
import { findSendsmsPasswords, type SendsmsUserRecord, sendsmsUsers } from '../../store/sendsms-users.ts'
import { TableKind } from './kind.ts'

/** Every node keeps all in memory, and a configuration file with all their passwords is compared within a minute. */
const MAX_SENDSMS_USERS = 1_000
/** As many as the thread pool of Node.js hashes at once. */
const HASHES_AT_ONCE = 4

/** Users of `/cgi-bin/sendsms`. Their passwords are compared and written as hashes. */
export const SENDSMS_USERS = new TableKind<SendsmsUserRecord>({
  name: 'sendsmsUsers',
  table: sendsmsUsers,
  nameField: 'username',
  secrets: ['password'],
  openUrls: ['dlrUrl'],
  required: ['plan', 'password'],
  references: { plan: 'plans' },
  most: MAX_SENDSMS_USERS,
  storedSecrets: findSendsmsPasswords,
  settingsOf({ username, servicePlanId: plan, createdAt, ...settings }, _scene, password) {
    return { plan, ...settings, password }
  },
  judge(given, { scene, name, faults }) {
    for (const field of ['defaultSender', 'forcedSender']) {
      const sender = given[field]
      if (sender != null && classifySender(sender as string) === null)
        faults.push(
          fault(field, 'INVALID_FORMAT', 'must be a short code, an E.164 number or an alphanumeric sender'),
        )
    }
    return given.password === undefined ? given : { ...given, password: scene.passwords.get(name) }
  },
})

/**
 * The hash of each password, by username: the stored one if it is of that password, so that equal passwords are no change. A
 * hash takes some 50 ms: call it outside a transaction.
 */
export async function hashedPasswords(
  db: Queryable,
  passwords: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  if (passwords.size === 0) return new Map()
  const stored = await findSendsmsPasswords(db)
  const hashes = new Map<string, string>()
  const waiting = passwords.entries()
  const hashWaiting = async () => {
    for (const [username, password] of waiting) {
      const present = stored.get(username)
      const isSame = present !== undefined && (await isPassword(password, present))
      hashes.set(username, isSame ? present : await hashPassword(password, randomBytes(SALT_BYTES)))
    }
  }
  await Promise.all(Array.from({ length: HASHES_AT_ONCE }, hashWaiting))
  return hashes
}
