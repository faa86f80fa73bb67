import type { ChartColor } from '../../kit/chart-colors.ts'

interface Figure {
  readonly name: 'accepted' | 'sent' | 'delivered' | 'failed' | 'unknown' | 'inbound'
  readonly label: string
  readonly color: ChartColor
  /** Of the messages that the log shows for it: those that have the status now. Null: the log cannot show them. */
  readonly status?: string | null
}

/** What is counted, in the order and the colours of tiles and lines. */
export const FIGURES: readonly Figure[] = [
  { name: 'accepted', label: 'Accepted', color: 'violet' },
  { name: 'sent', label: 'Sent', color: 'blue', status: null },
  { name: 'delivered', label: 'Delivered', color: 'green', status: 'DELIVERED' },
  { name: 'failed', label: 'Failed', color: 'red', status: 'FAILED' },
  { name: 'unknown', label: 'Unknown', color: 'orange', status: 'UNKNOWN' },
  { name: 'inbound', label: 'Inbound', color: 'grey' },
]
