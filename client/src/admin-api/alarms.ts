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

/** Each operation: its input, and its answer when it succeeds. */
export interface AlarmsOperations {
  /** List the alarms. Returns what is wrong now in the whole installation. A condition that has lasted for 30 s is also told by a webhook, if the nodes have ALARM_WEBHOOK_URL. */
  listAlarms: { input: Record<string, never>; answer: Alarms }
}
