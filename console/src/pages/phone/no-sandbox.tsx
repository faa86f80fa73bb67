import { Anchor, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useCustomer } from '../../api/customer.ts'
import { useSession } from '../../api/session.ts'
import { CommandLine } from '../../kit/command-line.tsx'
import { Section } from '../../kit/section.tsx'

/** What a sandbox plan is, and how one comes by it. */
export function NoSandbox() {
  const { plan, plans, planId } = useCustomer()
  const sandboxes = plans.filter(({ sandbox }) => sandbox)
  return (
    <Section title={`The plan ${plan.name} is not a sandbox`}>
      <Stack maw="46rem" gap="sm">
        <Text size="sm">
          A sandbox plan sends to a simulator inside the service instead of a carrier. Your application is
          tested with real credentials, states, receipts and webhooks; no SMS leaves the service, and nothing
          is charged. The phone shows what such a plan sends, and replies.
        </Text>
        {sandboxes.length > 0 ? (
          <>
            <Text size="sm">Your token is for a sandbox plan too:</Text>
            {sandboxes.map(({ servicePlanId, name }) => (
              <Anchor key={servicePlanId} component={Link} size="sm" {...phoneOf(servicePlanId)}>
                Open the phone of {name}
              </Anchor>
            ))}
          </>
        ) : (
          <>
            <Text size="sm">
              An operator creates one beside this plan. Whether a plan is a sandbox is decided when it is
              created, and cannot be changed.
            </Text>
            <Account planId={planId} />
          </>
        )}
      </Stack>
    </Section>
  )
}

function phoneOf(plan: string) {
  return { to: '/phone', search: { plan } } as { to: string }
}

function Account({ planId }: { planId: string }) {
  const accountId = useSession().data?.customer?.accountId ?? ''
  return (
    <>
      <CommandLine words={['plan', 'create', '--account', accountId, '--name', 'Tests', '--sandbox']} />
      <Text size="sm" c="dimmed">
        It then needs a sender and, for replies, an inbound number of its own. Your messages of plan {planId}{' '}
        go on as before.
      </Text>
    </>
  )
}
