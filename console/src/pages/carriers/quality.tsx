import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { CarrierQuality, QualityPoint } from '../../../../client/src/admin-api.ts'
import { listOf } from '../../api/list.ts'
import { operatorQuery } from '../../api/queries.ts'
import { Chart, type ChartSeries } from '../../kit/chart.tsx'
import { type Column, DataTable } from '../../kit/data-table.tsx'
import { EmptyState } from '../../kit/empty-state.tsx'
import { NoValue } from '../../kit/no-value.tsx'
import { ObjectLink } from '../../kit/object-link.tsx'
import { PageHeader } from '../../kit/page-header.tsx'
import { Section } from '../../kit/section.tsx'
import { StatusBadge } from '../../kit/status-badge.tsx'
import { Time } from '../../kit/time.tsx'
import { TimeSpan, useTimeSpan } from '../../kit/time-span.tsx'
import { QualityPauses } from './quality-pauses.tsx'

const POLL_MS = 10_000
const MINUTE_MS = 60_000
/** The API looks no further back. */
const MOST_MINUTES = 10_000

/** How well each carrier delivers in each route. */
export function Quality() {
  const { ms } = useTimeSpan()
  const minutes = Math.min(ms / MINUTE_MS, MOST_MINUTES)
  const quality = useQuery({
    ...operatorQuery('getQuality', { minutes: String(minutes), series: 'true' }),
    refetchInterval: POLL_MS,
  })
  const { data } = quality
  return (
    <>
      <PageHeader
        title="Quality"
        description="What carriers answered to submits, and what became of the messages."
        actions={<TimeSpan longestMs={7 * 24 * 60 * MINUTE_MS} />}
      />
      <QualityPauses />
      <Section title="Carriers in their routes">
        <DataTable
          label="Quality of carriers"
          columns={COLUMNS}
          list={listOf(quality, ({ items }) => items)}
          keyOf={({ route, carrier }) => `${route} ${carrier}`}
          empty={
            <EmptyState title="Nothing was submitted in this time">
              Choose a longer time span. Messages of sandbox plans are not counted.
            </EmptyState>
          }
        />
        {data?.truncated === true && <Text size="sm">Only the 1,000 with most traffic are listed.</Text>}
      </Section>
      {data?.series !== undefined && data.series.length > 0 && (
        <Course points={data.series} between={[Date.parse(data.from), Date.parse(data.to)]} />
      )}
    </>
  )
}

const percent = (value: number | null) => (value === null ? <NoValue /> : `${value} %`)
const milliseconds = (value: number | null) =>
  value === null ? <NoValue /> : `${value.toLocaleString('en')} ms`

function figure(
  key: string,
  title: string,
  countOf: (item: CarrierQuality) => number,
): Column<CarrierQuality> {
  return { key, title, align: 'right', render: (item) => countOf(item).toLocaleString('en') }
}

const COLUMNS: readonly Column<CarrierQuality>[] = [
  { key: 'route', title: 'Route', render: ({ route }) => <ObjectLink type="route" id={route} /> },
  { key: 'carrier', title: 'Carrier', render: ({ carrier }) => <ObjectLink type="carrier" id={carrier} /> },
  {
    key: 'state',
    title: 'In use',
    render: ({ outOfUseUntil }) =>
      outOfUseUntil === null ? (
        <StatusBadge tone="good">yes</StatusBadge>
      ) : (
        <>
          <StatusBadge tone="bad">paused</StatusBadge> until <Time at={outOfUseUntil} />
        </>
      ),
  },
  {
    key: 'rate',
    title: 'Delivery rate',
    align: 'right',
    render: ({ messages }) => percent(messages.deliveryRate),
  },
  figure('sent', 'Sent', ({ messages }) => messages.sent),
  figure('delivered', 'Delivered', ({ messages }) => messages.delivered),
  figure('failed', 'Failed', ({ messages }) => messages.failed),
  figure('missing', 'Receipt missing', ({ messages }) => messages.missing),
  {
    key: 'receipt',
    title: 'Receipt, p50',
    align: 'right',
    render: ({ messages }) => milliseconds(messages.receiptLatencyMs.p50),
  },
  figure('submits', 'Submits', ({ submits }) => submits.total),
  figure('refused', 'Refused', ({ submits }) => submits.refused),
  figure('throttled', 'Throttled', ({ submits }) => submits.throttled),
  figure('noAnswer', 'No answer', ({ submits }) => submits.noAnswer),
  {
    key: 'answer',
    title: 'Answer, p95',
    align: 'right',
    render: ({ submits }) => milliseconds(submits.latencyMs.p95),
  },
]

function Course({
  points,
  between,
}: {
  points: readonly QualityPoint[]
  between: readonly [number, number]
}) {
  const timesMs = useMemo(() => points.map(({ at }) => Date.parse(at)), [points])
  const series = useMemo<ChartSeries[]>(
    () => [
      { label: 'Sent', color: 'blue', values: points.map(({ messages }) => messages.sent) },
      { label: 'Delivered', color: 'green', values: points.map(({ messages }) => messages.delivered) },
      { label: 'Failed', color: 'red', values: points.map(({ messages }) => messages.failed) },
    ],
    [points],
  )
  return (
    <Section title="Messages over time">
      <Chart
        label="Messages"
        timesMs={timesMs}
        between={between}
        series={series}
        format={(value) => value.toLocaleString('en')}
      />
    </Section>
  )
}
