import { randomBytes, X509Certificate } from 'node:crypto'
import type { ErrorOutcome } from '../../domain/carriers/statuses.ts'
import {
  isCarrierHost,
  outcomesByHexStatus,
  parseCommandStatus,
  pemCertificates,
} from '../../domain/configuration/configuration.ts'
import { isSandbox, SANDBOX } from '../../domain/sandbox.ts'
import {
  carrierSecretContext,
  IV_BYTES,
  openSecret,
  orUnreadable,
  type SecretKeys,
  sealSecret,
} from '../../domain/secrets.ts'
import { conflict, type Fault, fault } from '../../errors.ts'
import {
  type CarrierRecord,
  type CarrierSettings,
  carriers,
  findCarrierPasswords,
  reserveCarrierIds,
} from '../../store/carriers.ts'
import { TableKind } from './kind.ts'

type Settings = Partial<CarrierSettings> & { readonly password?: string }

export const CARRIERS = new TableKind<CarrierRecord>({
  name: 'carriers',
  table: carriers,
  nameField: 'name',
  hasSandbox: true,
  secrets: ['password'],
  required: ['host', 'systemId', 'password'],
  databaseKey: ({ carrierId }) => carrierId,
  storedSecrets: findCarrierPasswords,
  settingsOf({ carrierId, name, learnedIdRule, leases, createdAt, ...row }, { secretKey }, sealed) {
    const open = () => openSecret(secretKey, sealed!, carrierSecretContext(carrierId))
    return {
      ...row,
      submitOutcomes: outcomesByHexStatus(row.submitOutcomes),
      password: sealed && orUnreadable(open),
    }
  },
  judge(given, { faults }) {
    const { submitOutcomes, ...settings } = storable(given, faults)
    return { ...settings, submitOutcomes: submitOutcomes && outcomesByHexStatus(submitOutcomes) }
  },
  columns(settings, scene, name) {
    const { password, submitOutcomes, idRule } = settings as Settings
    const carrierId = scene.keys.carriers.get(name)!
    return {
      ...(submitOutcomes !== undefined && storable({ submitOutcomes }, [])),
      ...(password !== undefined && { password: sealCarrierPassword(scene.secretKey, password, carrierId) }),
      // Setting a rule, even `auto`, discards what was learned.
      ...(idRule !== undefined && { learnedIdRule: null }),
    }
  },
  newColumns: ({ identity }, scene) => ({ carrierId: scene.keys.carriers.get(identity) }),
  async prepare(scene, objects) {
    const ids = await reserveCarrierIds(scene.db, objects.length)
    for (const [index, { identity }] of objects.entries()) scene.keys.carriers.set(identity, ids[index]!)
  },
  refuseChange(carrier, change) {
    if (isSandbox(carrier) && Object.keys(change).some((setting) => setting !== 'state'))
      throw conflict(`only the state of the carrier ${SANDBOX} can be changed`)
  },
})

/** The settings as they are stored. Adds the faults that a schema cannot express. */
function storable(given: Settings, faults: Fault[]): Settings {
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
  outcomes: Readonly<Record<string, ErrorOutcome>>,
  faults: Fault[],
): Record<string, ErrorOutcome> {
  const byStatus = new Map<number, ErrorOutcome>()
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
