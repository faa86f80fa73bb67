import * as fc from 'fast-check'
import { Histogram as PromHistogram, Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { Histogram } from '../src/histogram.ts'
import { mergedMetrics, metricsText } from '../src/http/metrics.ts'

const SHAPE = { name: 'aldis_test_seconds', help: 'how long', buckets: [0.001, 0.5, 10] }
const WAYS = ['in', 'out', 'never'] as const
type Observed = readonly { readonly way: 'in' | 'out'; readonly value: number }[]

function pair(observed: Observed): { own: Registry; prom: Registry } {
  const [own, prom] = [new Registry(), new Registry()]
  const ownHistogram = new Histogram<'way'>({ ...SHAPE, registry: own })
  const promHistogram = new PromHistogram({ ...SHAPE, labelNames: ['way'] as const, registers: [prom] })
  const series = Object.fromEntries(WAYS.map((way) => [way, ownHistogram.labels({ way })]))
  for (const { way, value } of observed) {
    series[way]!.observe(value)
    promHistogram.observe({ way }, value)
  }
  for (const registry of [own, prom]) registry.setDefaultLabels({ worker: '1' })
  return { own, prom }
}

/** The order of series and labels says nothing. */
function linesOf(text: string): string[] {
  const labelsInOrder = (_: string, labels: string) => `{${labels.split(',').sort().join()}}`
  return text
    .split('\n')
    .map((line) => line.replace(/\{(.*)\}/, labelsInOrder))
    .sort()
}

const observations = fc.array(
  fc.record({
    way: fc.constantFrom('in' as const, 'out' as const),
    value: fc.oneof(fc.constantFrom(0, ...SHAPE.buckets), fc.double({ min: 0, max: 20, noNaN: true })),
  }),
)

it("tells what prom-client's own tells", async () => {
  await fc.assert(
    fc.asyncProperty(observations, async (observed) => {
      const { own, prom } = pair(observed)
      expect(linesOf(await metricsText(own))).toEqual(linesOf(await prom.metrics()))
    }),
  )
})

it('is added up over workers as that is', async () => {
  const both = [pair([{ way: 'in', value: 0.2 }]), pair([{ way: 'in', value: 0.7 }])]
  const merged = async (which: 'own' | 'prom') =>
    linesOf(await mergedMetrics(await Promise.all(both.map((one) => one[which].getMetricsAsJSON()))))
  expect(await merged('own')).toEqual(await merged('prom'))
})
