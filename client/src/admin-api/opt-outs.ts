// Made from the OpenAPI document by `npm run generate-client`.

export interface OptOut {
  servicePlanId: string
  from: string
  to: string
  createdAt: string
}

export interface OptOutCreation {
  /** Id of the service plan, 24 hex digits. */
  servicePlanId: string
  /** Sender that the person has opted out of. */
  from: string
  /** Recipient. */
  to: string
}

export interface OptOutImport {
  optOuts: OptOutCreation[]
}

export interface OptOutImportResult {
  created: number
  known: number
}

export interface OptOutPage {
  items: OptOut[]
  nextAfter: string | null
}

/** Each operation: its input, and its answer when it succeeds. */
export interface OptOutsOperations {
  /** Create an opt-out. The service plan sends nothing more from this sender to this recipient. An opt-out that exists already is kept. */
  createOptOut: { input: OptOutCreation; answer: OptOut }
  /** List the opt-outs of a service plan. Sorted by sender, then by recipient. */
  listOptOuts: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
      /** Sender that the person has opted out of. */
      from?: string | undefined
      /** Recipient. */
      to?: string | undefined
    }
    answer: OptOutPage
  }
  /** Delete an opt-out. The recipient may get messages from this sender again. */
  deleteOptOut: {
    input: {
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
      /** Sender that the person has opted out of. */
      from: string
      /** Recipient. */
      to: string
    }
    answer: undefined
  }
  /** Import opt-outs. Up to 1,000 at once, all or none. Opt-outs that exist already are kept. */
  importOptOuts: { input: OptOutImport; answer: OptOutImportResult }
}
