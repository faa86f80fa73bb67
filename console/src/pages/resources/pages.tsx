import { Placeholder } from '../../kit/placeholder.tsx'

/** The pages of this group, which is one chunk. */

export function Accounts() {
  return <Placeholder title="Accounts" />
}

export function Plans() {
  return <Placeholder title="Service plans" />
}

export function Tokens() {
  return <Placeholder title="Tokens" />
}

export function OperatorTokens() {
  return <Placeholder title="Operator tokens" />
}

export function Senders() {
  return <Placeholder title="Senders" />
}

export function SenderRules() {
  return <Placeholder title="Sender rules" />
}

export function Numbers() {
  return <Placeholder title="Inbound numbers" />
}

export function OptOuts() {
  return <Placeholder title="Opt-outs" />
}

export function Routes() {
  return <Placeholder title="Routes" />
}

export function RoutingRules() {
  return <Placeholder title="Routing rules" />
}

export function Rates() {
  return <Placeholder title="Rates" />
}

export function Ranges() {
  return <Placeholder title="Number ranges" />
}
