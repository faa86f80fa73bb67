import { Center, Loader } from '@mantine/core'
import { Navigate, useLocation } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type SessionKind, useSession } from '../api/session.ts'
import { ErrorState } from '../kit/error-state.tsx'
import { SignIn } from './sign-in.tsx'

/** Shows its content to those who are signed in. Others sign in here, and are then where they wanted to be. */
export function SessionGate({ kind, children }: { kind: SessionKind; children: ReactNode }) {
  const { data: session, error, refetch } = useSession()
  const { pathname } = useLocation()
  if (session === undefined)
    return error === null ? <Waiting /> : <ErrorState error={error} onRetry={() => void refetch()} />
  if (session[kind] !== null) return children
  // An operator who opens the console has no customer's overview.
  if (kind === 'customer' && pathname === '/' && session.operator !== null)
    return <Navigate to="/admin" replace />
  return <SignIn kind={kind} />
}

function Waiting() {
  return (
    <Center mih="50vh">
      <Loader aria-label="Loading" />
    </Center>
  )
}
