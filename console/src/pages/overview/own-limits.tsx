import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useCustomer } from '../../api/customer.ts'
import { customerQuery } from '../../api/queries.ts'
import { CapBars } from '../../kit/cap-bars.tsx'
import { countryName } from '../../kit/formats.ts'
import { Section } from '../../kit/section.tsx'
import { Time } from '../../kit/time.tsx'

const POLL_MS = 10_000

/** What the plan has used of its caps, and where it may not send now; nothing for a plan without either. */
export function OwnLimits({ planId }: { planId: string }) {
  const { scopes } = useCustomer()
  const { data } = useQuery({
    ...customerQuery('getLimits', { servicePlanId: planId }),
    enabled: scopes.includes('read'),
    refetchInterval: POLL_MS,
  })
  if (data === undefined || data.usage.length + data.pauses.length === 0) return null
  return (
    <Section title="Limits">
      <Stack gap="sm">
        {data.usage.length > 0 && <CapBars usage={data.usage} />}
        {data.pauses.map(({ country, until, reason }) => (
          <Text key={country} size="sm">
            {countryName(country)} is paused until <Time at={until} />: {reason}
          </Text>
        ))}
      </Stack>
    </Section>
  )
}
