// Made from the OpenAPI document by `npm run generate-client`.

import type { MessageStatus } from './several-tags.ts'

export interface HandsetMessage {
  servicePlanId: string
  from: string
  to: string
  encoding: 'GSM7' | 'UCS2'
  /** deliver_sm that carried the text. */
  parts: number
}

export interface HandsetMessageRequest {
  /** Service plan: 24 hex digits. */
  servicePlanId: string
  /** Number of the handset, E.164. */
  from: string
  /** Inbound number of the service plan. */
  to: string
  /** Text, in code points; no U+0000. */
  body: string
}

export interface Sandbox {
  servicePlanId: string
  /** the inbound numbers of the plan; at most 1,000. */
  numbers: SandboxNumber[]
  /** by the last digits of a destination. */
  outcomes: SandboxOutcome[]
}

export interface SandboxDelay {
  least: number
  most: number
}

export interface SandboxNumber {
  number: string
  keywords: string[]
}

export interface SandboxOutcome {
  /** of the destination; null: any others. */
  lastDigits: string | null
  summary: string
  /** that the message gets; SENT if no receipt comes. */
  status: MessageStatus
  /** null: every submit is accepted. */
  refusal: SandboxRefusal | null
  /** in the order in which they are sent. */
  receipts: SandboxReceipt[]
  /** milliseconds from the submit to the first receipt; null: there is none. */
  receiptDelayMs: SandboxDelay | null
}

export interface SandboxReceipt {
  /** such as DELIVRD. */
  state: string
  /** err: of the receipt. */
  error: string
}

export interface SandboxRefusal {
  /** of submit_sm_resp, such as ESME_RTHROTTLED. */
  commandStatus: string
  /** how many submits of a message get it; null: all. */
  attempts: number | null
}

/** Each operation: its input, and its answer when it succeeds. */
export interface SandboxOperations {
  /** Show what a sandbox plan simulates. Returns the inbound numbers of the plan, and what becomes of a message by the last digits of its destination. Only for sandbox plans. */
  getSandbox: {
    input: {
      /** Service plan: 24 hex digits. */
      servicePlanId: string
    }
    answer: Sandbox
  }
  /** Send a message from a simulated handset. The simulator delivers it to a number of the plan as a carrier does, a long text in parts. It is then an inbound message like any other. Only for sandbox plans. */
  sendFromHandset: { input: HandsetMessageRequest; answer: HandsetMessage }
}
