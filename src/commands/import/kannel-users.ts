import { SENDSMS_DLR_URL } from '../../domain/configuration/configuration.ts'
import { type ImportedConfiguration, importedSender, NO_SENDER } from './imported-configuration.ts'
import { type KannelCarrier, smscId } from './kannel-carriers.ts'
import {
  type KannelGroup,
  type KannelSetting,
  lastValues,
  type PrefixLists,
  passes,
  prefixLists,
} from './kannel-groups.ts'
import {
  begins,
  GAPS,
  type ImportedRoutes,
  type PrefixRules,
  planRouting,
  type RouteCarrier,
} from './prefix-routing.ts'

/** Users of sendsms: each gets an account and a service plan, which routes as Kannel does for it. */

/** What `sendsmsUsers` takes as a name. */
const USERNAME = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/

export interface KannelGateway {
  readonly carriers: readonly KannelCarrier[]
  readonly routes: ImportedRoutes
  readonly rules: PrefixRules
  readonly globalSender: KannelSetting | undefined
}

export function importUser(
  imported: ImportedConfiguration,
  group: KannelGroup,
  gateway: KannelGateway,
): void {
  const values = lastValues(group)
  const username = values.get('username')!.value
  const origin = `sendsms-user, ${group.file}:${group.line}`
  const forced = senderIn(imported, values.get('faked-sender'))
  const given = senderIn(imported, values.get('default-sender') ?? gateway.globalSender)
  imported.add('accounts', username, {}, origin)
  const virtualId = (values.get('forced-smsc') ?? values.get('default-smsc'))?.value
  const lists = prefixLists(imported, group, gateway.rules)
  const hasGaps = addPlan(
    imported,
    username,
    virtualId === undefined ? null : smscId(virtualId),
    lists,
    gateway,
  )
  if (hasGaps) imported.drop(group, 'to', GAPS)
  const senders = forced === null ? [given] : [forced]
  const approved = senders.filter((sender) => sender !== null)
  if (approved.length > 0)
    imported.add(
      'senders',
      username,
      Object.fromEntries(approved.map((sender) => [sender, { status: 'approved' }])),
      '',
    )
  if (forced === null)
    imported.drop(group, 'from', `${username} could use any sender; here each needs a line in senders`)
  if (!USERNAME.test(username)) {
    imported.drop(
      group,
      'username',
      'must begin with a letter or digit and have at most 64 letters, digits and . _ @ + -',
    )
    return
  }
  const callingCode = callingCodeOf(gateway.rules)
  const dlrUrl = dlrUrlIn(imported, values.get('dlr-url'))
  imported.add(
    'sendsmsUsers',
    username,
    {
      plan: username,
      password: imported.secret(`${username} sendsms password`, values.get('password')!.value),
      ...(given !== null && { defaultSender: given }),
      ...(forced !== null && { forcedSender: forced }),
      ...(callingCode !== null && { callingCode }),
      ...(dlrUrl !== null && { dlrUrl }),
    },
    origin,
  )
}

/** Without users there is one plan, which applications with tokens can use. */
export function addPlanWithoutUser(imported: ImportedConfiguration, gateway: KannelGateway): void {
  imported.add('accounts', 'Kannel', {}, 'there is no sendsms-user')
  const none = { tests: [], preferred: new Set<string>(), all: [] }
  addPlan(imported, 'Kannel', null, none, gateway)
}

/** Returns whether some of its messages have no carrier. */
function addPlan(
  imported: ImportedConfiguration,
  name: string,
  virtualId: string | null,
  lists: PrefixLists,
  { carriers, routes }: KannelGateway,
): boolean {
  const prefixes = [lists, ...carriers.map((carrier) => carrier.prefixes)].flatMap(({ all }) => all)
  const { route, rules, hasGaps } = planRouting(
    routes,
    prefixes.filter((prefix) => prefix !== ''),
    [],
    (number) => (passes(number, lists) ? usable(carriers, virtualId, number) : []),
  )
  imported.add(
    'plans',
    name,
    { account: name, route },
    virtualId === null ? '' : `for the smsc-id ${virtualId}`,
  )
  for (const { prefix, route: other } of rules)
    imported.add('rules', `${name} ${prefix}`, { plan: name, prefix, route: other }, '')
  return hasGaps
}

/**
 * The carriers that Kannel would take, as `smscconn_usable` and `smsc2_rout` choose them (gw/smscconn.c, gw/bb_smscconn.c):
 * preferred ones first, others only if none of those is up. Each connection has the same share.
 */
function usable(carriers: readonly KannelCarrier[], id: string | null, number: string): RouteCarrier[] {
  const found = carriers
    .filter((carrier) => carrier.submits && takesId(carrier, id) && passes(number, carrier.prefixes))
    .map((carrier) => ({ carrier, preferred: isPreferred(carrier, id, number) }))
  const hasPreferred = found.some(({ preferred }) => preferred)
  return found.map(({ carrier: { name, binds }, preferred }) => ({
    carrier: name,
    priority: preferred || !hasPreferred ? 0 : 1,
    weight: binds,
  }))
}

function takesId({ allowedIds, deniedIds }: KannelCarrier, id: string | null): boolean {
  if (allowedIds !== null) return id !== null && allowedIds.has(id)
  return id === null || !deniedIds.has(id)
}

function isPreferred({ preferredIds, prefixes }: KannelCarrier, id: string | null, number: string): boolean {
  return (id !== null && preferredIds.has(id)) || begins(number, prefixes.preferred)
}

/** The sender as Aldis writes it; null: there is none, or it is no sender. */
function senderIn(imported: ImportedConfiguration, setting: KannelSetting | undefined): string | null {
  if (setting === undefined || setting.value === '') return null
  const sender = importedSender(setting.value)
  if (sender === null) imported.drop(setting, setting.name, `${setting.value} ${NO_SENDER}`)
  return sender
}

/** The URL for reports; null: there is none, or Aldis takes no such URL. */
function dlrUrlIn(imported: ImportedConfiguration, setting: KannelSetting | undefined): string | null {
  if (setting === undefined || setting.value === '') return null
  const { value } = setting
  if (!SENDSMS_DLR_URL.test(value)) {
    imported.drop(setting, setting.name, 'it has credentials, or is no URL: requests have to name it')
    return null
  }
  if (value.startsWith('http:'))
    imported.drop(setting, setting.name, 'plain http is refused unless WEBHOOK_ALLOW_HOSTS names its host')
  return value
}

/** 358, if `unified-prefix` replaces a leading 0 by +358. */
function callingCodeOf(rules: PrefixRules): string | null {
  const national = rules.find(({ replaced }) => replaced.includes('0'))
  return /^\+([1-9][0-9]{0,2})$/.exec(national?.official ?? '')?.[1] ?? null
}
