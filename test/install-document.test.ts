import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { VARIABLES } from '../src/config.ts'
import { NODE_ROLES } from '../src/domain/nodes.ts'
import { ROOT } from './support/process.ts'

/** What docs/install.md says of the files that run Aldis elsewhere. A container's tools are nowhere to be expected. */

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const DOCUMENT = read('docs/install.md')
const IMAGE = read('Dockerfile')
const compose = parse(read('deploy/compose.yaml'), { merge: true }).services
const documentsOf = (path: string) => parseAllDocuments(read(path)).map((document) => document.toJS())
const [deployment, ...others] = documentsOf('deploy/kubernetes.yaml')
const pod = deployment.spec.template.spec
const [container] = pod.containers
const UNIT = read('deploy/aldis.service')
const unit = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(UNIT)?.[1]

const names = new Set<string>(Object.values(VARIABLES).map(({ name }) => name))
const drainSeconds = Number(VARIABLES.drainTimeoutMs.fallback) / 1_000
/** After the drain a node kills itself if its connections do not close. */
const LAST_RESORT_SECONDS = 15

test('the variables exist', () => {
  const inDocument = DOCUMENT.match(/<<END\n(.*?)^END$/ms)![1]!.match(/^[A-Z_]+(?==)/gm)!
  const given = [
    ...inDocument,
    ...Object.keys(compose.aldis.environment),
    ...container.env.map(({ name }: { name: string }) => name),
  ]
  expect(given.filter((name) => !names.has(name))).toEqual([])
  const required = Object.values(VARIABLES).filter((variable) => 'required' in variable)
  for (const { name } of required) {
    expect(inDocument).toContain(name)
    expect(compose.aldis.environment).toHaveProperty(name)
  }
})

test('everywhere a node has the time to drain', () => {
  const least = drainSeconds + LAST_RESORT_SECONDS
  const times = [
    compose.aldis.stop_grace_period.replace('s', ''),
    unit('TimeoutStopSec'),
    DOCUMENT.match(/--stop-timeout (\d+)/)![1],
    pod.terminationGracePeriodSeconds - container.lifecycle.preStop.sleep.seconds,
  ].map(Number)
  for (const seconds of times) expect(seconds).toBeGreaterThanOrEqual(least)
})

test('nowhere may it do what it need not', () => {
  const user = Number(/^USER (\d+):\1$/m.exec(IMAGE)![1])
  expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: user, runAsGroup: user })
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
  expect(compose.aldis).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
  expect(DOCUMENT).toContain('--read-only --cap-drop ALL --security-opt no-new-privileges')
  expect([unit('DynamicUser'), unit('ProtectSystem'), unit('CapabilityBoundingSet')]).toEqual([
    'yes',
    'strict',
    '',
  ])
})

test('the services and their probes have the ports and paths of the node', () => {
  const ports = new Map(
    container.ports.map(({ name, containerPort }: { name: string; containerPort: number }) => [
      name,
      containerPort,
    ]),
  )
  expect(ports.get('http')).toBe(Number(VARIABLES.httpPort.fallback))
  expect(ports.get('operator')).toBe(
    Number(container.env.find(({ name }: { name: string }) => name === 'OPERATOR_PORT').value),
  )
  const targets = others.flatMap(({ spec }) => spec.ports ?? []).map(({ targetPort }) => targetPort)
  expect(targets.toSorted()).toEqual([...ports.keys()].toSorted())
  const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe]
  expect(probes.map(({ httpGet }) => httpGet.path)).toEqual(['/readyz', '/livez', '/readyz'])
  const { matchLabels } = deployment.spec.selector
  expect(deployment.spec.template.metadata.labels).toEqual(matchLabels)
  for (const { spec } of others) expect(spec.selector.matchLabels ?? spec.selector).toEqual(matchLabels)
})

const ROLES = NODE_ROLES.filter((role) => role !== 'all')

test('with the profile `roles` Compose has a node of each role, which differ in nothing else but the ports', () => {
  const { database: _, ...nodes } = compose
  const withRoles = parse(read('deploy/compose.yaml').replace(/\$\{NODE_ROLE:-all\}/, 'api'), { merge: true })
  const roleOf = (name: string) => withRoles.services[name].environment.NODE_ROLE
  expect(Object.keys(nodes).map(roleOf)).toEqual(ROLES)
  const settingsOf = ({ environment, ports: __, profiles: ___, ...settings }: typeof compose.aldis) => {
    const { NODE_ID: ____, NODE_ROLE: _____, ...variables } = environment
    return { ...settings, variables }
  }
  for (const name of ['carrier', 'webhook']) {
    expect(nodes[name]).toMatchObject({ profiles: ['roles'], environment: { NODE_ID: name } })
    expect(settingsOf(nodes[name])).toEqual(settingsOf(nodes.aldis))
  }
})

test('deploy/kubernetes-roles.yaml has the Deployment of deploy/kubernetes.yaml for each role but `api`, under another name', () => {
  const roleIn = (one: typeof deployment) =>
    one.spec.template.spec.containers[0].env.find(({ name }: { name: string }) => name === 'NODE_ROLE')
  expect(roleIn(deployment).value).toBe('all')
  const label = '"app.kubernetes.io/name":"aldis'
  const expected = ROLES.filter((role) => role !== 'api').map((role) => {
    const named = JSON.parse(JSON.stringify(deployment).replaceAll(label, `${label}-${role}`))
    named.metadata.name = `aldis-${role}`
    roleIn(named).value = role
    return named
  })
  expect(documentsOf('deploy/kubernetes-roles.yaml')).toEqual(expected)
})

test('the image is built of files that it gets', () => {
  const sent = read('.dockerignore').match(/(?<=^!).+$/gm)!
  const copied = ['package.json', 'package-lock.json', 'LICENSE', 'src', 'scripts', 'console', 'client']
  expect(copied.filter((path) => !sent.includes(path))).toEqual([])
  for (const path of sent.filter((name) => !name.includes('*')))
    expect(existsSync(join(ROOT, path)), path).toBe(true)
})

test('docs/upgrading.md upgrades what docs/install.md has installed', () => {
  const upgrading = read('docs/upgrading.md')
  const { metadata, kind } = deployment
  expect(upgrading).toContain(`kubectl set image ${kind.toLowerCase()}/${metadata.name} ${container.name}=`)
  const [, composeUp] = /^(docker compose .+?) up /m.exec(DOCUMENT)!
  expect(upgrading).toContain(`\`${composeUp} up --build `)
  expect(DOCUMENT).toContain('npm install --global ./aldis-')
  expect(upgrading).toContain('`npm install --global ./aldis-')
})
