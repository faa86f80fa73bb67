import { randomBytes, X509Certificate } from 'node:crypto'
import {
  isCarrierHost,
  parseCommandStatus,
  pemCertificates,
  type RefusedOutcome,
} from '../../domain/configuration/configuration.ts'
import { isSandbox, SANDBOX } from '../../domain/sandbox.ts'
import { carrierSecretContext, IV_BYTES, type SecretKeys, sealSecret } from '../../domain/secrets.ts'
import { checked, conflict, type Fault, fault } from '../../errors.ts'
import {
  type CarrierRecord,
  type CarrierSettings,
  carriers,
  type NewCarrier,
  reserveCarrierIds,
} from '../../store/carriers.ts'
import type { Transaction } from '../../store/database.ts'
import { changeRow, lockedRow, refuseReservedName, sayConflicts } from './configuration-rows.ts'

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
  const settings = checked((faults) => storableCarrier(input, faults))
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
  const [carrierId] = (await reserveCarrierIds(transaction, 1)) as [number]
  const password = sealCarrierPassword(secretKey, carrier.password, carrierId)
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
  const settings = checked((faults) => storableCarrier(change, faults))
  return sayConflicts({ taken: `carrier ${change.name} exists already` }, async () => {
    const carrier = await lockedRow(transaction, carriers, nameOrId)
    const { carrierId } = carrier
    if (isSandbox(carrier) && Object.keys(change).some((setting) => setting !== 'state'))
      throw conflict(`only the state of the carrier ${SANDBOX} can be changed`)
    return changeRow(transaction, carriers, nameOrId, {
      ...settings,
      ...(change.password !== undefined && {
        password: sealCarrierPassword(secretKey, change.password, carrierId),
      }),
      // Setting a rule, even `auto`, discards what was learned.
      ...(change.idRule !== undefined && { learnedIdRule: null }),
    })
  })
}

/** The settings as they are stored. Adds the faults that a schema cannot express. */
export function storableCarrier<Given extends Partial<CarrierSettings>>(
  given: Given,
  faults: Fault[],
): Given {
  const { host, tlsCa, tlsServerName, submitOutcomes } = given
  for (const [field, name] of Object.entries({ host, tlsServerName }))
    if (name != null && !isCarrierHost(name))
      faults.push(fault(field, 'INVALID_FORMAT', 'must be a host name or an IP address'))
  return {
    ...given,
    ...(tlsCa != null && { tlsCa: authorities(tlsCa, faults) }),
    ...(submitOutcomes !== undefined && { submitOutcomes: byDecimalStatus(submitOutcomes, faults) }),
  }
}

/** Keeps only the certificates: a key pasted with them would be shown to every operator. */
function authorities(pem: string, faults: Fault[]): string {
  const certificates = pemCertificates(pem)
  if (certificates === null || !certificates.every(isCertificate))
    faults.push(fault('tlsCa', 'INVALID_FORMAT', 'must be one or more certificates in PEM, nothing else'))
  return certificates?.join('\n') ?? pem
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem)
    return true
  } catch {
    return false
  }
}

function byDecimalStatus(
  outcomes: Readonly<Record<string, RefusedOutcome>>,
  faults: Fault[],
): Record<string, RefusedOutcome> {
  const byStatus = new Map<number, RefusedOutcome>()
  for (const [text, outcome] of Object.entries(outcomes)) {
    const field = `submitOutcomes.${text}`
    const status = parseCommandStatus(text)
    if (status === null)
      faults.push(fault(field, 'INVALID_FORMAT', 'must be a command_status, such as 0x45 or 69'))
    else if (status === 0)
      faults.push(fault(field, 'NOT_ALLOWED', 'is ESME_ROK, which always means accepted'))
    else if (byStatus.has(status)) faults.push(fault(field, 'REPEATED', 'is the same status as another'))
    else byStatus.set(status, outcome)
  }
  return Object.fromEntries(byStatus)
}

/** The password as it is stored with the carrier of this number. */
export function sealCarrierPassword(secretKey: SecretKeys, password: string, carrierId: number): string {
  return sealSecret(secretKey, password, randomBytes(IV_BYTES), carrierSecretContext(carrierId))
}
