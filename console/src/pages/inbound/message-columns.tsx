import { Text } from '@mantine/core'
import type { Column } from '../../kit/data-table.tsx'
import { NoValue } from '../../kit/no-value.tsx'
import { RowLink } from '../../kit/row-link.tsx'
import { Time } from '../../kit/time.tsx'

interface Listed {
  readonly msgId: string
  readonly from: string
  readonly to: string
  readonly keyword?: string | null | undefined
  readonly body: string
  readonly receivedAt: string
}

/** What the lists of customers and of operators show of a message. A row opens it beside the list. */
export const MESSAGE_COLUMNS: readonly Column<Listed>[] = [
  {
    key: 'from',
    title: 'From',
    render: ({ msgId, from }) => (
      <RowLink
        to="."
        search={((search: object) => ({ ...search, open: msgId })) as never}
        resetScroll={false}
      >
        <span className="aldis-mono">{from}</span>
      </RowLink>
    ),
  },
  { key: 'to', title: 'To', render: ({ to }) => <span className="aldis-mono">{to}</span> },
  { key: 'keyword', title: 'Keyword', render: ({ keyword }) => keyword ?? <NoValue /> },
  { key: 'body', title: 'Text', render: ({ body }) => <TextStart text={body} /> },
  { key: 'receivedAt', title: 'Received', render: ({ receivedAt }) => <Time at={receivedAt} /> },
]

/** As much of a text as a row has room for. */
export function TextStart({ text }: { text: string }) {
  return (
    <Text size="sm" truncate maw={{ base: 220, md: 340 }} title={text}>
      {text}
    </Text>
  )
}
