import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useCustomer } from '../../api/customer.ts'
import { customerQuery } from '../../api/queries.ts'
import { distinct, useRecentMessages } from '../../api/recent-messages.ts'
import { ErrorState } from '../../kit/error-state.tsx'
import { PageHeader } from '../../kit/page-header.tsx'
import { Handset } from './handset.tsx'
import { isHandsetNumber, numberEndingIn } from './handset-number.ts'
import { NoSandbox } from './no-sandbox.tsx'
import { NumberPicker } from './number-picker.tsx'
import { Outcomes } from './outcomes.tsx'
import { phoneSearchOf } from './phone-search.ts'

/** A simulated handset: what a sandbox plan sent to its number, and replies from it. */
export function Phone() {
  const { plan } = useCustomer()
  return (
    <>
      <PageHeader
        title="Phone"
        description="A simulated handset. It receives what the plan sends to its number, and replies."
      />
      {plan.sandbox ? <SandboxPhone key={plan.servicePlanId} /> : <NoSandbox />}
    </>
  )
}

function SandboxPhone() {
  const { planId } = useCustomer()
  const { number: chosen } = phoneSearchOf(useSearch({ strict: false }))
  const sandbox = useQuery(customerQuery('getSandbox', { servicePlanId: planId }))
  const recent = distinct(useRecentMessages().map(({ to }) => to))
  const number = chosen ?? recent[0] ?? numberEndingIn(null, '')
  if (sandbox.error !== null)
    return <ErrorState error={sandbox.error} onRetry={() => void sandbox.refetch()} />
  if (sandbox.data === undefined)
    return <Skeleton height={560} maw={400} role="status" aria-label="Phone: loading" />
  const { numbers, outcomes } = sandbox.data
  return (
    <div className="phone">
      <div className="phone-choice">
        <NumberPicker key={number} number={number} recent={recent} />
      </div>
      <div className="phone-device">
        {isHandsetNumber(number) && <Handset key={number} number={number} plan={numbers} />}
      </div>
      <div className="phone-outcomes">
        <Outcomes outcomes={outcomes} number={number} />
      </div>
    </div>
  )
}
