import { ActionIcon, Menu } from '@mantine/core'
import { IconLogout, IconPlus, IconUserCircle } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { type Session, type SessionKind, useSignOut } from '../api/session.ts'

/** Who is signed in, signing in beside that, and signing out. */
export function SessionMenu({ session }: { session: Session }) {
  const signOut = useSignOut()
  const entry = (kind: SessionKind, name: string) => (
    <>
      <Menu.Label>{name}</Menu.Label>
      <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => void signOut(kind)}>
        Sign out
      </Menu.Item>
    </>
  )
  return (
    <Menu position="bottom-end" width={260}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label="Sessions">
          <IconUserCircle size={20} stroke={1.6} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {session.customer !== null && entry('customer', `Account ${session.customer.accountId}`)}
        {session.operator !== null &&
          entry('operator', `Operator ${session.operator.name} (${session.operator.role})`)}
        <Menu.Divider />
        <Menu.Item component={Link} to="/sign-in" leftSection={<IconPlus size={16} aria-hidden />}>
          Sign in with another token
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
