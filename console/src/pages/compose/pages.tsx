import { Placeholder } from '../../kit/placeholder.tsx'

/** The pages of this group, which is one chunk. */

export function Compose() {
  return <Placeholder title="Compose" />
}
