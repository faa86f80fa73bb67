import { ImportedConfiguration, type ImportFault, ImportFaults } from './imported-configuration.ts'
import { importCarriers, type KannelCarrier } from './kannel-carriers.ts'
import { integerOf, type KannelFiles, type KannelGroup, lastValues } from './kannel-groups.ts'
import { counterpartOf, whyNone } from './kannel-settings.ts'
import { addPlanWithoutUser, importUser, type KannelGateway } from './kannel-users.ts'
import { ImportedRoutes, readUnifiedPrefix } from './prefix-routing.ts'

/** A configuration of Kannel as one of Aldis (docs/from-kannel.md). */

const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  smsc: ['host', 'smsc-password'],
  'sendsms-user': ['username', 'password'],
}

/** Throws ImportFaults. */
export function importKannel({ groups, faults }: KannelFiles): ImportedConfiguration {
  const imported = new ImportedConfiguration()
  const smpp = groups.filter((group) => group.type === 'smsc' && kindOf(group) === 'smpp')
  const users = groups.filter(({ type }) => type === 'sendsms-user')
  const all = [...faults, ...[...smpp, ...users].flatMap(missing), ...repeatedUsers(users)]
  if (all.length > 0) throw new ImportFaults(all)
  const settingOf = (type: string, name: string) =>
    groups.filter((group) => group.type === type).flatMap((group) => lastValues(group).get(name) ?? [])[0]
  const rules = readUnifiedPrefix(settingOf('core', 'unified-prefix')?.value ?? '')
  const carriers = importCarriers(imported, smpp, rules)
  const globalSender = settingOf('smsbox', 'global-sender')
  const gateway: KannelGateway = { carriers, routes: new ImportedRoutes(imported), rules, globalSender }
  for (const user of users) importUser(imported, user, gateway)
  if (users.length === 0) addPlanWithoutUser(imported, gateway)
  reportGroups(imported, groups, carriers)
  return imported
}

function kindOf(group: KannelGroup): string {
  return lastValues(group).get('smsc')?.value ?? ''
}

function missing(group: KannelGroup): ImportFault[] {
  const values = lastValues(group)
  const isThere = (name: string) => (values.get(name)?.value ?? '') !== ''
  const names = REQUIRED[group.type]!.filter((name) => !isThere(name))
  if (group.type === 'smsc') {
    if (!isThere('smsc-username') && !isThere('system-id')) names.push('smsc-username')
    const ports = [values.get('port'), values.get('receive-port')].map((setting) => integerOf(setting) ?? 0)
    if (!ports.some((port) => port > 0)) names.push('port')
  }
  return names.map((name) => ({
    file: group.file,
    line: group.line,
    message: `${group.type} has no ${name}`,
  }))
}

function repeatedUsers(users: readonly KannelGroup[]): ImportFault[] {
  const lines = new Map<string, number>()
  return users.flatMap((group) => {
    const username = lastValues(group).get('username')?.value ?? ''
    const first = lines.get(username)
    lines.set(username, first ?? group.line)
    if (first === undefined) return []
    return [{ file: group.file, line: group.line, message: `${username} is also the user of line ${first}` }]
  })
}

/** Says of every setting what became of it. */
function reportGroups(
  imported: ImportedConfiguration,
  groups: readonly KannelGroup[],
  carriers: readonly KannelCarrier[],
): void {
  const carrierOf = new Map(carriers.flatMap(({ name, groups: own }) => own.map((group) => [group, name])))
  for (const group of groups) {
    const why = whyNone(group.type)
    const carrier = carrierOf.get(group)
    if (why !== null) imported.drop(group, nameOf(group), why)
    else if (group.type === 'smsc' && carrier === undefined)
      imported.drop(group, `smsc ${kindOf(group)}`, 'of all kinds of SMSC, Aldis has SMPP')
    else reportSettings(imported, group, carrier === undefined ? objectOf(group) : `carriers.${carrier}`)
  }
}

/** `sms-service nop`, `dlr-db mydlr` */
function nameOf(group: KannelGroup): string {
  const values = lastValues(group)
  const name = ['keyword', 'keyword-regex', 'shortcode', 'id', 'name'].find((each) => values.has(each))
  return name === undefined ? group.type : `${group.type} ${values.get(name)!.value}`
}

function objectOf(group: KannelGroup): string {
  return group.type === 'sendsms-user'
    ? `sendsmsUsers.${lastValues(group).get('username')!.value}`
    : 'sendsmsUsers'
}

function reportSettings(imported: ImportedConfiguration, group: KannelGroup, object: string): void {
  const values = lastValues(group)
  for (const setting of group.settings) {
    const { name } = setting
    const counterpart = counterpartOf(group.type, name)
    const last = values.get(name)!
    if (last !== setting) imported.drop(setting, name, `line ${last.line} of the same group takes its place`)
    else if (counterpart === undefined)
      imported.drop(setting, name, `Kannel 1.4.5 has no such setting in ${group.type}`)
    else if ('why' in counterpart) imported.drop(setting, name, counterpart.why)
    else imported.carry(setting, name, object, counterpart.to)
  }
}
