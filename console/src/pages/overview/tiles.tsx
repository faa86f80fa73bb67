import { Paper, Skeleton } from '@mantine/core'
import type { CSSProperties } from 'react'
import type { StatisticsFigures } from '../../../../client/src/api.ts'
import { inScheme } from '../../kit/chart-colors.ts'
import { count, money } from '../../kit/formats.ts'
import { FIGURES } from './figures.ts'
import { LogHint, LogLink } from './log-link.tsx'
import { change, writtenRate } from './rates.ts'
import type { Traffic } from './statistics.ts'

/** The numbers of the whole time. Each leads to its messages, but for those that the log has no filter for. */
export function Tiles({ traffic }: { traffic: Traffic }) {
  const { series } = traffic
  return (
    <>
      <ul className="aldis-tiles" aria-label="Totals">
        {FIGURES.map((figure) => (
          <Paper
            component="li"
            withBorder
            key={figure.name}
            className="aldis-tile"
            style={{ '--aldis-figure': inScheme(figure.color) } as CSSProperties}
          >
            {series === undefined ? (
              <Skeleton height={74} />
            ) : (
              <Content figure={figure} traffic={traffic} totals={series.totals} />
            )}
          </Paper>
        ))}
      </ul>
      <LogHint traffic={traffic} />
      {series !== undefined && <Charged totals={series.totals} />}
    </>
  )
}

interface ContentProps {
  readonly figure: (typeof FIGURES)[number]
  readonly traffic: Traffic
  readonly totals: StatisticsFigures
}

function Content({ figure: { name, label, status }, traffic, totals }: ContentProps) {
  const { window, before } = traffic
  const total = totals[name] ?? 0
  const rate = total / elapsedMs(traffic)
  const changed = change(rate, (before?.totals[name] ?? 0) / (window.fromMs - window.beforeMs))
  const value = (
    <>
      {count(total)}
      <span className="aldis-hidden"> {label.toLowerCase()}</span>
    </>
  )
  return (
    <>
      <span className="aldis-tile-label">{label}</span>
      {status === null ? (
        <span className="aldis-tile-value" title="Every message that a carrier took, delivered or not">
          {value}
        </span>
      ) : (
        <LogLink
          traffic={traffic}
          list={name === 'inbound' ? 'inbound' : 'messages'}
          filters={status === undefined ? {} : { status }}
          className="aldis-tile-value"
        >
          {value}
        </LogLink>
      )}
      <span className="aldis-tile-rate">
        {writtenRate(rate, total)}
        {changed !== null && (
          <span title="Against the time of the same length before">
            {changed}
            <span className="aldis-hidden"> against the time before</span>
          </span>
        )}
      </span>
    </>
  )
}

/** How much of the window is counted. */
function elapsedMs({ data, window }: Traffic): number {
  const untilMs = data === undefined ? window.toMs : Date.parse(data.completeUntil)
  return Math.max(1_000, untilMs - window.fromMs)
}

/** What the sent messages cost; nothing when nothing was sent. */
function Charged({ totals: { segments, prices, sent } }: { totals: StatisticsFigures }) {
  if (segments === null || segments === 0) return null
  const each = sent === 0 ? '' : ` (${(segments / sent).toFixed(2)} a message)`
  return (
    <dl className="aldis-charged">
      <dt>Segments sent</dt>
      <dd>
        {count(segments)}
        {each}
      </dd>
      {prices !== null && prices.length > 0 && (
        <>
          <dt>Price</dt>
          <dd>{prices.map(({ price, currency }) => money(Number(price), currency)).join(' + ')}</dd>
        </>
      )}
    </dl>
  )
}
