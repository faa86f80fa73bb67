import type { RecipientMatch } from '../../domain/configuration/configuration.ts'
import type { KindName, Settings } from '../../domain/configuration/configuration-changes.ts'
import type { AnyTable } from '../../store/configuration-table.ts'
import { type Judging, TableKind } from './kind.ts'
import type { NamedKind, Scene } from './scene.ts'

/** What a rule or a rate applies to; null or absent: everything. */
export interface Limits {
  readonly plan?: string | null
  readonly from?: string | null
  readonly prefix?: string | null
  readonly country?: string | null
  readonly mccmnc?: string | null
}

const LIMITS = ['plan', 'from', 'prefix', 'country', 'mccmnc'] as const

export function matchOf({ prefix = null, country = null, mccmnc = null }: Limits): RecipientMatch {
  return { prefix, country, mccmnc }
}

interface Description<Row extends object> {
  readonly name: KindName
  readonly table: AnyTable<Row>
  readonly numberField: string
  readonly most: number
  readonly required: readonly string[]
  readonly references?: Readonly<Record<string, NamedKind>>
  settingsOf(row: Row): Limits & Settings
  judge(given: Limits & Settings, about: Judging): Settings
}

/**
 * Rules and rates have no names: what they apply to identifies them, and cannot change. The name that a file gives them is only
 * for its readers.
 */
export function limitedKind<Row extends object>({
  references,
  judge,
  ...of
}: Description<Row>): TableKind<Row> {
  return new TableKind<Row>({
    ...of,
    references: { plan: 'plans', ...references },
    identityOf: (settings) => JSON.stringify(LIMITS.map((limit) => settings[limit] ?? null)),
    labelOf,
    judge: (given, about) => withoutNoLimits(judge(given, about)),
  })
}

/** `Alerts GB`, `any`. */
function labelOf({ plan, ...settings }: Settings, scene: Scene): string {
  const words = [
    plan == null ? null : scene.presentWith('plans', plan as string)!.name,
    ...LIMITS.slice(1).map((limit) => settings[limit]),
  ]
  return words.filter((word) => word != null).join(' ') || 'any'
}

function withoutNoLimits(settings: Settings): Settings {
  const isLimit = (name: string) => LIMITS.some((limit) => limit === name)
  return Object.fromEntries(
    Object.entries(settings).filter(([name, value]) => value !== null || !isLimit(name)),
  )
}
