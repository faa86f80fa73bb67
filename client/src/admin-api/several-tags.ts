// Made from the OpenAPI document by `npm run generate-client`.

export type DisplayName = string

export interface ImportResult {
  created: number
  changed: number
}

export interface RateLimit {
  messagesPerSecond: number
  burst?: number | undefined
}

export type SenderType = 'short-code' | 'e164' | 'alphanumeric'
