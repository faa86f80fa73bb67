import { Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { TestEvent } from '../../../../client/src/api.ts'
import { CommandLine } from '../../kit/command-line.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { ErrorState } from '../../kit/error-state.tsx'
import { duration } from '../../kit/formats.ts'
import { KeyValues } from '../../kit/key-values.tsx'
import { StatusBadge } from '../../kit/status-badge.tsx'
import { attemptInWords } from '../../kit/webhook-errors.ts'
import { FoldedText } from './folded-text.tsx'
import type { Test, WebhookSide } from './side.ts'

interface TestDialogProps {
  readonly side: WebhookSide
  readonly opened: boolean
  readonly onClose: () => void
}

/** Sends an event that never happened, and shows what the receiver made of it. */
export function TestDialog({ side, opened, onClose }: TestDialogProps) {
  return (
    <Dialog opened={opened} onClose={onClose} title="Send a test event">
      <Form side={side} />
    </Dialog>
  )
}

const TYPES = [
  { value: 'deliveryReceipt', label: 'Delivery receipt' },
  { value: 'inboundMessage', label: 'Inbound message' },
]
const DEFAULTS = {
  deliveryReceipt: 'When empty: the default DLR URL of the account',
  inboundMessage: 'When empty: the inbound URL of the service plan',
}

function Form({ side }: { side: WebhookSide }) {
  const [type, setType] = useState<Test['type']>('deliveryReceipt')
  const [url, setUrl] = useState('')
  const send = useMutation({ mutationFn: (test: Test) => side.sendTest(test) })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    send.mutate({ type, ...(url.trim() !== '' && { url: url.trim() }) })
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Text size="sm">
          It is signed like any other, has the header aldis-test: true, is sent at once, and is not retried.
        </Text>
        <NativeSelect
          label="Event"
          data={TYPES}
          value={type}
          onChange={(event) => setType(event.currentTarget.value as Test['type'])}
          data-autofocus
        />
        <TextInput
          label="URL"
          description={DEFAULTS[type]}
          placeholder="URL"
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value)}
          autoComplete="off"
        />
        {side.key === 'operator' && (
          <CommandLine
            words={[
              'event',
              'test',
              '--plan',
              side.planId,
              '--type',
              type,
              ...(url === '' ? [] : ['--to', url]),
            ]}
          />
        )}
        <Group>
          <Button type="submit" loading={send.isPending}>
            Send
          </Button>
        </Group>
        {send.error !== null && <ErrorState error={send.error} />}
        {send.data !== undefined && !send.isPending && <Result result={send.data} />}
      </Stack>
    </form>
  )
}

function Result({ result }: { result: TestEvent }) {
  const { delivered, url, responseStatus, latencyMs, responseHead } = result
  return (
    <section aria-label="Result" aria-live="polite">
      <Group gap="xs" mb="xs">
        <StatusBadge tone={delivered ? 'good' : 'bad'}>
          {delivered ? 'delivered' : 'not delivered'}
        </StatusBadge>
        <Text size="sm">{attemptInWords(result)}</Text>
      </Group>
      <KeyValues
        entries={[
          ['URL', url],
          ['Answer', responseStatus === null ? null : `HTTP ${responseStatus}`],
          ['Latency', duration(latencyMs)],
        ]}
      />
      <FoldedText name="Head of the answer" text={responseHead} />
    </section>
  )
}
