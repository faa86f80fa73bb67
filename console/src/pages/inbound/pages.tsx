import { Placeholder } from '../../kit/placeholder.tsx'

/** The pages of this group, which is one chunk. */

export function CustomerInbound() {
  return <Placeholder title="Inbound messages" />
}

export function OperatorInbound() {
  return <Placeholder title="Inbound messages" />
}

export function UnownedInbound() {
  return <Placeholder title="Unowned inbound messages" />
}
