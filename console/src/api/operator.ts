import { operatorClient } from './clients.ts'
import { useSession } from './session.ts'

const CLIENT = { client: operatorClient, key: 'operator' } as const

/** What pages of operators use. `mayChange` is false for the role that only reads. Below `operatorRoute` only. */
export function useOperator() {
  const operator = useSession().data?.operator
  if (operator == null) throw new Error('There is no session of an operator')
  return { ...CLIENT, ...operator, mayChange: operator.role === 'admin' }
}
