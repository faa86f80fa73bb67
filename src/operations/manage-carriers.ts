import { randomBytes } from 'node:crypto'
import { carrierSecretContext, sealSecret } from '../domain/secrets.ts'
import { isCarrierHost } from '../domain/settings.ts'
import * as store from '../store/carriers.ts'
import { type Database, type Queryable, withTransaction } from '../store/database.ts'
import { refuseField, refuseMissing, sayConflicts } from './refuse-administration.ts'

const IV_BYTES = 12

/** `password` in plain text; it is stored sealed and never shown again. */
export async function createCarrier(
  db: Database,
  secretKey: Uint8Array,
  input: store.CarrierSettings & { password: string },
): Promise<store.CarrierRecord> {
  checkHost(input.host)
  return sayConflicts({ taken: `carrier ${input.name} exists already` }, () =>
    withTransaction(db, async (transaction) => {
      const carrierId = await store.reserveCarrierId(transaction)
      return store.insertCarrier(transaction, carrierId, input, seal(secretKey, input.password, carrierId))
    }),
  )
}

/** By name or number. Settings that are not in `change` stay, the password too. */
export async function changeCarrier(
  db: Database,
  secretKey: Uint8Array,
  nameOrId: string,
  change: Partial<store.CarrierSettings> & { password?: string },
): Promise<store.CarrierRecord> {
  if (change.host !== undefined) checkHost(change.host)
  return sayConflicts({ taken: `carrier ${change.name} exists already` }, () =>
    withTransaction(db, async (transaction) => {
      const carrier = await store.lockCarrier(transaction, nameOrId)
      if (carrier === undefined) throw refuseMissing('carrier')
      const { carrierId } = carrier
      const password = change.password === undefined ? null : seal(secretKey, change.password, carrierId)
      return store.updateCarrier(transaction, carrierId, { ...carrier, ...change }, password)
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

function checkHost(host: string): void {
  if (!isCarrierHost(host))
    throw refuseField('host', 'INVALID_FORMAT', 'must be a host name or an IP address')
}

function seal(secretKey: Uint8Array, password: string, carrierId: number): string {
  return sealSecret(secretKey, password, randomBytes(IV_BYTES), carrierSecretContext(carrierId))
}
