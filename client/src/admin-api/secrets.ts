// Made from the OpenAPI document by `npm run generate-client`.

export interface ResealProgress {
  /** Secrets that this request encrypted with SECRET_KEY. */
  resealed: number
  /** Secrets that no key opens; they are left unchanged. The last response counts those of the configuration. */
  unreadable: number
  /** Secrets that are still encrypted with another key, because they kept changing. The last response counts those of the configuration. */
  pending: number
  /** Messages that were looked at. */
  scanned: number
  /** Identifies the SECRET_KEY of the node that answers, without revealing it. */
  keyId: string
  /** Where to continue; null when everything is done. */
  nextAfter: string | null
}

export interface ResealRequest {
  /** Continue at this position. */
  after?: string | undefined
}

/** Each operation: its input, and its answer when it succeeds. */
export interface SecretsOperations {
  /** Re-encrypt stored secrets with the current SECRET_KEY. The first request does the configuration, each further one 10,000 messages from `nextAfter` on; the last does the configuration again. It may be repeated. */
  resealSecrets: { input: ResealRequest; answer: ResealProgress }
}
