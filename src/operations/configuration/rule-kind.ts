import type { RecipientMatch } from '../../domain/configuration/configuration.ts'
import type { KindName, Settings } from '../../domain/configuration/configuration-changes.ts'
import type { AnyTable } from '../../store/configuration-table.ts'
import { type Judging, TableKind } from './kind.ts'
import type { NamedKind, Scene } from './scene.ts'

/** What a rule or a rate applies to; null or absent: everything. */
export interface Match {
  readonly plan?: string | null
  readonly from?: string | null
  readonly prefix?: string | null
  readonly country?: string | null
  readonly mccmnc?: string | null
}

const MATCH_FIELDS = ['plan', 'from', 'prefix', 'country', 'mccmnc'] as const

export function matchOf({ prefix = null, country = null, mccmnc = null }: Match): RecipientMatch {
  return { prefix, country, mccmnc }
}

interface Description<Row extends object> {
  readonly name: KindName
  readonly table: AnyTable<Row>
  readonly numberField: string
  readonly most: number
  readonly required: readonly string[]
  readonly references?: Readonly<Record<string, NamedKind>>
  settingsOf(row: Row): Match & Settings
  judge(given: Match & Settings, about: Judging): Settings
}

/**
 * Rules and rates have no names: what they apply to identifies them, and cannot change. The name that a file gives them is only
 * for its readers.
 */
export function ruleKind<Row extends object>({ references, judge, ...of }: Description<Row>): TableKind<Row> {
  return new TableKind<Row>({
    ...of,
    references: { plan: 'plans', ...references },
    identityOf: (settings) => JSON.stringify(MATCH_FIELDS.map((field) => settings[field] ?? null)),
    labelOf,
    judge: (given, about) => withoutAny(judge(given, about)),
  })
}

/** `Alerts GB`, `any`. */
function labelOf({ plan, ...settings }: Settings, scene: Scene): string {
  const words = [
    plan == null ? null : scene.presentWith('plans', plan as string)!.name,
    ...MATCH_FIELDS.slice(1).map((field) => settings[field]),
  ]
  return words.filter((word) => word != null).join(' ') || 'any'
}

function withoutAny(settings: Settings): Settings {
  const isOfMatch = (name: string) => MATCH_FIELDS.some((field) => field === name)
  const given = Object.entries(settings)
  const limiting = given.filter(([name, value]) => value !== null || !isOfMatch(name))
  return limiting.length === given.length ? settings : Object.fromEntries(limiting)
}
