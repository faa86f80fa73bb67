import { Placeholder } from '../../kit/placeholder.tsx'

/** The pages of this group, which is one chunk. */

export function CustomerMessages() {
  return <Placeholder title="Messages" />
}

export function CustomerMessage() {
  return <Placeholder title="Message" />
}

export function OperatorMessages() {
  return <Placeholder title="Messages" />
}

export function OperatorMessage() {
  return <Placeholder title="Message" />
}
