import { randomBytes, X509Certificate } from 'node:crypto'
import { carrierSecretContext, type SecretKeys, sealSecret } from '../domain/secrets.ts'
import {
  isCarrierHost,
  parseCommandStatus,
  pemCertificates,
  type RefusedOutcome,
} from '../domain/settings.ts'
import * as store from '../store/carriers.ts'
import { type Database, type Queryable, withTransaction } from '../store/database.ts'
import { refuseField, refuseMissing, sayConflicts } from './refuse-administration.ts'

const IV_BYTES = 12

/**
 * Settings as an operator gives them: `tlsCa` any PEM text of certificates, `submitOutcomes` by command_status as `0x45`
 * or `69`.
 */
type CarrierInput = store.CarrierSettings

/** `password` in plain text; it is stored sealed and never shown again. */
export async function createCarrier(
  db: Database,
  secretKey: SecretKeys,
  input: CarrierInput & { password: string },
): Promise<store.CarrierRecord> {
  const settings = { ...input, ...checked(input) }
  return sayConflicts({ taken: `carrier ${input.name} exists already` }, () =>
    withTransaction(db, async (transaction) => {
      const carrierId = await store.reserveCarrierId(transaction)
      return store.insertCarrier(transaction, carrierId, settings, seal(secretKey, input.password, carrierId))
    }),
  )
}

/** By name or number. Settings that are not in `change` stay, the password too. */
export async function changeCarrier(
  db: Database,
  secretKey: SecretKeys,
  nameOrId: string,
  change: Partial<CarrierInput> & { password?: string },
): Promise<store.CarrierRecord> {
  const settings = { ...change, ...checked(change) }
  return sayConflicts({ taken: `carrier ${change.name} exists already` }, () =>
    withTransaction(db, async (transaction) => {
      const carrier = await store.findCarrier(transaction, nameOrId, 'for update')
      if (carrier === undefined) throw refuseMissing('carrier')
      const { carrierId } = carrier
      const password = change.password === undefined ? null : seal(secretKey, change.password, carrierId)
      // A rule that is given, `auto` too, ends what was learned.
      const learned = change.idRule === undefined ? carrier.learnedIdRule : null
      return store.updateCarrier(transaction, carrierId, { ...carrier, ...settings }, password, learned)
    }),
  )
}

/** Removes a carrier that no route uses. */
export async function removeCarrier(db: Queryable, nameOrId: string): Promise<void> {
  const removed = await sayConflicts({ inUse: 'the carrier is still used by a route' }, () =>
    store.deleteCarrier(db, nameOrId),
  )
  if (!removed) throw refuseMissing('carrier')
}

/** What a schema cannot say of the settings that were given, and those of them that are stored in another form. */
function checked(given: Partial<CarrierInput>): Partial<store.CarrierSettings> {
  const { host, tlsCa, tlsServerName, submitOutcomes } = given
  if (host !== undefined) checkHost('host', host)
  if (tlsServerName != null) checkHost('tlsServerName', tlsServerName)
  return {
    ...(tlsCa != null && { tlsCa: checkedAuthorities(tlsCa) }),
    ...(submitOutcomes !== undefined && { submitOutcomes: byDecimalStatus(submitOutcomes) }),
  }
}

function checkHost(field: string, host: string): void {
  if (!isCarrierHost(host)) throw refuseField(field, 'INVALID_FORMAT', 'must be a host name or an IP address')
}

/** The certificates alone: a key pasted with them would be shown to every operator. */
function checkedAuthorities(pem: string): string {
  const refused = refuseField(
    'tlsCa',
    'INVALID_FORMAT',
    'must be one or more certificates in PEM, nothing else',
  )
  const certificates = pemCertificates(pem)
  if (certificates === null) throw refused
  for (const certificate of certificates) {
    try {
      new X509Certificate(certificate)
    } catch {
      throw refused
    }
  }
  return certificates.join('\n')
}

function byDecimalStatus(outcomes: Readonly<Record<string, RefusedOutcome>>): Record<string, RefusedOutcome> {
  const byStatus = new Map<number, RefusedOutcome>()
  for (const [text, outcome] of Object.entries(outcomes)) {
    const field = `submitOutcomes.${text}`
    const status = parseCommandStatus(text)
    if (status === null) throw refuseField(field, 'INVALID_FORMAT', 'must be a command_status, as 0x45 or 69')
    if (status === 0) throw refuseField(field, 'NOT_ALLOWED', 'is ESME_ROK, which always means accepted')
    if (byStatus.has(status)) throw refuseField(field, 'REPEATED', 'is the same status as another')
    byStatus.set(status, outcome)
  }
  return Object.fromEntries(byStatus)
}

function seal(secretKey: SecretKeys, password: string, carrierId: number): string {
  return sealSecret(secretKey, password, randomBytes(IV_BYTES), carrierSecretContext(carrierId))
}
