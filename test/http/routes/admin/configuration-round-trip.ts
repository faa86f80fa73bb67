import fc from 'fast-check'
import { expect } from 'vitest'
import { CONFIGURATION_KINDS } from '../../../../src/domain/configuration/configuration-changes.ts'
import type { AdminServer } from '../../../support/admin-server.ts'

const few = <T>(one: fc.Arbitrary<T>) => fc.array(one, { maxLength: 4 })
const optional = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined })
const nullable = <T>(one: fc.Arbitrary<T>) => fc.option(optional(one), { nil: null })
const named = <T>(names: readonly string[], one: fc.Arbitrary<T>) =>
  fc
    .uniqueArray(fc.constantFrom(...names), { maxLength: 3 })
    .chain((chosen) =>
      fc
        .tuple(...chosen.map(() => one))
        .map((all) => Object.fromEntries(chosen.map((name, at) => [name, all[at]]))),
    )
/** Some of `names`; with no names, none. */
const someOf = (names: readonly string[]) =>
  names.length === 0 ? fc.constant(null) : fc.constantFrom(...names)

const rateLimit = nullable(fc.record({ messagesPerSecond: fc.integer({ min: 1, max: 9 }) }))
const url = nullable(fc.constantFrom('https://hooks.example.com/a', 'https://u:hush@hooks.example.com/b?c=d'))
const account = fc.record({
  name: optional(fc.constantFrom('Same', 'Ünïcode "quoted"')),
  defaultDlrUrl: url,
  webhookHeaders: nullable(fc.constantFrom([], [{ name: 'x-key', value: 'hush-1' }])),
  webhookCredentials: nullable(fc.constant({ username: 'me', password: 'hush-2' })),
  rateLimit,
})
const carrier = fc.record({
  host: fc.constantFrom('smpp.example.net', '192.0.2.1'),
  systemId: fc.constant('aldis'),
  password: fc.constantFrom('hush-3', ''),
  window: optional(fc.integer({ min: 1, max: 20 })),
  tls: optional(fc.boolean()),
  submitOutcomes: optional(fc.constantFrom({}, { 69: 'retry', '0x58': 'throttled' })),
  idRule: optional(fc.constantFrom('exact', 'auto')),
  messagesPerSecond: nullable(fc.integer({ min: 1, max: 9 })),
})
const senderTypes = fc.uniqueArray(fc.constantFrom('short-code', 'e164', 'alphanumeric'), { minLength: 1 })
const destination = fc.constantFrom({}, { country: 'GB' }, { prefix: '+4477' }, { mccmnc: '23410' })

const configuration = fc
  .record({
    accounts: named(['One', 'Two', 'Same'], account),
    carriers: named(['acme', 'b.2', 'c_3'], carrier),
  })
  .chain(({ accounts, carriers }) =>
    fc.record({
      accounts: fc.constant(accounts),
      carriers: fc.constant(carriers),
      routes: named(
        ['main', 'other'],
        fc.record({
          carriers: fc
            .subarray(Object.keys(carriers))
            .map((names) => names.map((name) => ({ carrier: name }))),
          qualityFloor: nullable(fc.constant({ minDelivered: 80 })),
        }),
      ),
    }),
  )
  .chain(({ routes, ...rest }) => {
    const accounts = Object.keys(rest.accounts)
    const plan = fc
      .record({
        account: someOf(accounts),
        name: optional(fc.constant('Same')),
        sandbox: optional(fc.boolean()),
        active: optional(fc.boolean()),
        route: someOf(Object.keys(routes)),
        inboundUrl: url,
        rateLimit,
        senderTypes: optional(senderTypes),
        nationalLanguages: optional(fc.subarray(['turkish', 'hindi'])),
        optOut: nullable(fc.constantFrom({}, { stopWords: ['NO'], stopReply: 'Bye' })),
        validitySeconds: optional(fc.integer({ min: 60, max: 86_400 })),
        maxValiditySeconds: optional(fc.integer({ min: 60, max: 86_400 })),
        allowedCountries: optional(fc.subarray(['SE', 'GB'])),
        texts: optional(fc.constantFrom('keep', 'discard')),
        caps: nullable(
          fc.constantFrom({ messagesPerDay: 5 }, { costPerDay: '2.50', costPerMonth: 9, currency: 'EUR' }),
        ),
        limitEvents: optional(fc.boolean()),
        pumpingGuard: nullable(
          fc.constantFrom({ messagesPerPrefix: 5 }, { minDelivered: 25, pauseMinutes: 9 }),
        ),
      })
      .map(({ route, ...own }) => (own.sandbox ? own : { ...own, route }))
    return fc.record({
      ...Object.fromEntries(
        Object.entries({ ...rest, routes }).map(([kind, all]) => [kind, fc.constant(all)]),
      ),
      plans: accounts.length === 0 ? fc.constant({}) : named(['P', 'Q', 'Same'], plan),
    })
  })
  .chain((rest) => {
    const namesOf = (kind: string) => Object.keys((rest as Record<string, object>)[kind]!)
    const [plans, routes] = [namesOf('plans'), namesOf('routes')]
    const limits = fc
      .tuple(someOf(plans), destination)
      .map(([plan, to]) => ({ ...(plan && { plan }), ...to }))
    const unique = <T>(one: fc.Arbitrary<T>) =>
      few(fc.tuple(limits, one)).map((all) => {
        const byLimits = new Map(all.map(([of, value]) => [JSON.stringify(of), { ...of, ...value }]))
        return Object.fromEntries([...byLimits.values()].map((each, at) => [`n${at}`, each]))
      })
    return fc.record({
      ...Object.fromEntries(Object.entries(rest).map(([kind, all]) => [kind, fc.constant(all)])),
      senders:
        plans.length === 0
          ? fc.constant({})
          : named(
              plans,
              named(
                ['Aldis', '71234'],
                fc.constantFrom({ status: 'approved' }, { status: 'odd one', force: true }),
              ),
            ),
      numbers:
        plans.length === 0
          ? fc.constant({})
          : named(
              ['71234', '+15550001000'],
              fc.record({ plan: fc.constantFrom(...plans), keywords: optional(fc.subarray(['JOIN', 'GO'])) }),
            ),
      sendsmsUsers:
        plans.length === 0
          ? fc.constant({})
          : named(
              ['tester'],
              fc.record({
                plan: fc.constantFrom(...plans),
                password: fc.constantFrom('hush-4', 'hush-5'),
                forcedSender: nullable(fc.constant('Aldis')),
                callingCode: nullable(fc.constant('44')),
                dlrUrl: nullable(fc.constant('https://app.example.com/dlr?id=%I&type=%d')),
              }),
            ),
      rules:
        routes.length === 0
          ? fc.constant({})
          : unique(fc.record({ from: fc.constant('Aldis'), route: fc.constantFrom(...routes) })),
      senderRules: named(['a', 'b'], fc.record({ senderTypes })).map((all) =>
        Object.fromEntries(
          Object.entries(all).map(([name, rule], at) => [name, { ...rule, country: ['GB', 'FR'][at] }]),
        ),
      ),
      rates: unique(
        fc.record({
          price: fc.constantFrom('0.0350', 1, '1000000'),
          ptf: optional(fc.constant('0.000001')),
          currency: fc.constantFrom('EUR', 'USD'),
        }),
      ),
      ranges: named(['+4477', '+1'], fc.record({ mccmnc: fc.constantFrom('23410', '310260') })),
    })
  })

const EMPTY = Object.fromEntries(CONFIGURATION_KINDS.map((kind) => [kind, {}]))

/** Objects of one name need ids, or a file that names them could not be applied twice. */
function withIds<T extends { accounts: object; plans: object }>(generated: T): T {
  const identified = (objects: object, field: string) =>
    Object.fromEntries(
      Object.entries(objects).map(([name, object], at) => [
        name,
        { [field]: String(at).repeat(24), ...object },
      ]),
    )
  return {
    ...generated,
    accounts: identified(generated.accounts, 'accountId'),
    plans: identified(generated.plans, 'servicePlanId'),
  }
}

function withoutNames<T extends { accounts: object; plans: object }>(generated: T): T {
  const nameless = (objects: object) =>
    Object.fromEntries(Object.entries(objects).map(([key, { name: _, ...object }]) => [key, object]))
  return { ...generated, accounts: nameless(generated.accounts), plans: nameless(generated.plans) }
}

function applying(server: AdminServer) {
  return async (configuration: object, query: string) => {
    const { status, body } = await server.request('POST', `/configuration/apply?${query}`, configuration)
    expect(status, JSON.stringify(body.errors ?? body.errorMessage)).toBe(200)
    return body
  }
}

/** Deletes everything, with the numbers that this needs. */
async function clear(apply: ReturnType<typeof applying>): Promise<void> {
  const { counts } = await apply(EMPTY, 'prune=true&dryRun=true')
  const confirm = counts
    .map(({ kind, deleted }: { kind: string; deleted: number }) => `${kind}=${deleted}`)
    .join()
  await apply(EMPTY, `prune=true&confirm=${confirm}`)
}

/** Applying what was exported changes nothing, for so many configurations. */
export async function compareExports(server: AdminServer, configurations: number): Promise<void> {
  const apply = applying(server)
  await fc.assert(
    fc.asyncProperty(configuration, fc.boolean(), async (some, hasIds) => {
      const all = some as unknown as { accounts: object; plans: object }
      const generated = hasIds ? withIds(all) : withoutNames(all)
      await clear(apply)
      await apply(generated, 'prune=false')
      expect((await apply(generated, 'dryRun=true')).changes).toEqual([])
      const { body } = await server.request('GET', '/configuration')
      expect(JSON.stringify(body)).not.toContain('hush')
      const again = await apply(body.configuration, 'prune=true')
      expect(again.changes).toEqual([])
      expect(again.version).toBe(body.version)
      const exported = await server.request('GET', '/configuration')
      expect(exported.body).toEqual(body)
    }),
    { numRuns: configurations },
  )
}
