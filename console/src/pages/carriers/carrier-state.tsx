import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Carrier } from '../../../../client/src/admin-api.ts'
import { operatorClient } from '../../api/clients.ts'
import { useOperator } from '../../api/operator.ts'
import { CommandLine } from '../../kit/command-line.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { ErrorState } from '../../kit/error-state.tsx'
import { StatusBadge } from '../../kit/status-badge.tsx'
import { OPERATING_TONES } from './states.ts'

type State = Carrier['state']

const ACTS: readonly { readonly state: State; readonly verb: string; readonly effect: string }[] = [
  { state: 'started', verb: 'Start', effect: 'Its binds are made, and messages are submitted to it.' },
  {
    state: 'draining',
    verb: 'Drain',
    effect: 'It stays bound and its receipts are taken, but nothing new is submitted to it.',
  },
  {
    state: 'stopped',
    verb: 'Stop',
    effect: 'Its sessions are unbound. Receipts stay with the carrier until it is started.',
  },
]

/** The state that operators want a carrier in, and the way to the others. */
export function CarrierState({ carrier }: { carrier: Carrier }) {
  const { mayChange } = useOperator()
  const [wanted, setWanted] = useState<State | null>(null)
  const act = ACTS.find(({ state }) => state === wanted)
  return (
    <Group gap="xs">
      <StatusBadge tone={OPERATING_TONES[carrier.state]}>{carrier.state}</StatusBadge>
      {mayChange &&
        ACTS.filter(({ state }) => state !== carrier.state).map(({ state, verb }) => (
          <Button key={state} size="xs" variant="default" onClick={() => setWanted(state)}>
            {verb}
          </Button>
        ))}
      <Dialog
        opened={act !== undefined}
        onClose={() => setWanted(null)}
        title={`${act?.verb} ${carrier.name}`}
      >
        {act !== undefined && <Question carrier={carrier.name} act={act} onDone={() => setWanted(null)} />}
      </Dialog>
    </Group>
  )
}

function Question({
  carrier,
  act,
  onDone,
}: {
  carrier: string
  act: (typeof ACTS)[number]
  onDone: () => void
}) {
  const queries = useQueryClient()
  const change = useMutation({
    mutationFn: () => operatorClient.updateCarrier({ carrier, state: act.state }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['operator'] })
      onDone()
    },
  })
  return (
    <Stack>
      <Text size="sm">{act.effect}</Text>
      <CommandLine words={['carrier', 'update', carrier, '--state', act.state]} />
      {change.error !== null && <ErrorState error={change.error} />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onDone}>
          Cancel
        </Button>
        <Button loading={change.isPending} onClick={() => change.mutate()} data-autofocus>
          {act.verb}
        </Button>
      </Group>
    </Stack>
  )
}
