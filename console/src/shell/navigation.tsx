import { Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Session } from '../api/session.ts'
import { CUSTOMER_PAGES, OPERATOR_PAGES, type PageLink } from './pages.ts'

/** Links to the pages of each session that this browser has. */
export function Navigation({ session, onFollow }: { session: Session; onFollow: () => void }) {
  return (
    <Stack gap="lg" p="sm" component="nav" aria-label="Pages">
      {session.customer !== null && <Group title="Account" pages={CUSTOMER_PAGES} onFollow={onFollow} />}
      {session.operator !== null &&
        OPERATOR_PAGES.map((group) => <Group key={group.title} {...group} onFollow={onFollow} />)}
    </Stack>
  )
}

function Group({
  title,
  pages,
  onFollow,
}: {
  title: string
  pages: readonly PageLink[]
  onFollow: () => void
}) {
  return (
    <div>
      <Text size="xs" fw={600} c="dimmed" px="sm" pb={4}>
        {title}
      </Text>
      {pages.map(({ to, label, icon: Icon }) => (
        <Link
          key={to}
          to={to}
          className="aldis-nav-link"
          // An overview's address is the beginning of all the others.
          activeOptions={{ exact: label === 'Overview', includeSearch: false }}
          onClick={onFollow}
        >
          <Icon size={17} stroke={1.6} aria-hidden />
          {label}
        </Link>
      ))}
    </div>
  )
}
