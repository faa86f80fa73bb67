import './overview.css'
import { ErrorState } from '../../kit/error-state.tsx'
import { Breakdown } from './breakdown.tsx'
import { Latencies } from './latencies.tsx'
import { Reasons } from './reasons.tsx'
import type { Traffic } from './statistics.ts'
import { Tiles } from './tiles.tsx'
import { TrafficChart } from './traffic-chart.tsx'

/** Numbers, charts and tables of one time. */
export function TrafficView({ traffic }: { traffic: Traffic }) {
  const { data, error, retry } = traffic
  if (data === undefined && error !== null) return <ErrorState error={error} onRetry={retry} />
  return (
    <>
      {error !== null && <ErrorState error={error} onRetry={retry} />}
      <Tiles traffic={traffic} />
      <TrafficChart traffic={traffic} />
      <Latencies traffic={traffic} />
      <div className="aldis-columns">
        <Breakdown traffic={traffic} />
        <Reasons traffic={traffic} />
      </div>
    </>
  )
}
