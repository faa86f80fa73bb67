import { randomBytes } from 'node:crypto'
import { mapOfInSteps } from '../../collections/steps.ts'
import {
  namesInFile,
  type PresentObject,
  type Settings,
} from '../../domain/configuration/configuration-changes.ts'
import {
  completeRateLimit,
  type RateLimitSetting,
  rateLimitColumns,
  rateLimitField,
} from '../../domain/configuration/settings.ts'
import { IV_BYTES, orUnreadable } from '../../domain/secrets.ts'
import {
  changedWebhookHeaders,
  judgeWebhookHeaders,
  NO_WEBHOOK_HEADERS,
  sealWebhookHeaders,
  type WebhookHeaderChange,
  type WebhookHeaderSettings,
} from '../../domain/webhooks/requests.ts'
import { fault } from '../../errors.ts'
import { inSlices, mapInSlices } from '../../slices.ts'
import { type AccountRecord, accounts, deleteAccounts } from '../../store/accounts.ts'
import { findSendsmsPasswords, type NewSendsmsUser, sendsmsUsers } from '../../store/sendsms-users.ts'
import { newWebhookSecret, webhookHeadersOf } from '../manage/accounts.ts'
import { MAX_SENDSMS_USERS, sendsmsUserFaults } from '../manage/sendsms-users.ts'
import { definedOf, deleteFrom, type Kind, openUrl, type Scene, updateIn } from './scene.ts'

/** Accounts of a configuration file. */

interface AccountEntry extends WebhookHeaderChange {
  readonly accountId?: string
  readonly name?: string
  readonly defaultDlrUrl?: string | null
  readonly rateLimit?: RateLimitSetting | null
}

const UNREADABLE = 'unreadable'

export const ACCOUNTS: Kind = {
  name: 'accounts',
  noun: accounts.noun,
  secrets: ['webhookHeaders', 'webhookCredentials'],
  urls: ['defaultDlrUrl'],
  required: [],
  async read(scene) {
    const rows = await accounts.all(scene.db)
    scene.keys.accounts = await inSlices(mapOfInSteps(rows, ({ accountId, id }) => [accountId, id]))
    const names = await inSlices(namesInFile(rows.map(({ accountId: id, name }) => ({ id, name }))))
    return mapInSlices(rows.entries(), ([index, row]) => presentAccount(scene, row, names[index]!))
  },
  want({ name: called, path, value }, scene) {
    const { accountId, ...given } = value as AccountEntry
    const name = given.name ?? called
    const identity = scene.identify('accounts', path, name, accountId)
    scene.judgeUrl(path, 'defaultDlrUrl', given.defaultDlrUrl)
    if (identity === null) return [null]
    judgeHeaders(scene, path, identity, given)
    const settings = definedOf({
      ...given,
      name,
      webhookHeaders: given.webhookHeaders?.length === 0 ? null : given.webhookHeaders,
      rateLimit: given.rateLimit && completeRateLimit(given.rateLimit),
    })
    return [{ identity, name: called, path, settings }]
  },
  async create(scene, objects) {
    const rows = objects.map(({ identity, name, settings }) => {
      const { webhookSecret, sealed } = newWebhookSecret(scene.secretKey, identity)
      scene.issued.push({ accountId: identity, name, webhookSecret })
      const columns = accountColumns(scene, identity, settings)
      return { ...columns, name: settings.name as string, accountId: identity, webhookSecret: sealed }
    })
    await accounts.insertAll(scene.db, rows)
  },
  async learnKeys(scene) {
    for (const { accountId, id } of await accounts.all(scene.db)) scene.keys.accounts.set(accountId, id)
  },
  update: updateIn(accounts, (scene, changed, identity) => accountColumns(scene, identity, changed)),
  async delete(scene, objects) {
    const ids = objects.map(({ identity }) => scene.keys.accounts.get(identity)!)
    await deleteAccounts(scene.db, ids)
  },
}

function presentAccount(scene: Scene, row: AccountRecord, name: string): PresentObject {
  const headers = orUnreadable(() => webhookHeadersOf(scene.secretKey, row))
  const secrets =
    typeof headers === 'string'
      ? { webhookHeaders: UNREADABLE, webhookCredentials: UNREADABLE }
      : {
          webhookHeaders: headers.headers.length === 0 ? null : headers.headers,
          webhookCredentials: headers.credentials,
        }
  const settings = {
    name: row.name,
    defaultDlrUrl: openUrl(scene.secretKey, row.defaultDlrUrl),
    ...secrets,
    rateLimit: rateLimitField(row),
  }
  return { identity: row.accountId, name, key: row.accountId, settings }
}

/** The headers that an account has; null: no key opens them. */
function headersOf(scene: Scene, identity: string): WebhookHeaderSettings | null {
  const present = scene.presentWith('accounts', identity)
  if (present === undefined) return NO_WEBHOOK_HEADERS
  const { webhookHeaders, webhookCredentials } = present.settings
  if (webhookHeaders === UNREADABLE) return null
  return {
    headers: (webhookHeaders ?? []) as WebhookHeaderSettings['headers'],
    credentials: webhookCredentials as WebhookHeaderSettings['credentials'],
  }
}

function judgeHeaders(scene: Scene, path: string, identity: string, given: WebhookHeaderChange): void {
  const { webhookHeaders, webhookCredentials } = given
  const present = headersOf(scene, identity)
  const isGiven = webhookHeaders !== undefined || webhookCredentials !== undefined
  if (!isGiven) return
  if (present === null && (webhookHeaders === undefined || webhookCredentials === undefined)) {
    const message = 'must be given together with webhookHeaders: no key opens those that are stored'
    scene.faults.push(fault(`${path}.webhookCredentials`, 'REQUIRED', message))
  }
  const changed = changedWebhookHeaders(present ?? NO_WEBHOOK_HEADERS, given)
  scene.addFaults(path, judgeWebhookHeaders(changed, given))
}

function accountColumns(scene: Scene, identity: string, settings: Settings) {
  const { name, defaultDlrUrl, rateLimit, ...given } = settings as AccountEntry
  const isGiven = given.webhookHeaders !== undefined || given.webhookCredentials !== undefined
  const headers = changedWebhookHeaders(headersOf(scene, identity) ?? NO_WEBHOOK_HEADERS, given)
  return {
    ...(name !== undefined && { name }),
    ...(defaultDlrUrl !== undefined && { defaultDlrUrl: scene.sealUrl(defaultDlrUrl) }),
    ...rateLimitColumns(rateLimit),
    ...(isGiven && {
      webhookHeaders: sealWebhookHeaders(scene.secretKey, headers, randomBytes(IV_BYTES), identity),
    }),
  }
}

/** Users of `/cgi-bin/sendsms` of a configuration file. Their passwords are compared and written as hashes. */

type SendsmsUserEntry = Partial<Omit<NewSendsmsUser, 'username' | 'planId'>> & { readonly plan?: string }

export const SENDSMS_USERS: Kind = {
  name: 'sendsmsUsers',
  noun: sendsmsUsers.noun,
  secrets: ['password'],
  required: ['plan', 'password'],
  names: { plans: ({ settings }) => [settings.plan] },
  most: MAX_SENDSMS_USERS,
  async read(scene) {
    const passwords = await findSendsmsPasswords(scene.db)
    const rows = await sendsmsUsers.all(scene.db)
    return rows.map(({ username, servicePlanId: plan, createdAt, ...settings }) => ({
      identity: username,
      name: username,
      key: username,
      settings: { plan, ...settings, password: passwords.get(username)! },
    }))
  },
  want({ name, path, value }, scene) {
    const { plan: planName, ...given } = value as SendsmsUserEntry
    const plan = planName === undefined ? undefined : scene.refer('plans', `${path}.plan`, planName)
    scene.addFaults(path, sendsmsUserFaults(given))
    if (plan === null) return [null]
    const password = given.password === undefined ? undefined : scene.passwords.get(name)!
    return [{ identity: name, name, path, settings: definedOf({ ...given, plan, password }) }]
  },
  async create(scene, objects) {
    const rows = objects.map(({ identity, settings }) => ({
      ...columnsOf(scene, settings),
      username: identity,
    }))
    await sendsmsUsers.insertAll(scene.db, rows as NewSendsmsUser[])
  },
  update: updateIn(sendsmsUsers, columnsOf),
  delete: deleteFrom(sendsmsUsers),
}

function columnsOf(scene: Scene, { plan, ...settings }: Settings): Partial<NewSendsmsUser> {
  return { ...settings, ...(plan !== undefined && { planId: scene.keys.plans.get(plan as string)! }) }
}
