import { ActionIcon, Button, Group, NativeSelect, Text } from '@mantine/core'
import { IconArrowUp } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type KeyboardEvent, useState } from 'react'
import type { HandsetMessage, SandboxNumber } from '../../../../client/src/api.ts'
import { customerClient } from '../../api/clients.ts'
import { useCustomer } from '../../api/customer.ts'
import { ErrorState } from '../../kit/error-state.tsx'
import { counted } from '../../kit/formats.ts'

interface ReplyFormProps {
  /** Of the handset. */
  readonly number: string
  readonly plan: readonly SandboxNumber[]
}

/** Sends from the handset to a number of the plan. */
export function ReplyForm({ number, plan }: ReplyFormProps) {
  const { planId: servicePlanId, scopes } = useCustomer()
  const [to, setTo] = useState(plan[0]?.number ?? '')
  const [body, setBody] = useState('')
  const queries = useQueryClient()
  const reply = useMutation({
    mutationFn: () => customerClient.sendFromHandset({ servicePlanId, from: number, to, body }),
    onSuccess: () => {
      setBody('')
      return queries.invalidateQueries({ queryKey: ['customer', 'listInboundMessages'] })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (body !== '' && !reply.isPending) reply.mutate()
  }
  // As on a keyboard of a handset: Shift and Enter begin a new line.
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) submit(event)
  }
  if (plan.length === 0)
    return <Hint>The plan has no inbound number, so there is nobody to reply to. An operator adds one.</Hint>
  if (!scopes.includes('send')) return <Hint>To reply, your token needs the scope “send”.</Hint>
  return (
    <form className="phone-reply" onSubmit={submit}>
      {reply.error !== null && <ErrorState error={reply.error} />}
      <Examples keywords={plan.find(({ number }) => number === to)?.keywords ?? []} onChoose={setBody} />
      {plan.length > 1 && (
        <NativeSelect
          aria-label="Reply to"
          size="xs"
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
          data={plan.map(({ number }) => number)}
        />
      )}
      <div className="phone-field">
        <div>
          <span aria-hidden>{`${body}\u200b`}</span>
          <textarea
            aria-label={`Reply to ${to}`}
            placeholder={`Text to ${to}`}
            value={body}
            onChange={(event) => setBody(event.currentTarget.value)}
            onKeyDown={onKeyDown}
            rows={1}
          />
        </div>
        <ActionIcon
          type="submit"
          radius="xl"
          size={34}
          aria-label="Send the reply"
          disabled={body === ''}
          loading={reply.isPending}
        >
          <IconArrowUp size={18} aria-hidden />
        </ActionIcon>
      </div>
      <Text size="xs" role="status" className="phone-answer">
        {reply.data !== undefined && body === '' ? answer(reply.data) : ''}
      </Text>
    </form>
  )
}

function Hint({ children }: { children: string }) {
  return (
    <Text size="sm" c="dimmed" p="sm">
      {children}
    </Text>
  )
}

const ENCODINGS = { GSM7: 'GSM 7-bit', UCS2: 'UCS-2' } as const

function answer({ to, encoding, parts }: HandsetMessage): string {
  return `Sent to ${to} in ${ENCODINGS[encoding]}, ${counted(parts, 'part')}`
}

const EMOJI = 'Thank you 👍🏽 see you soon 👋'
const LONG =
  'I am on my way, but the train stands still and nobody knows for how long. Please start without me and keep a piece of the cake. If it takes more than an hour I call you again from the station, or I take the bus, which is slower but at least it goes.'

/** Texts to begin with: keywords, one that needs UCS-2, one of several parts. */
function Examples({ keywords, onChoose }: { keywords: readonly string[]; onChoose: (text: string) => void }) {
  const texts = [
    ...[...new Set([...keywords, 'STOP'])].map((word) => [word, word] as const),
    ['Emoji', EMOJI] as const,
    ['Long', LONG] as const,
  ]
  return (
    <Group gap={4} role="group" aria-label="Examples">
      {texts.map(([name, text]) => (
        <Button key={name} size="compact-xs" variant="default" fw={400} onClick={() => onChoose(text)}>
          {name}
        </Button>
      ))}
    </Group>
  )
}
