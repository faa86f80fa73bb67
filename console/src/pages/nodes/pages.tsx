import { Placeholder } from '../../kit/placeholder.tsx'

/** The pages of this group, which is one chunk. */

export function Nodes() {
  return <Placeholder title="Nodes" />
}

export function AuditLog() {
  return <Placeholder title="Audit log" />
}
