import { Placeholder } from '../../kit/placeholder.tsx'

/** The pages of this group, which is one chunk. */

export function Carriers() {
  return <Placeholder title="Carriers" />
}

export function Carrier() {
  return <Placeholder title="Carrier" />
}

export function Quality() {
  return <Placeholder title="Quality" />
}

export function RouteExplanation() {
  return <Placeholder title="Route explanation" />
}
