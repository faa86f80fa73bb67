import type { Fields } from './printing.ts'

/** Answers that people read more easily in another form, and what they should know before they send a request. */

/** SMPP 3.4 §5.2.2. */
const STANDARD_PASSWORD_LENGTH = 8

/** The carrier may cut such a password, or refuse the bind. */
export function longPassword({ password = '' }: Fields): string | undefined {
  const { length } = password as string
  if (length <= STANDARD_PASSWORD_LENGTH) return undefined
  return `the password has ${length} characters and SMPP 3.4 allows ${STANDARD_PASSWORD_LENGTH}; it is sent whole`
}

/** Its links are a table; of a PEM text the number of certificates says enough. */
export function presentCarrier(carrier: Fields): Fields {
  const { tlsCa, link, ...settings } = carrier
  const { state = null, links = [] } = (link ?? {}) as Fields
  const certificates = (tlsCa as string | null)?.match(/-----BEGIN /g)?.length ?? 0
  return {
    ...settings,
    tlsCa: certificates === 0 ? null : `${certificates} certificate${certificates === 1 ? '' : 's'}`,
    link: state,
    links,
  }
}

/** The errors of all binds are one table. */
export function presentBinds(answer: Fields): Fields {
  const binds = answer.binds as readonly { errors: readonly Fields[] }[]
  const errors = binds.flatMap(({ errors, ...bind }) => errors.map((error) => ({ ...bind, ...error })))
  return { ...answer, errors }
}

interface Figures extends Fields {
  readonly messages: {
    readonly receiptLatencyMs: { readonly p50: number | null; readonly p95: number | null }
  }
}

/** A series comes instead of the carriers. Receipts take seconds to days: their milliseconds would say nothing more. */
export function presentQuality({ items, series, truncated }: Fields): Fields {
  const figures = (rows: unknown) => (rows as readonly Figures[]).map(withSeconds)
  return {
    ...(series === undefined ? { items: figures(items) } : { series: figures(series) }),
    ...(truncated === true && { more: 'choose a carrier or a route' }),
  }
}

interface StatisticsFigures extends Fields {
  readonly prices: readonly { currency: string; price: string }[] | null
  readonly latencyMs: { readonly receipt: { readonly p50: number } | null } | null
}

interface StatisticsSeries {
  readonly group: Readonly<Record<string, string | null>> | null
  readonly totals: StatisticsFigures
  readonly points: readonly (StatisticsFigures & { readonly at: string })[]
}

/** The points of the only series, or the totals of each group. */
export function presentStatistics({ series, groupBy, from, to, interval, completeUntil }: Fields): Fields {
  const all = series as readonly StatisticsSeries[]
  const isGrouped = (groupBy as readonly string[]).length > 0
  const rows = isGrouped
    ? all.map(({ group, totals }) => statisticsRow(groupText(group), totals))
    : all.flatMap(({ points }) => points.map((point) => statisticsRow(point.at, point)))
  return { from, to, interval, completeUntil, rows }
}

function groupText(group: StatisticsSeries['group']): string {
  if (group === null) return 'other'
  return Object.values(group)
    .map((value) => value ?? '-')
    .join(' ')
}

function statisticsRow(what: string, figures: StatisticsFigures): Fields {
  const { prices, latencyMs } = figures
  const price = prices?.map((each) => `${each.price} ${each.currency}`).join(', ') || null
  return { ...figures, what, price, receiptSeconds: seconds(latencyMs?.receipt?.p50 ?? null) }
}

function withSeconds(figures: Figures): Fields {
  const { p50, p95 } = figures.messages.receiptLatencyMs
  return { ...figures, receiptSeconds: { p50: seconds(p50), p95: seconds(p95) } }
}

function seconds(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms / 100) / 10
}

/** The tables with the age of the oldest entry. */
export function presentQueue(answer: Fields): Fields {
  const { countedAt, truncated, ...lists } = answer as Record<string, readonly Fields[]> & Fields
  const aged = Object.entries(lists).map(([name, rows]): [string, readonly Fields[]] => [
    name,
    rows.map((row) => ({ ...row, age: ageOf(row.oldestAt, countedAt) })),
  ])
  const cut = Object.entries(truncated as object).flatMap(([name, more]) => (more ? [name] : []))
  return {
    ...(aged.every(([, rows]) => rows.length === 0) && { waiting: 'nothing' }),
    ...(cut.length > 0 && { incomplete: cut }),
    ...Object.fromEntries(aged),
  }
}

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const

/** `3 h`, `12 min`, `5 s`; null where nothing waits. */
function ageOf(oldestAt: unknown, countedAt: unknown): string | null {
  if (oldestAt === null) return null
  const elapsed = Date.parse(countedAt as string) - Date.parse(oldestAt as string)
  const seconds = Math.max(0, Math.round(elapsed / 1_000))
  const [unit, length] = UNITS.find(([, length]) => seconds >= 2 * length) ?? ['s', 1]
  return `${Math.floor(seconds / length)} ${unit}`
}

interface Explanation extends Fields {
  readonly problems: readonly { errorCode: string; errorMessage: string }[]
  readonly route: string | null
  readonly rule: { readonly ruleId: number } | null
  readonly carriers: readonly { carrier: string; share: number }[]
  readonly charge: { price: string; ptf: string; currency: string; rate: Fields } | null
}

/** Which carrier a message would take, why, and what it would cost. */
export function presentExplanation(answer: Fields): Fields {
  const { problems, route, rule, carriers, charge, country, mccmnc, encoding, segments } =
    answer as Explanation
  const problem = problems.map(({ errorCode, errorMessage }) => `${errorCode}: ${errorMessage}`).join('; ')
  return {
    sendable: problem === '' ? true : `no, ${problem}`,
    country,
    mccmnc,
    route: route === null ? null : `${route}, by ${rule === null ? "the plan's own" : `rule ${rule.ruleId}`}`,
    carrier: carrierText(carriers),
    encoding,
    segments,
    price: charge && `${charge.price} ${charge.currency}`,
    ptf: charge && `${charge.ptf} ${charge.currency}`,
    rate: charge && rateText(charge.rate),
    carriers,
  }
}

function carrierText(carriers: Explanation['carriers']): string {
  const chosen = carriers.filter(({ share }) => share > 0)
  if (chosen.length === 0) return 'none now: it would wait'
  return chosen
    .map(({ carrier, share }) => (share === 100 ? carrier : `${carrier} (${share} %)`))
    .join(' or ')
}

function rateText({ rateId, servicePlanId, mccmnc, prefix, country }: Fields): string {
  const recipients = mccmnc ?? prefix ?? country ?? 'anywhere'
  return `${rateId}, to ${recipients}, ${servicePlanId === null ? 'of all plans' : 'of the plan'}`
}
