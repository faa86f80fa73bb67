import { useNavigate, useSearch } from '@tanstack/react-router'
import type { StatisticsFigures, StatisticsSeries } from '../../../../client/src/api.ts'
import { listOf } from '../../api/list.ts'
import { Choice } from '../../kit/choice.tsx'
import { type Column, DataTable } from '../../kit/data-table.tsx'
import { EmptyState } from '../../kit/empty-state.tsx'
import { countryName } from '../../kit/formats.ts'
import { NoValue } from '../../kit/no-value.tsx'
import { Section } from '../../kit/section.tsx'
import { Count } from './log-link.tsx'
import { DIMENSIONS, type Dimension, type OverviewSearch } from './search.ts'
import { type Traffic, useGroups } from './statistics.ts'
import { windowOfPlans } from './time-window.ts'

/** The figures by country; operators can choose other groups. */
export function Breakdown({ traffic: whole }: { traffic: Traffic }) {
  const isOperator = whole.planId === null
  const search = useSearch({ strict: false }) as OverviewSearch
  const by = isOperator ? (search.by ?? 'country') : 'country'
  const isOfPlans = isOperator && (by === 'country' || by === 'servicePlanId')
  const traffic = isOfPlans ? { ...whole, window: windowOfPlans(whole.window) } : whole
  const isShorter = traffic.window.fromMs > whole.window.fromMs
  const groups = useGroups(traffic, by)
  const name = `by ${DIMENSIONS[by].toLowerCase()}`
  return (
    <Section
      title={`B${name.slice(1)}${isShorter ? ', last 7 days' : ''}`}
      actions={isOperator && <DimensionChoice value={by} />}
    >
      <DataTable
        label={`Messages ${name}`}
        columns={columnsOf(by, traffic)}
        list={listOf(groups, ({ series }) => series)}
        keyOf={({ group }) => (group === null ? 'others' : `=${group[by]}`)}
        empty={<EmptyState title="No messages in this time">Choose a longer time span.</EmptyState>}
      />
    </Section>
  )
}

const CHOICES = Object.entries(DIMENSIONS).map(([value, label]) => ({ value, label }))

function DimensionChoice({ value }: { value: Dimension }) {
  const navigate = useNavigate()
  const change = (by: string) =>
    void navigate({
      to: '.',
      search: (search: object) => ({ ...search, by }),
      replace: true,
      resetScroll: false,
    } as never)
  return <Choice label="Break down by" value={value} onChange={change} options={CHOICES} />
}

type Row = StatisticsSeries
type Figure = 'accepted' | 'sent' | 'delivered' | 'failed'

/** A message is accepted before it has a carrier. */
const FIGURES: Readonly<Record<Dimension, readonly Figure[]>> = {
  country: ['accepted', 'delivered', 'failed'],
  servicePlanId: ['accepted', 'delivered', 'failed'],
  route: ['accepted', 'delivered', 'failed'],
  carrier: ['sent', 'delivered', 'failed'],
}
/** Null: the log has no filter for messages that were sent at any time. */
const STATUSES = { accepted: undefined, sent: null, delivered: 'DELIVERED', failed: 'FAILED' } as const
const TITLES = { accepted: 'Accepted', sent: 'Sent', delivered: 'Delivered', failed: 'Failed' } as const

function columnsOf(by: Dimension, traffic: Traffic): readonly Column<Row>[] {
  const figures = FIGURES[by].map((figure): Column<Row> => {
    const render = ({ group, totals }: Row) => {
      const filters = filtersOf(by, group?.[by] ?? null, STATUSES[figure])
      return <Count traffic={traffic} value={totals[figure]} filters={filters} />
    }
    return { key: figure, title: TITLES[figure], align: 'right', render }
  })
  return [
    { key: by, title: DIMENSIONS[by], render: ({ group }) => groupName(by, group) },
    ...figures,
    { key: 'rate', title: 'Delivery rate', align: 'right', render: ({ totals }) => deliveryRate(totals) },
  ]
}

/** Null when the log has no filter for it: a route, a missing value, what was deleted, all others. */
function filtersOf(by: Dimension, value: string | null, status: string | null | undefined) {
  if (value === null || status === null || value.startsWith('#') || by === 'route') return null
  return { [by]: value, ...(status !== undefined && { status }) }
}

function groupName(by: Dimension, group: Row['group']) {
  if (group === null) return 'All others'
  const value = group[by]
  if (value == null) return <NoValue />
  if (by === 'country') return countryName(value)
  if (by !== 'servicePlanId') return value
  const { servicePlanName: name } = group
  return name == null ? <span className="aldis-mono">{value}</span> : <span title={value}>{name}</span>
}

/** Of those whose end is known, or will not be. */
function deliveryRate({ delivered, failed, unknown }: StatisticsFigures) {
  const ended = delivered + failed + unknown
  return ended === 0 ? <NoValue /> : `${((100 * delivered) / ended).toFixed(1)} %`
}
