// Made from the OpenAPI document by `npm run generate-client`.

export interface Alarm {
  name:
    | 'carrier-unbound'
    | 'messages-wait'
    | 'breaker-open'
    | 'floor-reached'
    | 'receipts-missing'
    | 'cap-reached'
    | 'unowned-inbound'
  /** what it is about; empty: the whole installation. */
  object: string
  summary: string
  /** how bad it is, in the unit of its alarm. */
  value: number | null
  since: string
  /** when the receiver of alarms was to be told; null: it was not. */
  raisedAt: string | null
  whatToDo: string
}

export interface Alarms {
  items: Alarm[]
}

export interface TestAlarm {
  alarmId: string
  /** Scheme, host and port of ALARM_WEBHOOK_URL. */
  destination: string
  /** It was answered 2xx. */
  delivered: boolean
  responseStatus: number | null
  /** From the DNS look-up to the end of the answer. */
  latencyMs: number
  /** Why it was not delivered. */
  error: string | null
  /** The first 1 KiB of the answer. */
  responseHead: string | null
}

/** Each operation: its input, and its answer when it succeeds. */
export interface AlarmsOperations {
  /** List the alarms. Returns what is wrong now in the whole installation. A condition that has lasted for 30 s is also told by a webhook, if the nodes have ALARM_WEBHOOK_URL. */
  listAlarms: { input: Record<string, never>; answer: Alarms }
  /** Test the receiver of alarms with one that never happened. Sends a signed alarm of the name test from this node to ALARM_WEBHOOK_URL, once, and returns the result within 15 s. One a second. Refused if the variable is not set. */
  sendTestAlarm: { input: Record<string, never>; answer: TestAlarm }
}
