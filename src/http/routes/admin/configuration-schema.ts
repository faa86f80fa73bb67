import type { TObject, TProperties, TSchema } from 'typebox'
import {
  CONFIGURATION_KINDS,
  type KindName,
  type Settings,
} from '../../../domain/configuration/configuration-changes.ts'
import { nearestName } from '../../../domain/near-names.ts'
import { type Fault, fault } from '../../../errors.ts'
import type { WantedConfiguration } from '../../../operations/configuration/apply.ts'
import type { FileEntry } from '../../../operations/configuration/file-scene.ts'
import { mapInSlices } from '../../../slices.ts'
import { portablePattern } from '../../openapi-components.ts'
import { Type } from '../../schemas/schema-builder.ts'
import { Nullable } from '../../schemas/shapes.ts'
import { checkOf, isObject, patterned } from '../../validate.ts'
import { AccountCreation } from './accounts.ts'
import { CarrierCreation } from './carriers.ts'
import { DisplayName, InboundNumberField, LinkName, NumberPrefix, SendsmsUsername } from './fields.ts'
import { InboundNumberCreation } from './inbound-numbers.ts'
import { NumberRangeChange } from './number-ranges.ts'
import { RateCreation } from './rates.ts'
import { RouteCreation } from './routes.ts'
import { RoutingRuleCreation, SenderRuleCreation } from './rules.ts'
import { SenderSetting } from './senders.ts'
import { SendsmsUserCreation } from './sendsms-users.ts'
import { ServicePlanCreation } from './service-plans.ts'

/**
 * The schema of a configuration file: of each object the fields with which the admin API creates one. Names of objects stand
 * for their ids, and every field may be omitted.
 */

/** Any text that the file calls an object by. */
const Name = patterned(
  /^(?=.{1,300}$)[^\s\p{Cc}\p{Cs}](?:[^\p{Cc}\p{Cs}]*[^\s\p{Cc}\p{Cs}])?$/u,
  'must have 1 to 300 printable characters and no space at the ends',
)
const AccountName = {
  ...Name,
  description: 'Account: its name in the file, its name if no other has it, or its id',
}
const PlanName = {
  ...Name,
  description: 'Service plan: its name in the file, its name if no other has it, or its id',
}
const plan = Nullable({
  ...PlanName,
  description: `${PlanName.description}; null: all plans`,
} as typeof PlanName)

interface KindSchema {
  readonly description: string
  readonly key: TSchema
  readonly value: TSchema
  /** Names of a CSV file may stand for the objects. */
  readonly isTable?: true
}

function entry(
  { properties }: { readonly properties: TProperties },
  idsByName: readonly string[],
  more: TProperties = {},
) {
  const own = Object.entries(properties).filter(([name]) => !idsByName.includes(name))
  return Type.Partial(Type.Object({ ...Object.fromEntries(own), ...more }), { additionalProperties: false })
}

const SCHEMAS: Readonly<Record<KindName, KindSchema>> = {
  accounts: {
    description: 'Accounts by name; accountId tells one whose name is another',
    key: Name,
    value: entry(AccountCreation, []),
  },
  carriers: { description: 'Carriers by name', key: LinkName, value: entry(CarrierCreation, ['name']) },
  routes: { description: 'Routes by name', key: LinkName, value: entry(RouteCreation, ['name']) },
  plans: {
    description: 'Service plans by name; servicePlanId tells one whose name is another',
    key: Name,
    value: entry(ServicePlanCreation, ['accountId'], { account: AccountName }),
  },
  senders: {
    description: 'Senders by service plan and sender',
    key: Name,
    value: Type.Record(Type.String(), SenderSetting),
  },
  numbers: {
    description: 'Inbound numbers',
    key: InboundNumberField,
    value: entry(InboundNumberCreation, ['number', 'servicePlanId'], { plan: PlanName }),
  },
  sendsmsUsers: {
    description: 'Users of /cgi-bin/sendsms by username',
    key: SendsmsUsername,
    value: entry(SendsmsUserCreation, ['username', 'servicePlanId'], { plan: PlanName }),
  },
  rules: {
    description: 'Routing rules, by any name: what a rule applies to identifies it',
    key: Name,
    value: entry(RoutingRuleCreation, ['servicePlanId'], { plan }),
  },
  senderRules: {
    description: 'Sender rules, by any name: plan and country identify a rule',
    key: Name,
    value: Type.Object(entry(SenderRuleCreation, ['servicePlanId'], { plan }).properties, {
      required: ['country'],
      additionalProperties: false,
    }),
  },
  rates: {
    description: 'Rates, by any name: what a rate applies to identifies it',
    key: Name,
    value: entry(RateCreation, ['servicePlanId'], { plan }),
    isTable: true,
  },
  ranges: {
    description: 'Number ranges by prefix',
    key: NumberPrefix,
    value: entry(NumberRangeChange, []),
    isTable: true,
  },
}

/** Compiled when they are first used. */
const CHECKS = Object.fromEntries(
  CONFIGURATION_KINDS.map((kind) => [
    kind,
    { key: checkOf(SCHEMAS[kind].key), value: checkOf(SCHEMAS[kind].value) },
  ]),
)
const checkDisplayName = checkOf(DisplayName)

/** The objects of a configuration, a Map for each kind, and the faults of what does not fit their schema. */
export async function readConfiguration(configuration: object): Promise<WantedConfiguration> {
  const entries = new Map<KindName, FileEntry[]>()
  const faults: Fault[] = []
  for (const [kind, objects] of Object.entries(configuration)) {
    if (!isKind(kind)) faults.push(unknown(kind, kind, 'a kind of object', CONFIGURATION_KINDS))
    else if (objects instanceof Map) {
      const read = ([name, value]: [string, unknown]) => readEntry(kind, name, value, faults)
      entries.set(kind, await mapInSlices(objects, read))
    } else faults.push(fault(kind, 'WRONG_TYPE', 'must be an object, with an object for each name'))
  }
  return { entries, faults }
}

function readEntry(kind: KindName, name: string, value: unknown, faults: Fault[]): FileEntry {
  const path = `${kind}.${name}`
  const { key, value: check } = CHECKS[kind]!
  const isNamedByKey =
    (kind === 'accounts' || kind === 'plans') && isObject(value) && value.name === undefined
  const ofName = isNamedByKey ? checkDisplayName(name) : key(name)
  const ofValue = check(value)
  if (ofName.length === 0 && ofValue.length === 0)
    return { name, path, value: value as Settings, isFaulty: false }
  faults.push(...ofName.map((each) => ({ ...each, field: path })))
  for (const each of ofValue) {
    const field = each.field === 'request' ? path : `${path}.${each.field}`
    faults.push(each.code === 'UNKNOWN_FIELD' ? unknownSetting(kind, field, each) : { ...each, field })
  }
  return { name, path, value: ofName.length === 0 ? soundSettings(value, ofValue) : null, isFaulty: true }
}

/** The settings without faults; null if one that is required is missing. */
function soundSettings(value: unknown, faults: readonly Fault[]): Settings | null {
  if (!isObject(value) || faults.some(({ code, field }) => code === 'REQUIRED' || field === 'request'))
    return null
  const faulty = new Set(faults.flatMap(({ field }) => beginningsOf(field)))
  return Object.fromEntries(Object.entries(value).filter(([name]) => !faulty.has(name)))
}

/** `a.b` -> `a`, `a.b`: names have dots too. */
function beginningsOf(field: string): string[] {
  return field.split('.').map((_, index, parts) => parts.slice(0, index + 1).join('.'))
}

function unknownSetting(kind: KindName, field: string, { field: name }: Fault): Fault {
  const { properties = {} } = SCHEMAS[kind].value as Partial<TObject>
  return unknown(field, name, `a setting of ${kind}`, Object.keys(properties))
}

function unknown(field: string, name: string, what: string, known: readonly string[]): Fault {
  const near = nearestName(name, known)
  const hint = near === null ? `; there are ${known.join(', ')}` : `; did you mean ${near}?`
  return fault(field, 'UNKNOWN_FIELD', `is not ${what}${known.length === 0 ? '' : hint}`)
}

function isKind(name: string): name is KindName {
  return Object.hasOwn(SCHEMAS, name)
}

type Node = Readonly<Record<string, unknown>>

/** The JSON Schema of a file, for editors: with what only the command line knows, values of the environment and of files. */
export function configurationJsonSchema(): object {
  const kinds = CONFIGURATION_KINDS.map((kind): [string, object] => {
    const { description, key, value, isTable } = SCHEMAS[kind]
    const { pattern } = key as { pattern?: string }
    const objects = {
      type: 'object',
      propertyNames: portablePattern(String(pattern)),
      additionalProperties: forEditors(value),
    }
    const table = { $ref: '#/$defs/table' }
    return [kind, isTable ? { description, anyOf: [objects, table] } : { description, ...objects }]
  })
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration of Aldis',
    type: 'object',
    properties: Object.fromEntries(kinds),
    additionalProperties: false,
    $defs: {
      environment: reference('env', 'Environment variable that has the value'),
      file: reference('file', 'File whose text is the value, beside this one'),
      table: reference('file', 'CSV file, beside this one'),
    },
  }
}

function reference(name: string, description: string): object {
  const properties = { [name]: { type: 'string', description } }
  return { type: 'object', properties, required: [name], additionalProperties: false }
}

/** The schema with patterns for any validator, and with references wherever a text may be. */
function forEditors(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(forEditors)
  if (!isObject(node)) return node
  const { title: _, examples: __, writeOnly: ___, ...schema } = node as Node
  const walked = Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [
      keyword,
      keyword === 'enum' || keyword === 'required' ? value : forEditors(value),
    ]),
  )
  if (typeof walked.pattern === 'string') Object.assign(walked, portablePattern(walked.pattern))
  const isText = [walked.type].flat().includes('string') && walked.enum === undefined
  if (!isText) return walked
  const { description, ...text } = walked
  const outside = [{ $ref: '#/$defs/environment' }, { $ref: '#/$defs/file' }]
  return { ...(description !== undefined && { description }), anyOf: [text, ...outside] }
}
