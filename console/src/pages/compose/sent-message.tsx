import { Button, Group, Text } from '@mantine/core'
import { IconDeviceMobile, IconFileText } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import type { DeliveryReceipt } from '../../../../client/src/api.ts'
import { useCustomer } from '../../api/customer.ts'
import { customerQuery } from '../../api/queries.ts'
import { Id } from '../../kit/id.tsx'
import { KeyValues } from '../../kit/key-values.tsx'
import { LinkButton } from '../../kit/link-button.tsx'
import { Section } from '../../kit/section.tsx'
import { MessageStatusBadge } from '../../kit/status-badge.tsx'

const POLL_MS = 1_000
const FINAL: readonly string[] = ['DELIVERED', 'FAILED']

/** The record of a message that was sent just now, as it changes. */
export function SentMessage({ sent, onAnother }: { sent: DeliveryReceipt; onAnother: () => void }) {
  const { plan, planId } = useCustomer()
  const { msgId, servicePlanId } = sent
  // The button that had the focus is gone.
  const result = useRef<HTMLDivElement>(null)
  useEffect(() => result.current?.focus(), [])
  const query = customerQuery('getMessage', { servicePlanId: servicePlanId ?? planId, msgId })
  const { data: record = sent } = useQuery({
    ...query,
    refetchInterval: ({ state }) => (FINAL.includes(state.data?.status ?? '') ? false : POLL_MS),
  })
  const { status, to, segments, errorCode, errorMessage } = record
  return (
    <Section title="Sent" actions={<MessageStatusBadge status={status} />}>
      <div role="status" ref={result} tabIndex={-1} className="compose-result">
        <KeyValues
          entries={[
            ['Message', <Id key="id" value={msgId} of="message" />],
            ['To', to],
            ['Segments', segments],
            ...(status === 'FAILED' ? [['Why', `${errorCode}: ${errorMessage}`] as const] : []),
          ]}
        />
      </div>
      <Group mt="md" gap="xs">
        <LinkButton
          to="/messages/$msgId"
          params={{ msgId }}
          leftSection={<IconFileText size={16} aria-hidden />}
        >
          What became of it
        </LinkButton>
        {plan.sandbox && to != null && (
          <LinkButton
            to="/phone"
            search={{ number: to }}
            variant="default"
            leftSection={<IconDeviceMobile size={16} aria-hidden />}
          >
            See it on the phone
          </LinkButton>
        )}
        <Button variant="default" onClick={onAnother}>
          Send another
        </Button>
      </Group>
      {!FINAL.includes(status) && (
        <Text size="sm" c="dimmed" mt="sm">
          The status is read again each second.
        </Text>
      )}
    </Section>
  )
}
