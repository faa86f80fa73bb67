import { randomBytes, X509Certificate } from 'node:crypto'
import {
  isCarrierHost,
  parseCommandStatus,
  pemCertificates,
  type RefusedOutcome,
} from '../domain/configuration.ts'
import { isSandbox, SANDBOX } from '../domain/sandbox.ts'
import { carrierSecretContext, IV_BYTES, type SecretKeys, sealSecret } from '../domain/secrets.ts'
import { conflict, invalidField } from '../errors.ts'
import {
  type CarrierRecord,
  type CarrierSettings,
  carriers,
  type NewCarrier,
  reserveCarrierId,
} from '../store/carriers.ts'
import type { Transaction } from '../store/database.ts'
import { changeRow, lockedRow, refuseReservedName } from './configuration-rows.ts'
import { sayConflicts } from './write-conflicts.ts'

/**
 * `password` in plain text; it is stored sealed and never shown again. An operator gives `tlsCa` as any PEM text of
 * certificates, `submitOutcomes` by command_status as `0x45` or `69`.
 */
export async function createCarrier(
  transaction: Transaction,
  secretKey: SecretKeys,
  input: NewCarrier & { password: string },
): Promise<CarrierRecord> {
  refuseReservedName(input)
  const settings = checked(input)
  return sayConflicts({ taken: `carrier ${input.name} exists already` }, () =>
    insertCarrier(transaction, secretKey, settings),
  )
}

/** `password` in plain text; `submitOutcomes` by command_status in decimal. */
export async function insertCarrier(
  transaction: Transaction,
  secretKey: SecretKeys,
  carrier: NewCarrier & { password: string },
): Promise<CarrierRecord> {
  const carrierId = await reserveCarrierId(transaction)
  const password = seal(secretKey, carrier.password, carrierId)
  return carriers.insert(transaction, { ...carrier, carrierId, password })
}

/** By name or number. Settings that are not in `change` keep their values, including the password. */
export async function updateCarrier(
  transaction: Transaction,
  secretKey: SecretKeys,
  nameOrId: string,
  change: Partial<CarrierSettings> & { password?: string },
): Promise<CarrierRecord> {
  refuseReservedName(change)
  const settings = checked(change)
  return sayConflicts({ taken: `carrier ${change.name} exists already` }, async () => {
    const carrier = await lockedRow(transaction, carriers, nameOrId)
    const { carrierId } = carrier
    if (isSandbox(carrier) && Object.keys(change).some((setting) => setting !== 'state'))
      throw conflict(`only the state of the carrier ${SANDBOX} can be changed`)
    return changeRow(transaction, carriers, nameOrId, {
      ...settings,
      ...(change.password !== undefined && { password: seal(secretKey, change.password, carrierId) }),
      // Setting a rule, even `auto`, discards what was learned.
      ...(change.idRule !== undefined && { learnedIdRule: null }),
    })
  })
}

/** The settings as they are stored. Throws for faults that a schema cannot express. */
function checked<Given extends Partial<CarrierSettings>>(given: Given): Given {
  const { host, tlsCa, tlsServerName, submitOutcomes } = given
  if (host !== undefined) checkHost('host', host)
  if (tlsServerName != null) checkHost('tlsServerName', tlsServerName)
  return {
    ...given,
    ...(tlsCa != null && { tlsCa: checkedAuthorities(tlsCa) }),
    ...(submitOutcomes !== undefined && { submitOutcomes: byDecimalStatus(submitOutcomes) }),
  }
}

function checkHost(field: string, host: string): void {
  if (!isCarrierHost(host))
    throw invalidField(field, 'INVALID_FORMAT', 'must be a host name or an IP address')
}

/** Keeps only the certificates: a key pasted with them would be shown to every operator. */
function checkedAuthorities(pem: string): string {
  const invalid = invalidField(
    'tlsCa',
    'INVALID_FORMAT',
    'must be one or more certificates in PEM, nothing else',
  )
  const certificates = pemCertificates(pem)
  if (certificates === null) throw invalid
  for (const certificate of certificates) {
    try {
      new X509Certificate(certificate)
    } catch {
      throw invalid
    }
  }
  return certificates.join('\n')
}

function byDecimalStatus(outcomes: Readonly<Record<string, RefusedOutcome>>): Record<string, RefusedOutcome> {
  const byStatus = new Map<number, RefusedOutcome>()
  for (const [text, outcome] of Object.entries(outcomes)) {
    const field = `submitOutcomes.${text}`
    const status = parseCommandStatus(text)
    if (status === null)
      throw invalidField(field, 'INVALID_FORMAT', 'must be a command_status, such as 0x45 or 69')
    if (status === 0) throw invalidField(field, 'NOT_ALLOWED', 'is ESME_ROK, which always means accepted')
    if (byStatus.has(status)) throw invalidField(field, 'REPEATED', 'is the same status as another')
    byStatus.set(status, outcome)
  }
  return Object.fromEntries(byStatus)
}

function seal(secretKey: SecretKeys, password: string, carrierId: number): string {
  return sealSecret(secretKey, password, randomBytes(IV_BYTES), carrierSecretContext(carrierId))
}
