/** The pages of this group, which is one chunk. */
export { CustomerOverview } from './customer-overview.tsx'
export { OperatorOverview } from './operator-overview.tsx'
