import { Placeholder } from '../../kit/placeholder.tsx'

/** The pages of this group, which is one chunk. */

export function Phone() {
  return <Placeholder title="Phone" />
}
