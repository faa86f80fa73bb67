import { useCustomer } from '../../api/customer.ts'
import { FirstMessage } from './first-message.tsx'
import { OverviewHeader } from './overview-header.tsx'
import { OwnLimits } from './own-limits.tsx'
import { isQuiet, useTraffic } from './statistics.ts'
import { TrafficView } from './traffic-view.tsx'

/** The messages of a service plan, at a glance. */
export function CustomerOverview() {
  const { planId } = useCustomer()
  // What was read of another plan is not shown meanwhile.
  return <OfPlan key={planId} planId={planId} />
}

function OfPlan({ planId }: { planId: string }) {
  const traffic = useTraffic(planId)
  return (
    <>
      <OverviewHeader traffic={traffic} />
      {isQuiet(traffic) && <FirstMessage planId={planId} />}
      <OwnLimits planId={planId} />
      <TrafficView traffic={traffic} />
    </>
  )
}
