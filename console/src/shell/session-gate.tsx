import { Center, Code, Loader } from '@mantine/core'
import { Navigate, useLocation } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type SessionKind, useSession } from '../api/session.ts'
import { EmptyState } from '../kit/empty-state.tsx'
import { ErrorState } from '../kit/error-state.tsx'
import { PageHeader } from '../kit/page-header.tsx'
import { SignIn } from './sign-in.tsx'

/** Shows its content to those who are signed in. Others sign in here, and are then where they wanted to be. */
export function SessionGate({ kind, children }: { kind: SessionKind; children: ReactNode }) {
  const { data: session, error, refetch } = useSession()
  const { pathname } = useLocation()
  if (session === undefined)
    return error === null ? <Waiting /> : <ErrorState error={error} onRetry={() => void refetch()} />
  if (kind === 'customer' && session.customer?.servicePlans.length === 0) return <NoPlan />
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

function NoPlan() {
  return (
    <>
      <PageHeader title="No service plan" />
      <EmptyState title="Your token is for no service plan">
        An operator makes one for your account with <Code>aldis plan create</Code>, or gives you a token for
        another.
      </EmptyState>
    </>
  )
}
