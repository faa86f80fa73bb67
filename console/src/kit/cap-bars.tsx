import { Stack } from '@mantine/core'
import type { CapUsage, LimitCount } from '../../../client/src/api.ts'
import { count, money } from './formats.ts'
import { Bar } from './progress.tsx'
import { Time } from './time.tsx'

/** How much of its caps a plan has used. Periods are those of UTC. */
export function CapBars({ usage }: { usage: readonly CapUsage[] }) {
  return (
    <Stack gap="sm" maw="40rem">
      {usage.map(({ per, used, cap, percent, endsAt }) => (
        <Bar
          key={`${per} ${cap.currency}`}
          label={`${cap.messages === null ? 'Cost' : 'Messages'} ${per === 'day' ? 'today' : 'this month'} (UTC)`}
          text={
            <>
              {written(used)} of {written(cap)} ({percent} %), ends <Time at={endsAt} />
            </>
          }
          value={percent}
          max={100}
        />
      ))}
    </Stack>
  )
}

function written({ messages, cost, currency }: LimitCount): string {
  return messages === null ? money(Number(cost), currency) : count(messages)
}
