import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { AldisError } from '../../../client/src/errors.ts'

/** A customer's token, or an operator's. A browser can have a session of each. */
export type SessionKind = 'customer' | 'operator'

export interface SessionPlan {
  readonly servicePlanId: string
  readonly name: string
  readonly active: boolean
  readonly sandbox: boolean
}

export interface Session {
  readonly customer: {
    readonly accountId: string
    readonly servicePlans: readonly SessionPlan[]
    readonly tokenName: string
    readonly scopes: readonly string[]
    readonly expiresAt: string
  } | null
  readonly operator: {
    readonly name: string
    readonly role: 'admin' | 'support'
    readonly expiresAt: string
  } | null
}

export const SESSION_KEY = ['session'] as const

async function call(method: string, search = '', body?: object): Promise<unknown> {
  const answer = await fetch(`/console/session${search}`, {
    method,
    redirect: 'error',
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  const json = text.startsWith('{') ? JSON.parse(text) : text
  if (!answer.ok) throw new AldisError(answer.status, answer.headers, json)
  return json
}

const sessionQuery = queryOptions({
  queryKey: SESSION_KEY,
  queryFn: async () => (await call('GET')) as Session,
  staleTime: Number.POSITIVE_INFINITY,
})

/** Starts the session that fits the token, beside the other kind if that has been started. */
export async function signIn(token: string): Promise<void> {
  await call('POST', '', { token })
}

/** What the server says about this browser's sessions; undefined until it has answered. */
export function useSession() {
  return useQuery(sessionQuery)
}

/** Ends one session and forgets everything that was read with it. */
export function useSignOut() {
  const queries = useQueryClient()
  return async (kind: SessionKind) => {
    await call('DELETE', `?kind=${kind}`)
    queries.removeQueries({ queryKey: [kind] })
    await queries.invalidateQueries({ queryKey: SESSION_KEY })
  }
}
