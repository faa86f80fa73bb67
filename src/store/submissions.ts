import type { Status } from '../domain/message-states.ts'

/** The end of a message's submission: SENT, FAILED, or UNKNOWN where it must not be repeated. */
export interface Settlement {
  readonly plan_id: number
  readonly msg_id: string
  readonly status: Exclude<Status, 'QUEUED' | 'DELIVERED'>
  readonly carrier_id: number | null
  readonly error_code: string
  readonly carrier_code: string | null
  readonly route_id: number | null
  /** Why this carrier, for people. */
  readonly route_reason: string | null
  /** As it went out; null: as it was counted when it was accepted. */
  readonly segments: number | null
  /** How it was cut, where it started over. Counts where `segments` are given. */
  readonly cut: string | null
  readonly mccmnc: string | null
  /** Exact decimals; null where nothing is charged, or no rate fits. */
  readonly price: string | null
  readonly ptf: string | null
  readonly currency: string | null
  /** Null for a first attempt that was accepted. */
  readonly attempt: SubmitAttempt | null
}

/** One attempt to submit a message, as its timeline shows it. */
export interface SubmitAttempt {
  readonly msg_id: string
  /** ISO 8601. */
  readonly attempted_at: string
  readonly carrier_id: number
  readonly outcome: 'accepted' | 'refused' | 'retry' | 'no-answer'
  readonly command_status: number | null
  /** An earlier attempt may have reached the carrier. */
  readonly resubmission: boolean
  readonly reason: string | null
}

/** What a receipt names. */
export interface SubmissionId {
  readonly carrier_id: number
  readonly carrier_message_id: string
}

/** A segment the carrier accepted, under the id its receipt will name. */
export interface Submission extends SubmissionId {
  readonly msg_id: string
  readonly plan_id: number
  readonly segment: number
  /** How its message was cut, where that had started over. */
  readonly cut: string | null
}

/** A message that starts over: a carrier has accepted a part of it that is cut otherwise than parts before. */
export interface NewCut {
  readonly plan_id: number
  readonly msg_id: string
  readonly cut: string
}
