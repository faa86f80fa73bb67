import './inbound.css'
import { Anchor, Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { UnownedInboundMessage } from '../../../../client/src/admin-api.ts'
import { useList } from '../../api/list.ts'
import { useOperator } from '../../api/operator.ts'
import { operatorList } from '../../api/queries.ts'
import { type Column, DataTable } from '../../kit/data-table.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { EmptyState } from '../../kit/empty-state.tsx'
import { NoValue } from '../../kit/no-value.tsx'
import { PageHeader } from '../../kit/page-header.tsx'
import { Time } from '../../kit/time.tsx'
import { TextStart } from './message-columns.tsx'
import { UnownedMessage } from './unowned-message.tsx'

/** Messages to numbers that nobody owned when they arrived. */
export function UnownedInbound() {
  const { mayChange } = useOperator()
  const list = useList(operatorList('listUnownedInboundMessages', { limit: '50' }))
  const [shown, setShown] = useState<UnownedInboundMessage | null>(null)
  const close = () => setShown(null)
  return (
    <>
      <PageHeader
        title="Unowned inbound messages"
        description="They came to numbers that no service plan had. Each can be given to a plan."
        actions={
          <Anchor component={Link} size="sm" to="/admin/inbound">
            Messages of a plan
          </Anchor>
        }
      />
      <DataTable
        label="Unowned inbound messages"
        columns={columns(setShown, mayChange)}
        list={list}
        keyOf={({ msgId }) => msgId}
        empty={
          <EmptyState title="Every message had an owner">
            Messages to a number that no service plan has are kept here. A number gets a plan with “aldis
            number create”.
          </EmptyState>
        }
      />
      <Dialog opened={shown !== null} onClose={close} title="Unowned inbound message" side="right">
        {shown !== null && <UnownedMessage message={shown} onGiven={close} />}
      </Dialog>
    </>
  )
}

function columns(
  onShow: (message: UnownedInboundMessage) => void,
  mayChange: boolean,
): readonly Column<UnownedInboundMessage>[] {
  return [
    {
      key: 'from',
      title: 'From',
      render: (message) => (
        <Anchor component="button" type="button" size="sm" onClick={() => onShow(message)}>
          <span className="aldis-mono">{message.from}</span>
        </Anchor>
      ),
    },
    { key: 'to', title: 'To', render: ({ to }) => <span className="aldis-mono">{to}</span> },
    { key: 'body', title: 'Text', render: ({ body }) => <TextStart text={body} /> },
    { key: 'carrier', title: 'Carrier', render: ({ carrier }) => carrier ?? <NoValue /> },
    { key: 'receivedAt', title: 'Received', render: ({ receivedAt }) => <Time at={receivedAt} /> },
    ...(mayChange ? [giveColumn(onShow)] : []),
  ]
}

function giveColumn(onShow: (message: UnownedInboundMessage) => void): Column<UnownedInboundMessage> {
  return {
    key: 'give',
    title: 'Owner',
    render: (message) => (
      <Button size="compact-xs" variant="default" onClick={() => onShow(message)}>
        Give to a plan
      </Button>
    ),
  }
}
