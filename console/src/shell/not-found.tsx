import { Anchor, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { PageHeader } from '../kit/page-header.tsx'

export function NotFound() {
  return (
    <>
      <PageHeader title="No such page" />
      <Text>
        The address may be wrong, or the page has moved.{' '}
        <Anchor component={Link} to="/" underline="always">
          Go to the overview
        </Anchor>
      </Text>
    </>
  )
}
