import type { ImportedConfiguration } from './imported-configuration.ts'
import { type KannelGroup, type KannelSetting, lastValues } from './kannel-groups.ts'
import { begins, internationalPrefix, type PrefixRules, prefixesOfRegex } from './number-prefixes.ts'

/** Lists of prefixes in a group: `allowed-prefix`, `denied-prefix` and their regular expressions. */

/** A number passes if `allowed` has its beginning, or `denied` has not; a list that is null is not there. */
interface PrefixTest {
  readonly allowed: ReadonlySet<string> | null
  readonly denied: ReadonlySet<string> | null
}

export interface PrefixLists {
  readonly tests: readonly PrefixTest[]
  readonly preferred: ReadonlySet<string>
  /** Every prefix of these lists. */
  readonly all: readonly string[]
}

export function prefixLists(
  imported: ImportedConfiguration,
  group: KannelGroup,
  rules: PrefixRules,
): PrefixLists {
  const values = lastValues(group)
  const listOf = (name: string) => {
    const setting = values.get(name)
    return setting === undefined ? null : prefixesIn(imported, setting, rules)
  }
  const pair = (ending: string): PrefixTest => ({
    allowed: listOf(`allowed-prefix${ending}`),
    denied: listOf(`denied-prefix${ending}`),
  })
  const tests = [pair(''), pair('-regex')]
  const preferred = new Set([
    ...(listOf('preferred-prefix') ?? []),
    ...(listOf('preferred-prefix-regex') ?? []),
  ])
  const sets = [...tests.flatMap(({ allowed, denied }) => [allowed, denied]), preferred]
  return { tests, preferred, all: [...new Set(sets.flatMap((set) => [...(set ?? [])]))] }
}

function prefixesIn(
  imported: ImportedConfiguration,
  setting: KannelSetting,
  rules: PrefixRules,
): Set<string> {
  const { name, value } = setting
  const written = name.endsWith('-regex') ? prefixesOfRegex(value, false) : value.split(';')
  if (written === null) {
    imported.drop(setting, name, `${value} is no list of prefixes; write it as one`)
    return new Set()
  }
  const prefixes = new Set<string>()
  for (const each of written.map((prefix) => prefix.trim())) {
    const prefix = each === '' ? '' : internationalPrefix(each, rules)
    if (prefix !== null) prefixes.add(prefix)
    else
      imported.drop(
        setting,
        name,
        `the country of ${each} is unknown: write it as +… or set unified-prefix of core`,
      )
  }
  // An empty entry of a list is no prefix; a regular expression that matches everything is.
  if (!name.endsWith('-regex')) prefixes.delete('')
  return prefixes
}

/** As Kannel tests a receiver (user guide, "SMSC Group Variables"). `number`: a prefix, of which the rest is unknown. */
export function passes(number: string, { tests }: PrefixLists): boolean {
  return tests.every(({ allowed, denied }) => {
    if (allowed === null) return denied === null || !begins(number, denied)
    return begins(number, allowed) || (denied !== null && !begins(number, denied))
  })
}
