/** The pages of this group, which is one chunk. */

export { CustomerInbound } from './customer-inbound.tsx'
export { OperatorInbound } from './operator-inbound.tsx'
export { UnownedInbound } from './unowned-inbound.tsx'
