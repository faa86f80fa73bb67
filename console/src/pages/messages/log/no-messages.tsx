import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { EmptyState } from '../../../kit/empty-state.tsx'

/** In the place of the operators' log on a day without messages. */
export function NoMessages() {
  return (
    <EmptyState title="No messages in the last 24 hours">
      Older ones are found by{' '}
      <Anchor component={Link} to="/admin/plans" underline="always">
        service plan
      </Anchor>
      , or with a window in the filters. New ones appear here by themselves.
    </EmptyState>
  )
}
