import type { Counterpart } from './counterparts.ts'
import {
  ImportedConfiguration,
  type ImportFault,
  ImportFaults,
  importedSender,
  type Limited,
  NO_SENDER,
  textsOfRegex,
  within,
} from './imported-configuration.ts'
import { carriersFor, type JasminRoute, prefixesIn, readRoutes } from './jasmin-routes.ts'
import {
  CONNECTOR_COUNTERPARTS,
  JASMIN_DEFAULTS,
  type JasminObject,
  type JasminSetting,
  type JasminText,
  type ListName,
  USER_COUNTERPARTS,
} from './jasmin-text.ts'
import { begins, GAPS, ImportedRoutes, planRouting } from './prefix-routing.ts'

/** A configuration of Jasmin as one of Aldis (docs/from-jasmin.md). */

/** Throws ImportFaults. */
export function importJasmin(text: JasminText): ImportedConfiguration {
  const imported = new ImportedConfiguration()
  const faults: ImportFault[] = [...text.faults, ...missing(text)]
  const carriers = new Map(text.connectors.map((connector) => importConnector(imported, connector)))
  const routes = readRoutes(imported, text.lists.get('mtRoutes') ?? [], carriers, faults)
  if (faults.length > 0) throw new ImportFaults(faults)
  const disabled = new Set([...disabledIn(text, 'users', 'user'), ...disabledIn(text, 'groups', 'group')])
  const shared = new ImportedRoutes(imported)
  for (const user of text.users) importUser(imported, user, routes, shared, disabled)
  reportLists(imported, text)
  return imported
}

function textOf(object: JasminObject, name: string): string {
  const value = object.get(name)?.value ?? ''
  return value === 'None' || value === 'none' || value === 'ND' ? '' : value
}

/** Connectors and users that a list has and of which nothing else is known. */
function missing({ lists, connectors, users }: JasminText): ImportFault[] {
  const faultsOf = (name: ListName, command: string, known: readonly JasminObject[], key: string) => {
    const ids = new Set(known.map((object) => object.get(key)!.value))
    return (lists.get(name) ?? []).flatMap(({ file, line, text }) => {
      const id = idIn(text)
      return ids.has(id) ? [] : [{ file, line, message: `the output of ${command} ${id} is missing` }]
    })
  }
  return [
    ...faultsOf('connectors', 'smppccm -s', connectors, 'cid'),
    ...faultsOf('users', 'user -s', users, 'uid'),
  ]
}

/** `!foo  1  foo  ND` -> foo; the mark says that it is disabled. */
function idIn(text: string): string {
  return /^!?(\S*)/.exec(text)![1]!
}

function disabledIn({ lists }: JasminText, name: ListName, kind: string): string[] {
  const rows = lists.get(name) ?? []
  return rows.filter(({ text }) => text.startsWith('!')).map(({ text }) => `${kind} ${idIn(text)}`)
}

const ID_RULES: Readonly<Record<string, string>> = { 1: 'decimal-hex', 2: 'hex-decimal' }

function importConnector(imported: ImportedConfiguration, connector: JasminObject): [string, string] {
  const cid = connector.get('cid')!
  const name = imported.linkName('carriers', cid.value)
  const idRule = ID_RULES[textOf(connector, 'dlr_msgid')]
  const settings = {
    state: 'stopped',
    host: textOf(connector, 'host'),
    port: Number(textOf(connector, 'port')) || 2775,
    tls: textOf(connector, 'ssl') === 'yes',
    bindMode: textOf(connector, 'bind') || 'transceiver',
    systemId: textOf(connector, 'username'),
    password: imported.secret(`${name} password`, textOf(connector, 'password')),
    systemType: textOf(connector, 'systype'),
    ...limited(imported, connector.get('submit_throughput'), 'messagesPerSecond'),
    ...limited(imported, connector.get('validity'), 'validitySeconds'),
    ...(idRule !== undefined && { idRule }),
  }
  imported.add('carriers', name, settings, `smppccm ${cid.value}, ${cid.file}:${cid.line}`)
  report(imported, connector, CONNECTOR_COUNTERPARTS, `carriers.${name}`)
  return [cid.value, name]
}

/** A number above 0 as this setting; anything else is none. */
function limited(imported: ImportedConfiguration, setting: JasminSetting | undefined, name: Limited) {
  const value = Number(setting?.value)
  if (setting === undefined || !(value > 0)) return {}
  return { [name]: within(imported, setting, setting.name, name, value) }
}

const SENDER_FILTER = 'mt_messaging_cred valuefilter src_addr'
const RECIPIENT_FILTER = 'mt_messaging_cred valuefilter dst_addr'

function importUser(
  imported: ImportedConfiguration,
  user: JasminObject,
  routes: readonly JasminRoute[],
  shared: ImportedRoutes,
  disabled: ReadonlySet<string>,
): void {
  const uid = user.get('uid')!
  const plan = uid.value
  const account = user.get('gid')?.value || plan
  const origin = `${uid.file}:${uid.line}`
  if (!imported.has('accounts', account)) imported.add('accounts', account, {}, `group ${account}, ${origin}`)
  const allowed = recipientsOf(imported, user)
  const prefixes = [allowed, ...routes.map((route) => route.prefixes)].flatMap((set) => [...(set ?? [])])
  const senders = routes.flatMap((route) => [...(route.senders ?? [])])
  const { route, rules, hasGaps } = planRouting(
    shared,
    prefixes.filter((prefix) => prefix !== ''),
    senders,
    (number, sender) => {
      if (allowed !== null && !begins(number, allowed)) return []
      return carriersFor(routes, { uid: plan, gid: account }, (set) => begins(number, set), sender)
    },
  )
  if (hasGaps) imported.drop(uid, 'mtrouter', GAPS)
  const rateLimit = limited(
    imported,
    user.get('mt_messaging_cred quota http_throughput'),
    'messagesPerSecond',
  )
  const settings = {
    account,
    route,
    ...((disabled.has(`user ${plan}`) || disabled.has(`group ${account}`)) && { active: false }),
    ...('messagesPerSecond' in rateLimit && { rateLimit }),
  }
  imported.add('plans', plan, settings, `user ${plan}, ${origin}`)
  for (const { from, prefix, route: other } of rules) {
    const name = [plan, from, prefix].filter((word) => word !== null).join(' ')
    imported.add('rules', name, { plan, ...(from && { from }), ...(prefix && { prefix }), route: other }, '')
  }
  approveSenders(imported, user, plan)
  report(imported, user, USER_COUNTERPARTS, `plans.${plan}`)
}

/** Prefixes that the user may send to; null: all. */
function recipientsOf(imported: ImportedConfiguration, user: JasminObject): ReadonlySet<string> | null {
  const filter = user.get(RECIPIENT_FILTER)
  const prefixes = filter === undefined || filter.value === '' ? null : prefixesIn(filter.value)
  if (filter !== undefined && filter.value !== '' && prefixes === null)
    imported.drop(
      filter,
      RECIPIENT_FILTER,
      `${filter.value} is no list of prefixes: every recipient is allowed`,
    )
  return prefixes === null || prefixes.has('') ? null : prefixes
}

function approveSenders(imported: ImportedConfiguration, user: JasminObject, plan: string): void {
  const filter = user.get(SENDER_FILTER)
  const listed = filter === undefined ? null : textsOfRegex(filter.value)
  if (listed === null) {
    const why = `${plan} could use any sender that matches ${filter?.value ?? '.*'}; here each needs a line in senders`
    imported.drop(filter ?? user.get('uid')!, SENDER_FILTER, why)
  }
  const own = textOf(user, 'mt_messaging_cred defaultvalue src_addr')
  const approved = [...(listed ?? []), ...(own === '' ? [] : [own])].flatMap((text) => {
    const sender = importedSender(text)
    if (sender === null) imported.drop(user.get('uid')!, 'src_addr', `${text} ${NO_SENDER}`)
    return sender === null ? [] : [[sender, { status: 'approved' }]]
  })
  if (approved.length > 0) imported.add('senders', plan, Object.fromEntries(approved), '')
}

function report(
  imported: ImportedConfiguration,
  object: JasminObject,
  counterparts: ReadonlyMap<string, Counterpart>,
  path: string,
): void {
  for (const setting of object.values()) {
    const { name, value } = setting
    const counterpart = counterparts.get(name)
    if (['', 'None', 'none', 'ND', JASMIN_DEFAULTS[name]].includes(value)) continue
    if (name.includes(' authorization ') && value === 'True') continue
    if (counterpart === undefined) imported.drop(setting, name, 'Jasmin 0.11 has no such setting')
    else if ('why' in counterpart) imported.drop(setting, name, counterpart.why)
    else imported.carry(setting, name, path, counterpart.to)
  }
}

const SCRIPTS = 'messages are not changed by scripts'
const UNIMPORTED: Readonly<Partial<Record<ListName, readonly [what: string, why: string]>>> = {
  moRoutes: [
    'morouter',
    'give the number to a plan (aldis number create), whose inboundUrl gets it as a webhook (docs/inbound.md)',
  ],
  httpConnectors: [
    'httpccm',
    'its URL can be the inboundUrl of a plan; webhooks are signed JSON (docs/inbound.md)',
  ],
  interceptors: ['interceptor', SCRIPTS],
}

function reportLists(imported: ImportedConfiguration, { lists }: JasminText): void {
  for (const [name, [what, why]] of Object.entries(UNIMPORTED))
    for (const row of lists.get(name as ListName) ?? []) imported.drop(row, `${what} ${idIn(row.text)}`, why)
  for (const row of lists.get('users') ?? [])
    imported.drop(
      row,
      `user ${idIn(row.text)}`,
      'Jasmin does not print passwords: create a token, aldis token create',
    )
}
