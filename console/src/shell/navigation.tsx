import { NavLink, ScrollArea, Stack, Text } from '@mantine/core'
import { Link, useRouterState } from '@tanstack/react-router'
import type { Session } from '../api/session.ts'
import { CUSTOMER_PAGES, OPERATOR_PAGES, type PageLink } from './pages.ts'

/** Links to the pages of each session that this browser has. */
export function Navigation({ session, onFollow }: { session: Session; onFollow: () => void }) {
  return (
    <ScrollArea h="100%" type="auto">
      <Stack gap="lg" p="sm" component="nav" aria-label="Pages">
        {session.customer !== null && <Group title="Account" pages={CUSTOMER_PAGES} onFollow={onFollow} />}
        {session.operator !== null &&
          OPERATOR_PAGES.map((group) => <Group key={group.title} {...group} onFollow={onFollow} />)}
      </Stack>
    </ScrollArea>
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
  const current = useRouterState({ select: ({ location }) => nearest(location.pathname) })
  return (
    <div>
      <Text size="xs" fw={600} c="dimmed" px="sm" pb={4}>
        {title}
      </Text>
      {pages.map(({ to, label, icon: Icon }) => (
        <NavLink
          key={to}
          component={Link}
          to={to}
          label={label}
          leftSection={<Icon size={17} stroke={1.6} aria-hidden />}
          active={to === current}
          aria-current={to === current ? 'page' : undefined}
          onClick={onFollow}
          py={6}
        />
      ))}
    </div>
  )
}

const ALL = [...CUSTOMER_PAGES, ...OPERATOR_PAGES.flatMap(({ pages }) => pages)].map(({ to }) => to as string)

/** The page that an address belongs to: the longest that it begins with. */
function nearest(pathname: string): string | undefined {
  const path = pathname.replace(/(.)\/$/, '$1')
  return ALL.filter((to) => to === path || (to.split('/').length > 1 && path.startsWith(`${to}/`))).sort(
    (a, b) => b.length - a.length,
  )[0]
}
