import { Placeholder } from '../../kit/placeholder.tsx'

/** The pages of this group, which is one chunk. */

export function CustomerOverview() {
  return <Placeholder title="Overview" />
}

export function OperatorOverview() {
  return <Placeholder title="Overview" />
}
