import type { Settings } from '../../domain/configuration/configuration-changes.ts'
import { findSendsmsPasswords, type NewSendsmsUser, sendsmsUsers } from '../../store/sendsms-users.ts'
import { MAX_SENDSMS_USERS, sendsmsUserFaults } from '../manage/sendsms-users.ts'
import { definedOf, deleteFrom, type Kind, type Scene, updateIn } from './scene.ts'

/** Users of `/cgi-bin/sendsms` of a configuration file. Their passwords are compared and written as hashes. */

type SendsmsUserEntry = Partial<Omit<NewSendsmsUser, 'username' | 'planId'>> & { readonly plan?: string }

export const SENDSMS_USERS: Kind = {
  name: 'sendsmsUsers',
  noun: sendsmsUsers.noun,
  secrets: ['password'],
  required: ['plan', 'password'],
  names: { plans: ({ settings }) => [settings.plan] },
  most: { table: sendsmsUsers, count: MAX_SENDSMS_USERS },
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
