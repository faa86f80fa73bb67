import { randomBytes } from 'node:crypto'
import { hashPassword, isPassword, SALT_BYTES } from '../../domain/credentials.ts'
import { classifySender } from '../../domain/messages/addresses.ts'
import { type Fault, fault, refuseAny } from '../../errors.ts'
import type { Queryable, Transaction } from '../../store/database.ts'
import {
  findSendsmsPasswords,
  type NewSendsmsUser,
  type SendsmsUserRecord,
  sendsmsUsers,
} from '../../store/sendsms-users.ts'
import { changeRow, keyOfPlan, PLAN_GONE, refuseMore, sayConflicts } from './configuration-rows.ts'

/** Every node keeps all in memory, and a configuration file with all their passwords is compared within a minute. */
export const MAX_SENDSMS_USERS = 1_000
/** As many as the thread pool of Node.js hashes at once. */
const HASHES_AT_ONCE = 4

type SendsmsUserSettings = Omit<NewSendsmsUser, 'username' | 'planId'>

/** `password`: as `withHashedPassword` returns it. */
export async function createSendsmsUser(
  transaction: Transaction,
  input: SendsmsUserSettings & { username: string; servicePlanId: string },
): Promise<SendsmsUserRecord> {
  refuseAny(sendsmsUserFaults(input))
  const planId = await keyOfPlan(transaction, input.servicePlanId)
  const words = { taken: `sendsms user ${input.username} exists already`, inUse: PLAN_GONE }
  return sayConflicts(words, async () => {
    const user = await sendsmsUsers.insert(transaction, { ...input, planId })
    await refuseMore(transaction, sendsmsUsers, MAX_SENDSMS_USERS)
    return user
  })
}

/** Settings that are not in `change` keep their values, including the password. */
export async function updateSendsmsUser(
  transaction: Transaction,
  username: string,
  change: Partial<SendsmsUserSettings> & { servicePlanId?: string },
): Promise<SendsmsUserRecord> {
  refuseAny(sendsmsUserFaults(change))
  const { servicePlanId, ...settings } = change
  const columns = {
    ...settings,
    ...(servicePlanId !== undefined && { planId: await keyOfPlan(transaction, servicePlanId) }),
  }
  return sayConflicts({ inUse: PLAN_GONE }, () => changeRow(transaction, sendsmsUsers, username, columns))
}

export function sendsmsUserFaults(
  settings: Pick<Partial<SendsmsUserRecord>, 'defaultSender' | 'forcedSender'>,
): Fault[] {
  const { defaultSender, forcedSender } = settings
  return Object.entries({ defaultSender, forcedSender }).flatMap(([field, sender]) =>
    sender == null || classifySender(sender) !== null
      ? []
      : [fault(field, 'INVALID_FORMAT', 'must be a short code, an E.164 number or an alphanumeric sender')],
  )
}

/** The settings with the hash of their password in its place. Takes some 50 ms: call it outside a transaction. */
export async function withHashedPassword<Settings extends { readonly password?: string }>(
  settings: Settings,
): Promise<Settings> {
  const { password } = settings
  return password === undefined ? settings : { ...settings, password: await hash(password) }
}

/** The hash of each password: the stored one if it is of that password, so that equal passwords are no change. */
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
      hashes.set(username, isSame ? present : await hash(password))
    }
  }
  await Promise.all(Array.from({ length: HASHES_AT_ONCE }, hashWaiting))
  return hashes
}

function hash(password: string): Promise<string> {
  return hashPassword(password, randomBytes(SALT_BYTES))
}
