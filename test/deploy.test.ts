import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { dashboardQueries, namesIn, readAlertRules, readDashboards } from '../scripts/deploy-files.ts'
import { ALARM_NAMES } from '../src/domain/alarms.ts'

const ROOT = join(import.meta.dirname, '..')
const page = (name: string) => readFileSync(join(ROOT, 'docs', name), 'utf8')
const RULES = readAlertRules()

describe('the names in an expression', () => {
  test.each([
    ['sum by (le) (rate(a_bucket{x="b c"}[5m])) > 1', ['a_bucket'], ['x', 'le']],
    [
      'max({__name__=~"a|b"}) > 0.2 and on (instance) c unless d offset 5m',
      ['a', 'b', 'c', 'd'],
      ['instance'],
    ],
    ['count(max by (x) (a == 0) > 1e3) or vector(0)', ['a'], ['x']],
    ['rate(a{i=~"$instance"}[$__rate_interval]) / ignoring(y) b', ['a', 'b'], ['i', 'y']],
  ])('%s', (expr, metrics, labels) => {
    const names = namesIn(expr)
    expect([names.metrics.sort(), names.labels.sort()]).toEqual([metrics, labels.toSorted()])
  })
})

test('every metric of the dashboard and the alerts is documented', () => {
  const documented = new Set(page('operations.md').match(/\b(?:aldis|nodejs|process)_\w+/g))
  const queries = [...dashboardQueries(), ...RULES]
  expect(queries.length).toBeGreaterThan(80)
  const named = new Set(queries.flatMap(({ expr }) => namesIn(expr).metrics))
  const known = (name: string) =>
    name === 'up' || documented.has(name) || documented.has(name.replace(/_(bucket|sum|count)$/, ''))
  expect([...named].filter((name) => !known(name))).toEqual([])
})

describe('alerts', () => {
  const anchorOf = (alert: string) =>
    alert
      .replace(/^Aldis/, '')
      .replace(/\B[A-Z]/g, '-$&')
      .toLowerCase()

  test('each has a severity, a summary, a description, and a section that says what to do', () => {
    for (const { alert, labels, annotations } of RULES) {
      expect(alert).toMatch(/^Aldis[A-Z]/)
      expect(labels.severity, alert).toMatch(/^(critical|warning)$/)
      expect(annotations, alert).toEqual({
        summary: expect.stringMatching(/^[A-Z{].*[^.]$/),
        description: expect.stringMatching(/\.$/),
        runbook: `docs/alarms.md#${anchorOf(alert)}`,
      })
    }
  })

  test('the table of the alerts has the severity and the duration of each', () => {
    const rows = [...page('alarms.md').matchAll(/^\| `(Aldis\w+)` \| (\w+) \| .+ \| (\w+|–) \|$/gm)]
    const wanted = RULES.map(({ alert, labels, for: duration }) => [alert, labels.severity, duration ?? '–'])
    expect(rows.map(([, ...cells]) => cells)).toEqual(wanted)
  })

  test('every section is of an alert or an alarm', () => {
    const sections = [...page('alarms.md').matchAll(/^### (.+)$/gm)].map(([, heading]) =>
      heading!.toLowerCase().replaceAll(' ', '-'),
    )
    const spokenOf = new Set([...RULES.map(({ alert }) => anchorOf(alert)), ...ALARM_NAMES])
    expect(sections.toSorted()).toEqual([...spokenOf].sort())
  })

  test('npm run check:deploy: promtool and systemd find nothing wrong, where they are installed', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/check-deploy.ts'], {
      cwd: ROOT,
      encoding: 'utf8',
    })
    expect(stdout + stderr).toMatch(/^4 checks, 0 failed\n$/m)
    expect(status).toBe(0)
  })
})

test('panels have a place, a title and queries of their own', () => {
  for (const { panels } of readDashboards()) {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const taken = new Set<string>()
    for (const { title, type, targets = [], gridPos } of panels) {
      expect(title).not.toBe('')
      expect(targets.length > 0, title).toBe(type !== 'row')
      expect(new Set(targets.map(({ refId }) => refId)).size, title).toBe(targets.length)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1)
        for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
          expect(x, title).toBeLessThan(24)
          expect(taken.has(`${x} ${y}`), title).toBe(false)
          taken.add(`${x} ${y}`)
        }
    }
  }
})
