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
  /** What is after this is not known yet, Unix milliseconds: that part is shaded. */
  readonly knownUntilMs?: number
  /** For values of different orders of magnitude. */
  readonly isLogarithmic?: boolean
  readonly height?: number
}

/**
 * Lines over time, drawn anew when a property changes: `series` and `format` are constants or memoized. Screen readers get
 * the last, the lowest and the highest value of each in a table.
 */
export function Chart({ label, timesMs, between, series, format, height = 200, ...more }: ChartProps) {
  const [fromMs = 0, toMs = 0] = between ?? [timesMs[0], timesMs.at(-1)]
  const { knownUntilMs = toMs, isLogarithmic = false } = more
  const { ref: box, width } = useElementSize()
  const plot = useRef<HTMLDivElement>(null)
  const scheme = useComputedColorScheme('light')
  useEffect(() => {
    if (width === 0 || plot.current === null) return
    const size = { width, height }
    const options = optionsOf(series, scheme, format, { size, fromMs, toMs, knownUntilMs, isLogarithmic })
    const drawn = new UPlot(options, dataOf(timesMs, series), plot.current)
    return () => drawn.destroy()
  }, [timesMs, fromMs, toMs, knownUntilMs, isLogarithmic, series, scheme, format, width, height])
  return (
    <figure className="aldis-chart" ref={box}>
      <div ref={plot} aria-hidden style={{ minHeight: height }} />
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

interface Frame {
  readonly size: { readonly width: number; readonly height: number }
  readonly fromMs: number
  readonly toMs: number
  readonly knownUntilMs: number
  readonly isLogarithmic: boolean
}

function optionsOf(
  series: readonly ChartSeries[],
  scheme: Scheme,
  format: (value: number) => string,
  { size, fromMs, toMs, knownUntilMs, isLogarithmic }: Frame,
): UPlot.Options {
  const axis = { stroke: CHART_COLORS.axis[scheme], grid: { stroke: CHART_COLORS.grid[scheme], width: 1 } }
  return {
    ...size,
    // uPlot's own dates are American.
    axes: [
      { ...axis, values: (_, times) => times.map((at, index) => tick(at, times[index - 1])) },
      // A logarithmic axis has null for lines without a text.
      {
        ...axis,
        size: 64,
        ...(isLogarithmic && { splits: powersOfTen }),
        values: (_, values) => values.map((value) => (value === null ? '' : format(value))),
      },
    ],
    scales: {
      // One point alone would be spread over years.
      x: { range: [fromMs / 1_000, Math.max(toMs, fromMs + 1_000) / 1_000] },
      y: isLogarithmic ? LOGARITHMIC : { range: (_, _min, max) => [0, max > 0 ? max * 1.1 : 1] },
    },
    hooks: { drawAxes: [(plot) => shadeFrom(plot, knownUntilMs / 1_000, CHART_COLORS.grid[scheme])] },
    cursor: { drag: { x: false, y: false } },
    series: [
      { label: 'Time', value: (_, at) => (at === null ? '–' : MOMENT.format(at * 1_000)) },
      ...series.map(({ label, color }) => ({
        label,
        stroke: CHART_COLORS[color][scheme],
        width: 1.5,
        points: { show: false, size: 4, filter: (plot: UPlot, index: number) => lonely(plot.data[index]!) },
        value: (_: UPlot, value: number | null) => (value === null ? '–' : format(value)),
      })),
    ],
  }
}

/** Whole powers of ten around the values. */
const LOGARITHMIC: UPlot.Scale = {
  distr: 3,
  range: (_, min, max) =>
    min > 0 ? [10 ** Math.floor(Math.log10(min)), 10 ** (Math.floor(Math.log10(max)) + 1)] : [1, 1_000],
}

function powersOfTen(_: UPlot, _axis: number, min: number, max: number): number[] {
  const first = Math.round(Math.log10(min))
  return Array.from({ length: Math.round(Math.log10(max)) - first + 1 }, (_, index) => 10 ** (first + index))
}

/** Values without a neighbour, which no line would show. */
function lonely(values: ArrayLike<number | null | undefined>): number[] {
  return Array.from(values).flatMap((value, index) =>
    value != null && values[index - 1] == null && values[index + 1] == null ? [index] : [],
  )
}

function shadeFrom({ ctx, bbox, valToPos }: UPlot, at: number, color: string): void {
  const left = Math.max(bbox.left, valToPos(at, 'x', true))
  ctx.save()
  ctx.fillStyle = color
  ctx.globalAlpha = 0.6
  ctx.fillRect(left, bbox.top, bbox.left + bbox.width - left, bbox.height)
  ctx.restore()
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
