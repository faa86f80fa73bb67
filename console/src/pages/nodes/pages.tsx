/** The pages of this group, which is one chunk. */

export { AuditLog } from './audit-log.tsx'
export { Nodes } from './nodes.tsx'
