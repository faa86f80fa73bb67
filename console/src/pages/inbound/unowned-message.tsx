import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { UnownedInboundMessage } from '../../../../client/src/admin-api.ts'
import { operatorClient } from '../../api/clients.ts'
import { useOperator } from '../../api/operator.ts'
import { operatorQuery } from '../../api/queries.ts'
import { CommandLine } from '../../kit/command-line.tsx'
import { ErrorState } from '../../kit/error-state.tsx'
import { Id } from '../../kit/id.tsx'
import { KeyValues } from '../../kit/key-values.tsx'
import { PlanField } from '../../kit/plan-field.tsx'
import { exactTime } from '../../kit/time.tsx'
import { MessageText, partsInWords } from './message-parts.tsx'

interface UnownedMessageProps {
  readonly message: UnownedInboundMessage
  readonly onGiven: () => void
}

/** A message without an owner, and the way to one. */
export function UnownedMessage({ message, onGiven }: UnownedMessageProps) {
  const { msgId, from, to, carrier, body, receivedAt } = message
  const { mayChange } = useOperator()
  return (
    <Stack>
      <MessageText text={body} />
      <KeyValues
        entries={[
          ['From', <Id key="from" value={from} of="sender" />],
          ['To', <Id key="to" value={to} of="number" />],
          ['Carrier', carrier],
          ['Parts', partsInWords(message)],
          ['Received', exactTime(receivedAt)],
          ['Message id', <Id key="id" value={msgId} of="message" />],
        ]}
      />
      {mayChange && <GiveForm msgId={msgId} onGiven={onGiven} />}
    </Stack>
  )
}

function GiveForm({ msgId, onGiven }: { msgId: string; onGiven: () => void }) {
  const [planId, setPlanId] = useState<string | null>(null)
  const queries = useQueryClient()
  const give = useMutation({
    mutationFn: (servicePlanId: string) => operatorClient.giveUnownedInboundMessage({ msgId, servicePlanId }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['operator'] })
      onGiven()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (planId !== null) give.mutate(planId)
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <PlanField
          label="Give to the service plan"
          description="It gets the message under the same id. STOP, START and HELP in it are not obeyed."
          onChoose={setPlanId}
        />
        {planId !== null && <Consequence planId={planId} />}
        <CommandLine words={['unowned-inbound', 'give', msgId, '--plan', planId ?? 'PLAN']} />
        {give.error !== null && <ErrorState error={give.error} />}
        <Group>
          <Button type="submit" disabled={planId === null} loading={give.isPending}>
            Give
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** Whether the plan is told. */
function Consequence({ planId }: { planId: string }) {
  const { data, error } = useQuery(operatorQuery('getServicePlan', { servicePlanId: planId }))
  if (error !== null) return <ErrorState error={error} />
  if (data === undefined) return null
  if (data.inboundUrl !== null) return <Text size="sm">It is pushed to {data.inboundUrl}</Text>
  return (
    <Alert color="orange" variant="light" title={`${data.name} has no inbound URL`}>
      The message appears among those of the plan, but is not pushed.
    </Alert>
  )
}
