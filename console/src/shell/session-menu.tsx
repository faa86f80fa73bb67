import { Button, Stack, Text } from '@mantine/core'
import { IconLogout, IconPlus, IconUserCircle } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { type Session, type SessionKind, useSignOut } from '../api/session.ts'
import { Disclosure } from '../kit/disclosure.tsx'

const ENTRY = { variant: 'subtle', color: 'gray', size: 'xs', justify: 'flex-start' } as const

/** Who is signed in, signing in beside that, and signing out. */
export function SessionMenu({ session }: { session: Session }) {
  const signOut = useSignOut()
  const entry = (kind: SessionKind, name: string) => (
    <div>
      <Text size="xs" c="dimmed" px="xs" pb={4}>
        {name}
      </Text>
      <Button
        {...ENTRY}
        fullWidth
        leftSection={<IconLogout size={16} aria-hidden />}
        aria-label={`Sign out: ${name}`}
        onClick={() => void signOut(kind)}
      >
        Sign out
      </Button>
    </div>
  )
  return (
    <Disclosure label="Sessions" icon={<IconUserCircle size={20} stroke={1.6} aria-hidden />}>
      <Stack gap="xs">
        {session.customer !== null && entry('customer', `Account ${session.customer.accountId}`)}
        {session.operator !== null &&
          entry('operator', `Operator ${session.operator.name} (${session.operator.role})`)}
        <Button {...ENTRY} component={Link} to="/sign-in" leftSection={<IconPlus size={16} aria-hidden />}>
          Sign in with another token
        </Button>
      </Stack>
    </Disclosure>
  )
}
