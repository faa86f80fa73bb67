import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

/** The dashboards and alerts in `deploy/`, read for those who check them. */

const DEPLOY = join(import.meta.dirname, '../deploy')
export const PROMETHEUS = join(DEPLOY, 'prometheus')

export interface DeployedQuery {
  readonly where: string
  readonly expr: string
  readonly isInstant: boolean
}

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number }
  readonly targets?: readonly { readonly refId: string; readonly expr: string; readonly instant?: boolean }[]
}

export interface Dashboard {
  readonly uid: string
  readonly panels: readonly Panel[]
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] }
  readonly annotations: { readonly list: readonly { readonly name: string; readonly expr: string }[] }
}

export interface AlertRule {
  readonly alert: string
  readonly expr: string
  /** How long `expr` has to hold, like 5m; undefined: no time. */
  readonly for?: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

export function readDashboards(): Dashboard[] {
  return globSync('grafana/*.json', { cwd: DEPLOY }).map((file) =>
    JSON.parse(readFileSync(join(DEPLOY, file), 'utf8')),
  )
}

export function readAlertRules(): AlertRule[] {
  const text = readFileSync(join(PROMETHEUS, 'aldis.rules.yml'), 'utf8')
  const { groups } = parse(text) as { groups: { rules: AlertRule[] }[] }
  return groups.flatMap(({ rules }) => rules)
}

export function dashboardQueries(): DeployedQuery[] {
  return readDashboards().flatMap(({ panels, templating, annotations }) => [
    ...panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ refId, expr, instant = false }) => ({
        where: `${title} ${refId}`,
        expr,
        isInstant: instant,
      })),
    ),
    ...templating.list.flatMap(({ name, definition }) => {
      const metric = /^label_values\((\w+), \w+\)$/.exec(definition ?? '')?.[1]
      return metric === undefined ? [] : [{ where: `variable ${name}`, expr: metric, isInstant: true }]
    }),
    ...annotations.list.map(({ name, expr }) => ({ where: `annotation ${name}`, expr, isInstant: false })),
  ])
}

const KEYWORDS = /^(?:and|or|unless|bool|offset|by|without|on|ignoring|group_left|group_right|inf|nan)$/i

/**
 * The metrics that an expression of PromQL names, and the labels that it selects or groups by. Not a parser: it leaves out
 * what cannot be a metric.
 */
export function namesIn(expr: string): { metrics: string[]; labels: string[] } {
  const labels = new Set<string>()
  const metrics = new Set<string>()
  const rest = expr
    .replace(/\{([^}]*)\}/g, (_, selector: string) => {
      for (const [, label, value] of selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"/g)) {
        if (label !== '__name__') labels.add(label!)
        else for (const name of value!.split('|')) metrics.add(name)
      }
      return ''
    })
    .replace(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g, (_, list: string) => {
      for (const label of list.split(',')) if (label.trim() !== '') labels.add(label.trim())
      return ''
    })
    .replace(/\[[^\]]*\]|"[^"]*"|\$\w+/g, '')
  for (const [, name] of rest.matchAll(/(?<![\w.])([a-z_]\w*)(?!\w*\s*\()/gi))
    if (!KEYWORDS.test(name!)) metrics.add(name!)
  return { metrics: [...metrics], labels: [...labels] }
}
