// Made from the OpenAPI document by `npm run generate-client`.

export interface SendsmsUser {
  username: string
  servicePlanId: string
  defaultSender: string | null
  forcedSender: string | null
  callingCode: string | null
  dlrUrl: string | null
  createdAt: string
}

export interface SendsmsUserChange {
  /** Id of the service plan, 24 hex digits. */
  servicePlanId?: string | undefined
  /** Password; only its hash is stored. */
  password?: string | undefined
  /** Sender of requests without one; null: they are refused. */
  defaultSender?: string | null | undefined
  /** Sender of all requests, even of those that name another; null: requests choose it. */
  forcedSender?: string | null | undefined
  /** Country code that replaces the first 0 of a national number; null: such numbers are refused. */
  callingCode?: string | null | undefined
  /** URL for reports of requests that have dlr-mask but no dlr-url; null: the account's default. */
  dlrUrl?: string | null | undefined
}

export interface SendsmsUserCreation {
  /** Username. */
  username: string
  /** Id of the service plan, 24 hex digits. */
  servicePlanId: string
  /** Password; only its hash is stored. */
  password: string
  /** Sender of requests without one; null: they are refused. */
  defaultSender?: string | null | undefined
  /** Sender of all requests, even of those that name another; null: requests choose it. */
  forcedSender?: string | null | undefined
  /** Country code that replaces the first 0 of a national number; null: such numbers are refused. */
  callingCode?: string | null | undefined
  /** URL for reports of requests that have dlr-mask but no dlr-url; null: the account's default. */
  dlrUrl?: string | null | undefined
}

export interface SendsmsUserPage {
  items: SendsmsUser[]
  nextAfter: string | null
}

/** Each operation: its input, and its answer when it succeeds. */
export interface SendsmsUsersOperations {
  /** Create a sendsms user. The user may send with /cgi-bin/sendsms, from the service plan. */
  createSendsmsUser: { input: SendsmsUserCreation; answer: SendsmsUser }
  /** List sendsms users. Sorted by name or number. */
  listSendsmsUsers: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Id of the service plan, 24 hex digits. */
      servicePlanId?: string | undefined
    }
    answer: SendsmsUserPage
  }
  /** Show a sendsms user. Returns its service plan and its senders, without the password. */
  getSendsmsUser: {
    input: {
      /** Username. */
      username: string
    }
    answer: SendsmsUser
  }
  /** Update a sendsms user. Omitted fields keep their values. The change takes effect at once on the node that answers, and within 5 seconds on every other node. */
  updateSendsmsUser: {
    input: {
      /** Username. */
      username: string
    } & SendsmsUserChange
    answer: SendsmsUser
  }
  /** Delete a sendsms user. Its requests are refused from now on. */
  deleteSendsmsUser: {
    input: {
      /** Username. */
      username: string
    }
    answer: undefined
  }
}
