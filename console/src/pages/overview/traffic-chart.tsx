import { Skeleton } from '@mantine/core'
import { useMemo } from 'react'
import type { Statistics } from '../../../../client/src/api.ts'
import { Chart, type ChartSeries } from '../../kit/chart.tsx'
import { Section } from '../../kit/section.tsx'
import { FIGURES } from './figures.ts'
import { type RateUnit, rateUnit, writtenNumber } from './rates.ts'
import type { Traffic } from './statistics.ts'
import { countedMs, INTERVALS_MS } from './time-window.ts'

/** Messages over time. The present end is left open until every process has counted it. */
export function TrafficChart({ traffic }: { traffic: Traffic }) {
  const { data } = traffic
  const unit = useMemo(() => unitOf(data), [data])
  const title = `Messages per ${unit.name}`
  return (
    <Section title={title}>
      {data === undefined ? (
        <Skeleton height={260} />
      ) : (
        <Lines label={title} data={data} nowMs={traffic.nowMs} unit={unit} />
      )}
    </Section>
  )
}

/** In which the busiest interval reads well. */
function unitOf(data: Statistics | undefined): RateUnit {
  if (data === undefined) return rateUnit(0)
  const points = data.series[0]?.points ?? []
  const most = Math.max(0, ...points.map(({ accepted, inbound }) => Math.max(accepted, inbound ?? 0)))
  return rateUnit(most / INTERVALS_MS[data.interval])
}

interface LinesProps {
  readonly label: string
  readonly data: Statistics
  readonly nowMs: number
  readonly unit: RateUnit
}

function Lines({ label, data, nowMs, unit }: LinesProps) {
  const { timesMs, between, knownUntilMs } = useTimes(data, nowMs)
  const series = useMemo<ChartSeries[]>(() => {
    const points = data.series[0]?.points ?? []
    const completeUntilMs = Date.parse(data.completeUntil)
    const counted = timesMs.map((atMs) => countedMs(atMs, data.interval, completeUntilMs))
    return FIGURES.map(({ name, label, color }) => ({
      label,
      color,
      values: points.map((point, index) => {
        const ms = counted[index] ?? null
        return ms === null ? null : ((point[name] ?? 0) * unit.ms) / ms
      }),
    }))
  }, [data, timesMs, unit])
  return (
    <Chart
      label={label}
      timesMs={timesMs}
      between={between}
      knownUntilMs={knownUntilMs}
      series={series}
      format={writtenNumber}
    />
  )
}

/** The times of the points, the ends of the chart, and the last point that is counted. */
export function useTimes(data: Statistics, nowMs: number) {
  const timesMs = useMemo(() => data.series[0]?.points.map(({ at }) => Date.parse(at)) ?? [], [data])
  const completeUntilMs = Date.parse(data.completeUntil)
  const isCounted = (atMs: number) => countedMs(atMs, data.interval, completeUntilMs) !== null
  const fromMs = Date.parse(data.from)
  const knownUntilMs = timesMs.findLast(isCounted) ?? fromMs
  const toMs = Math.max(Math.min(Date.parse(data.to), nowMs), knownUntilMs)
  return { timesMs, between: [fromMs, toMs] as const, knownUntilMs }
}
