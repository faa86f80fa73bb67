import { Skeleton } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Statistics, StatisticsLatencies } from '../../../../client/src/api.ts'
import { Chart, type ChartSeries } from '../../kit/chart.tsx'
import { inScheme } from '../../kit/chart-colors.ts'
import { Choice } from '../../kit/choice.tsx'
import { count, duration } from '../../kit/formats.ts'
import { NoValue } from '../../kit/no-value.tsx'
import { Section } from '../../kit/section.tsx'
import { writtenNumber } from './rates.ts'
import { type OverviewSearch, PERCENTILES, type Percentile } from './search.ts'
import type { Traffic } from './statistics.ts'
import { useTimes } from './traffic-chart.tsx'

const LATENCIES = [
  { key: 'accept', label: 'Accept', color: 'blue', means: 'from the request until it is stored' },
  { key: 'submit', label: 'Submit', color: 'violet', means: "from then to the carrier's answer" },
  { key: 'receipt', label: 'Receipt', color: 'green', means: 'from then to the receipt' },
  { key: 'webhook', label: 'Webhook', color: 'orange', means: 'from a change to the 2xx of its receiver' },
] as const

/** How long each step took. */
export function Latencies({ traffic: { data, nowMs } }: { traffic: Traffic }) {
  const { percentile = 'p99' } = useSearch({ strict: false }) as OverviewSearch
  return (
    <Section title="Latency" actions={<PercentileChoice value={percentile} />}>
      {data === undefined ? (
        <Skeleton height={220} />
      ) : (
        <div className="aldis-latencies">
          <Numbers latencies={data.series[0]?.totals.latencyMs ?? null} />
          <Lines data={data} nowMs={nowMs} percentile={percentile} />
        </div>
      )}
    </Section>
  )
}

const OPTIONS = PERCENTILES.map((value) => ({ value, label: value }))

function PercentileChoice({ value }: { value: Percentile }) {
  const navigate = useNavigate()
  const change = (percentile: string) =>
    void navigate({
      to: '.',
      search: (search: object) => ({ ...search, percentile }),
      replace: true,
      resetScroll: false,
    } as never)
  return <Choice label="Percentile in the chart" value={value} onChange={change} options={OPTIONS} />
}

function Numbers({ latencies }: { latencies: StatisticsLatencies | null }) {
  return (
    <table className="aldis-table aldis-latency-table">
      <thead>
        <tr>
          <th>Step</th>
          <th data-align="right">p50</th>
          <th data-align="right">p99</th>
          <th data-align="right">Count</th>
        </tr>
      </thead>
      <tbody>
        {LATENCIES.map(({ key, label, color, means }) => {
          const latency = latencies?.[key] ?? null
          return (
            <tr key={key}>
              <th scope="row">
                <span className="aldis-line-key" style={{ background: inScheme(color) }} /> {label}
                <span className="aldis-means">{means}</span>
              </th>
              <td data-align="right">{latency === null ? <NoValue /> : duration(latency.p50)}</td>
              <td data-align="right">{latency === null ? <NoValue /> : duration(latency.p99)}</td>
              <td data-align="right">{count(latency?.count ?? 0)}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

/** In two units at most: those of `duration` are too wide for an axis. */
function inChart(ms: number): string {
  return ms < 1_000 ? `${writtenNumber(ms)} ms` : `${writtenNumber(ms / 1_000)} s`
}

interface LinesProps {
  readonly data: Statistics
  readonly nowMs: number
  readonly percentile: Percentile
}

function Lines({ data, nowMs, percentile }: LinesProps) {
  const { timesMs, between, knownUntilMs } = useTimes(data, nowMs)
  const series = useMemo<ChartSeries[]>(() => {
    const { points = [] } = data.series[0] ?? {}
    return LATENCIES.map(({ key, label, color }) => ({
      label,
      color,
      values: points.map(({ latencyMs }, index) =>
        timesMs[index]! > knownUntilMs ? null : (latencyMs?.[key]?.[percentile] ?? null),
      ),
    }))
  }, [data, percentile, timesMs, knownUntilMs])
  return (
    <Chart
      label={`Latency, ${percentile}`}
      timesMs={timesMs}
      between={between}
      knownUntilMs={knownUntilMs}
      series={series}
      format={inChart}
      isLogarithmic
    />
  )
}
