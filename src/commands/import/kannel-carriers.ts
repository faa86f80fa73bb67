import { type ImportedConfiguration, type Limited, type Place, within } from './imported-configuration.ts'
import {
  integerOf,
  type KannelGroup,
  type KannelSetting,
  lastValues,
  type PrefixLists,
  prefixLists,
} from './kannel-groups.ts'
import type { PrefixRules } from './prefix-routing.ts'

/** SMPP connections of Kannel as carriers. */

/** A carrier, with what Kannel's routing asks of its connections. */
export interface KannelCarrier {
  readonly name: string
  readonly groups: readonly KannelGroup[]
  readonly binds: number
  /** False: it has receivers only. */
  readonly submits: boolean
  readonly prefixes: PrefixLists
  readonly allowedIds: ReadonlySet<string> | null
  readonly deniedIds: ReadonlySet<string>
  readonly preferredIds: ReadonlySet<string>
}

/** One group `smsc`, whose instances are binds. */
interface Connection {
  readonly group: KannelGroup
  readonly values: ReadonlyMap<string, KannelSetting>
  readonly mode: 'transceiver' | 'transmitter' | 'receiver' | 'transmitter+receiver'
  readonly port: number
  readonly binds: number
}

/** Settings that may differ between connections that are binds of one carrier. */
const OF_ONE_BIND = new Set([
  ...['smsc', 'smsc-admin-id', 'instances', 'throughput', 'port', 'receive-port', 'transceiver-mode'],
  ...['log-file', 'log-level', 'log-format', 'our-host', 'our-port', 'our-receiver-port'],
])
const OF_ITS_SESSION = ['smsc-id', 'host', 'smsc-username', 'system-id', 'smsc-password', 'use-ssl']

const NUMBERS = ['port', 'receive-port', 'instances', 'max-pending-submits', 'validityperiod', 'msg-id-type']

function isTrue(setting: KannelSetting | undefined): boolean {
  return setting !== undefined && !/^(?:no|false|off|0)$/i.test(setting.value)
}

export function smscId(text: string): string {
  return text.trim().toLowerCase()
}

function idsIn(setting: KannelSetting | undefined): ReadonlySet<string> | null {
  return setting === undefined ? null : new Set(setting.value.split(';').map(smscId))
}

/** Adds a carrier for the groups that are binds of one: those with the same smsc-id, session and routing. */
export function importCarriers(
  imported: ImportedConfiguration,
  groups: readonly KannelGroup[],
  rules: PrefixRules,
): KannelCarrier[] {
  const connections = groups.map((group) => connectionOf(imported, group))
  const bySession = Map.groupBy(connections, ({ values }) =>
    JSON.stringify(OF_ITS_SESSION.map((name) => values.get(name)?.value ?? null)),
  )
  return [...bySession.values()].flatMap((session) =>
    carriersOf(session).map((members) => addCarrier(imported, members, rules)),
  )
}

function connectionOf(imported: ImportedConfiguration, group: KannelGroup): Connection {
  const values = lastValues(group)
  for (const setting of values.values()) {
    const { name, value } = setting
    const isNumber = name === 'throughput' ? Number(value) >= 0 : integerOf(setting) !== null
    if (!isNumber && [...NUMBERS, 'throughput'].includes(name))
      imported.drop(setting, name, `${value} is no number`)
  }
  const port = integerOf(values.get('port')) ?? 0
  const receivePort = integerOf(values.get('receive-port')) ?? 0
  const binds = Math.max(integerOf(values.get('instances')) ?? 1, 1)
  const common = { group, values, binds, port: port === 0 ? receivePort : port }
  if (isTrue(values.get('transceiver-mode'))) return { ...common, mode: 'transceiver' }
  if (port === 0) return { ...common, mode: 'receiver' }
  if (receivePort === 0) return { ...common, mode: 'transmitter' }
  if (receivePort !== port) notePorts(imported, values.get('receive-port')!, port)
  return { ...common, mode: 'transmitter+receiver' }
}

function notePorts(imported: ImportedConfiguration, place: Place, port: number): void {
  const why = `both directions of a carrier have one port, here ${port}: ask the carrier whether it takes them there, or a transceiver`
  imported.drop(place, 'receive-port', why)
}

/** Connections of one session as carriers: equal ones are binds; a transmitter takes receivers that have none. */
function carriersOf(session: readonly Connection[]): Connection[][] {
  const receivers = session.filter(({ mode }) => mode === 'receiver')
  const others = session.filter(({ mode }) => mode !== 'receiver')
  const alike = Map.groupBy(others, ({ mode, port, values }) =>
    JSON.stringify([
      mode,
      port,
      ...[...values.values()]
        .filter(({ name }) => !OF_ONE_BIND.has(name))
        .map(({ name, value }) => `${name} = ${value}`)
        .sort(),
    ]),
  )
  const carriers = [...alike.values()]
  const transmitter = carriers.find(([first]) => first!.mode === 'transmitter')
  if (transmitter !== undefined) transmitter.push(...receivers)
  else if (receivers.length > 0) carriers.push(receivers)
  return carriers
}

function addCarrier(
  imported: ImportedConfiguration,
  members: readonly Connection[],
  rules: PrefixRules,
): KannelCarrier {
  const [first] = members as [Connection]
  const { values, group } = first
  const submitting = members.filter(({ mode }) => mode !== 'receiver')
  const receiving = members.filter(({ mode }) => mode === 'receiver')
  const isPair = submitting.length > 0 && receiving.length > 0
  for (const { values: own, port } of isPair ? receiving : [])
    if (port !== first.port) notePorts(imported, own.get('receive-port')!, first.port)
  const sum = (some: readonly Connection[]) => some.reduce((total, { binds }) => total + binds, 0)
  const binds = within(imported, group, 'instances', 'binds', Math.max(sum(submitting), sum(receiving)))
  const host = values.get('host')?.value ?? ''
  const name = imported.linkName('carriers', values.get('smsc-id')?.value || host)
  const settings = {
    state: 'stopped',
    host,
    port: first.port,
    tls: isTrue(values.get('use-ssl')),
    bindMode: isPair ? 'transmitter+receiver' : first.mode,
    binds,
    systemId: (values.get('smsc-username') ?? values.get('system-id'))?.value ?? '',
    password: imported.secret(`${name} password`, values.get('smsc-password')?.value ?? ''),
    systemType: values.get('system-type')?.value ?? '',
    ...chosenSettings(imported, submitting.length > 0 ? submitting : members),
  }
  const places = members.map(({ group: { file, line } }) => `${file}:${line}`)
  imported.add('carriers', name, settings, `smsc ${values.get('smsc-id')?.value ?? ''}, ${places.join(', ')}`)
  return {
    name,
    groups: members.map((member) => member.group),
    binds,
    submits: submitting.length > 0,
    prefixes: prefixLists(imported, group, rules),
    allowedIds: idsIn(values.get('allowed-smsc-id')),
    deniedIds: idsIn(values.get('denied-smsc-id')) ?? new Set(),
    preferredIds: idsIn(values.get('preferred-smsc-id')) ?? new Set(),
  }
}

/** Settings that Kannel need not have, or has in another form. */
function chosenSettings(imported: ImportedConfiguration, members: readonly Connection[]) {
  const { values, group } = members[0]!
  const limited = (name: string, setting: Limited, value: number | null) =>
    value === null ? {} : { [setting]: within(imported, values.get(name) ?? group, name, setting, value) }
  const minutes = integerOf(values.get('validityperiod'))
  const idType = integerOf(values.get('msg-id-type'))
  return {
    ...limited('max-pending-submits', 'window', integerOf(values.get('max-pending-submits'))),
    ...limited('throughput', 'messagesPerSecond', rateOf(members)),
    ...limited('validityperiod', 'validitySeconds', minutes === null ? null : minutes * 60),
    ...(idType !== null && { idRule: ID_RULES[idType & 3] }),
  }
}

/** By msg-id-type: bit 0 is the form in submit_sm_resp and bit 1 that in the receipt; set: hexadecimal. */
const ID_RULES = ['normalised', 'decimal-hex', 'hex-decimal', 'normalised'] as const

/** The throughput of all binds; null: one of them has no limit. */
function rateOf(members: readonly Connection[]): number | null {
  let sum = 0
  for (const { values, binds } of members) {
    const rate = Number(values.get('throughput')?.value ?? 0)
    if (!(rate > 0)) return null
    sum += rate * binds
  }
  return sum
}
