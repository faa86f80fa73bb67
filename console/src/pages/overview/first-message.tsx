import { Box } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { customerQuery } from '../../api/queries.ts'
import { FirstSend } from '../../kit/first-send.tsx'

/** Before any message. The list needs a filter. */
const THE_BEGINNING = '2000-01-01T00:00:00Z'

/** How to send the first message; nothing when there was one. Asked only while the page shows none. */
export function FirstMessage({ planId }: { planId: string }) {
  const query = { servicePlanId: planId, fromDate: THE_BEGINNING, limit: 1 }
  const messages = useQuery(customerQuery('listMessages', query))
  if (messages.data?.items.length !== 0) return null
  return (
    <Box mb="md">
      <FirstSend planId={planId} />
    </Box>
  )
}
