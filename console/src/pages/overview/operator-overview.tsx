import { Attention } from './attention.tsx'
import { useInstallation } from './installation.ts'
import { OverviewHeader } from './overview-header.tsx'
import { WaitingNow } from './queue.tsx'
import { Setup } from './setup.tsx'
import { isQuiet, useTraffic } from './statistics.ts'
import { TrafficView } from './traffic-view.tsx'

/** What needs a person, and all messages at a glance. */
export function OperatorOverview() {
  const traffic = useTraffic(null)
  const installation = useInstallation()
  return (
    <>
      <OverviewHeader traffic={traffic} />
      <Attention {...installation} />
      {isQuiet(traffic) && <Setup />}
      <TrafficView traffic={traffic} />
      <WaitingNow queue={installation.data?.queue} />
    </>
  )
}
