import { PageHeader } from '../../kit/page-header.tsx'
import { exactTime } from '../../kit/time.tsx'
import { TimeSpan } from '../../kit/time-span.tsx'
import type { Traffic } from './statistics.ts'

/** The one time span of the page, and how far it is counted. */
export function OverviewHeader({ traffic: { data, window } }: { traffic: Traffic }) {
  const counted = data === undefined ? '' : `, counted until ${exactTime(data.completeUntil)}`
  return (
    <PageHeader
      title="Overview"
      description={`Since ${exactTime(window.fromMs)}${counted}`}
      actions={<TimeSpan />}
    />
  )
}
