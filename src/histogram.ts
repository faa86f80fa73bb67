import type { Metric, Registry } from 'prom-client'

/** Upper bounds in seconds, from 1 ms to 10 s: of HTTP requests, statements and waits for connections. */
export const DURATION_BOUNDS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]

export interface HistogramOptions {
  readonly name: string
  readonly help: string
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[]
  readonly registry: Registry
}

/**
 * A histogram in prom-client's registry. Its own one looks up the series and the bucket by their texts at each value, which
 * takes 0.4 µs; this one counts in an array, and makes texts when it is read.
 */
export class Histogram<Label extends string> {
  readonly name: string
  readonly help: string
  readonly type = 'histogram'
  /** How the values of several workers are put together. */
  readonly aggregator = 'sum'
  readonly #buckets: readonly number[]
  readonly #series: Series[] = []

  constructor({ name, help, buckets, registry }: HistogramOptions) {
    this.name = name
    this.help = help
    this.#buckets = buckets
    registry.registerMetric(this as unknown as Metric)
  }

  /** To be called once for the same labels. The series is shown from its first value on. */
  labels(labels: Readonly<Record<Label, string>>): Series {
    const series = new Series(labels, this.#buckets)
    this.#series.push(series)
    return series
  }

  /** As the registry asks for it. */
  async get(): Promise<object> {
    const { name, help, type, aggregator } = this
    return { name, help, type, aggregator, values: this.#series.flatMap((series) => series.values(name)) }
  }
}

class Series {
  readonly #labels: Readonly<Record<string, string>>
  readonly #buckets: readonly number[]
  /** Of values up to each bound and above the one before it; the last, above all. */
  readonly #counts: Float64Array
  #sum = 0

  constructor(labels: Readonly<Record<string, string>>, buckets: readonly number[]) {
    this.#labels = labels
    this.#buckets = buckets
    this.#counts = new Float64Array(buckets.length + 1)
  }

  observe(value: number): void {
    let at = 0
    while (at < this.#buckets.length && value > this.#buckets[at]!) at += 1
    this.#counts[at]! += 1
    this.#sum += value
  }

  values(name: string): object[] {
    let count = 0
    const values: object[] = [...this.#buckets, '+Inf'].map((le, at) => {
      count += this.#counts[at]!
      return { metricName: `${name}_bucket`, labels: { le, ...this.#labels }, value: count }
    })
    if (count === 0) return []
    values.push({ metricName: `${name}_sum`, labels: this.#labels, value: this.#sum })
    values.push({ metricName: `${name}_count`, labels: this.#labels, value: count })
    return values
  }
}
