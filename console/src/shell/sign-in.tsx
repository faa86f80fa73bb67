import { Alert, Button, Code, Container, Paper, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { AldisError } from '../../../client/src/errors.ts'
import { explain } from '../api/errors.ts'
import { type SessionKind, signIn, useSession } from '../api/session.ts'
import { SecretInput } from '../kit/secret-input.tsx'
import { useTitle } from '../kit/title.ts'

const WANTED = {
  customer: 'This page is for customers. Sign in with a token of an account.',
  operator: 'This page is for operators. Sign in with an operator token.',
} as const

/** One field for a token of either kind; `kind` is the one that the page needs, null when a person came here themselves. */
export function SignIn({ kind }: { kind: SessionKind | null }) {
  useTitle('Sign in')
  const [token, setToken] = useState('')
  const session = useSession().data
  const other = session?.customer != null || session?.operator != null
  const send = useSignIn()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    send.mutate(token.trim())
  }
  return (
    <Container size={440} px={0} pt={{ base: 'md', sm: 64 }}>
      <Paper withBorder p={{ base: 'md', xs: 'xl' }}>
        <form onSubmit={submit}>
          <Stack>
            <Title order={1} size="h2">
              Sign in to Aldis
            </Title>
            {kind !== null && other && <Text size="sm">{WANTED[kind]}</Text>}
            <SecretInput
              label="Token"
              description="Of an account (aldis_…), or of an operator"
              value={token}
              onChange={(event) => setToken(event.currentTarget.value)}
              autoComplete="off"
              spellCheck={false}
              required
              error={send.error === null ? null : refusal(send.error)}
            />
            <Button type="submit" loading={send.isPending} fullWidth>
              Sign in
            </Button>
            <Origins />
            {other && (
              <Alert variant="light" title="You stay signed in">
                The new session is beside the one that you have. A token of the same kind replaces it.
              </Alert>
            )}
          </Stack>
        </form>
      </Paper>
    </Container>
  )
}

function Origins() {
  return (
    <Text size="sm" c="dimmed" component="div">
      On your own machine, <Code>npm start</Code> prints both tokens. An operator makes one for an account
      with <Code>aldis token create</Code>, and one for a colleague with{' '}
      <Code>aldis operator-token create</Code>.
    </Text>
  )
}

function useSignIn() {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { pathname } = useLocation()
  return useMutation({
    mutationFn: signIn,
    onSuccess: async () => {
      // Whatever was read was read with other tokens.
      await queries.resetQueries()
      if (pathname === '/sign-in') await navigate({ to: '/' })
    },
  })
}

function refusal(error: Error): string {
  if (error instanceof AldisError && error.status === 401)
    return 'No such token. It may have been revoked, or have expired.'
  return explain(error).detail
}
