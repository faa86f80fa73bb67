// Made from the OpenAPI document by `npm run generate-client`.

export interface AuditEntry {
  auditId: number
  at: string
  /** name of the operator token. */
  token: string
  /** where the connection came from: behind a proxy, its address. */
  address: string
  /** operationId in the OpenAPI document. */
  operation: string
  objectType: string
  /** name or number before the change; empty for imports and secrets. */
  objectId: string
  /** the object before, without secrets; null: there was none. */
  before: Record<string, unknown> | null
  /** the object after, without secrets; null: there is none any more. */
  after: Record<string, unknown> | null
}

export interface AuditEntryPage {
  items: AuditEntry[]
  nextAfter: string | null
}

/** Each operation: its input, and its answer when it succeeds. */
export interface AuditLogOperations {
  /** List changes through the admin API. Who changed what, from where and when, newest first. Secrets are not in it. */
  listAuditLog: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Kind of the object: account, service-plan, carrier, …. */
      objectType?: string | undefined
      /** Name or number of the object, as listed. */
      objectId?: string | undefined
      /** Name of the operator token; that of OPERATOR_TOKEN is environment. */
      token?: string | undefined
      /** operationId in the OpenAPI document: updateCarrier. */
      operation?: string | undefined
      /** Start of the window, RFC 3339, inclusive. */
      fromDate?: string | undefined
      /** End of the window, RFC 3339, inclusive. */
      toDate?: string | undefined
    }
    answer: AuditEntryPage
  }
}
