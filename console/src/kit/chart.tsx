import 'uplot/dist/uPlot.min.css'
import { useComputedColorScheme, VisuallyHidden } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useEffect, useRef } from 'react'
import UPlot from 'uplot'
import { CHART_COLORS, type ChartColor } from './chart-colors.ts'

export interface ChartSeries {
  readonly label: string
  readonly color: ChartColor
  /** One for each time; null where nothing is known. */
  readonly values: readonly (number | null)[]
}

interface ChartProps {
  /** What is shown: "Messages per second". */
  readonly label: string
  /** Unix time in milliseconds, ascending. */
  readonly timesMs: readonly number[]
  /** The times at both ends, Unix milliseconds; the first and the last of `timesMs` when absent. */
  readonly between?: readonly [fromMs: number, toMs: number]
  readonly series: readonly ChartSeries[]
  /** How a value is written: "12 ms". */
  readonly format: (value: number) => string
  readonly height?: number
}

/**
 * Lines over time, drawn anew when a property changes: `series` and `format` are constants or memoized. Screen readers get
 * the last, the lowest and the highest value of each in a table.
 */
export function Chart({ label, timesMs, between, series, format, height = 200 }: ChartProps) {
  const [fromMs = 0, toMs = 0] = between ?? [timesMs[0], timesMs.at(-1)]
  const { ref: box, width } = useElementSize()
  const plot = useRef<HTMLDivElement>(null)
  const scheme = useComputedColorScheme('light')
  useEffect(() => {
    if (width === 0 || plot.current === null) return
    const options = optionsOf(series, scheme, format, { width, height, fromMs, toMs })
    const drawn = new UPlot(options, dataOf(timesMs, series), plot.current)
    return () => drawn.destroy()
  }, [timesMs, fromMs, toMs, series, scheme, format, width, height])
  return (
    <figure className="aldis-chart" ref={box}>
      <div ref={plot} aria-hidden />
      <VisuallyHidden>
        <Summary label={label} series={series} format={format} />
      </VisuallyHidden>
    </figure>
  )
}

function dataOf(timesMs: readonly number[], series: readonly ChartSeries[]): UPlot.AlignedData {
  return [timesMs.map((ms) => ms / 1_000), ...series.map(({ values }) => [...values])]
}

type Scheme = keyof (typeof CHART_COLORS)['axis']

function optionsOf(
  series: readonly ChartSeries[],
  scheme: Scheme,
  format: (value: number) => string,
  { fromMs, toMs, ...size }: Record<'width' | 'height' | 'fromMs' | 'toMs', number>,
): UPlot.Options {
  const axis = { stroke: CHART_COLORS.axis[scheme], grid: { stroke: CHART_COLORS.grid[scheme], width: 1 } }
  return {
    ...size,
    // uPlot's own dates are American.
    axes: [
      { ...axis, values: (_, times) => times.map((at, index) => tick(at, times[index - 1])) },
      { ...axis, size: 64, values: (_, values) => values.map((value) => format(value)) },
    ],
    scales: {
      // One point alone would be spread over years.
      x: { range: [fromMs / 1_000, Math.max(toMs, fromMs + 1_000) / 1_000] },
      y: { range: (_, _min, max) => [0, max > 0 ? max * 1.1 : 1] },
    },
    cursor: { drag: { x: false, y: false } },
    series: [
      { label: 'Time', value: (_, at) => (at === null ? '–' : MOMENT.format(at * 1_000)) },
      ...series.map(({ label, color }) => ({
        label,
        stroke: CHART_COLORS[color][scheme],
        width: 1.5,
        points: { show: false },
        value: (_: UPlot, value: number | null) => (value === null ? '–' : format(value)),
      })),
    ],
  }
}

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const MOMENT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

/** The clock, and the day above it where the day changes. */
function tick(at: number, before: number | undefined): string {
  const [clock, day] = [CLOCK.format(at * 1_000), DAY.format(at * 1_000)]
  if (before !== undefined && day === DAY.format(before * 1_000)) return clock
  return clock === '00:00' ? day : `${clock}\n${day}`
}

function Summary({ label, series, format }: Pick<ChartProps, 'label' | 'series' | 'format'>) {
  const shown = (value: number | null | undefined) => (value == null ? 'none' : format(value))
  return (
    <table>
      <caption>{label}</caption>
      <thead>
        <tr>
          {['Series', 'Last', 'Lowest', 'Highest'].map((title) => (
            <th key={title}>{title}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {series.map(({ label, values }) => {
          const known = values.filter((value) => value !== null)
          const [lowest, highest] =
            known.length === 0 ? [null, null] : [Math.min(...known), Math.max(...known)]
          return (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td>{shown(known.at(-1))}</td>
              <td>{shown(lowest)}</td>
              <td>{shown(highest)}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
