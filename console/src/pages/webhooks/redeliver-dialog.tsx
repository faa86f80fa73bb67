import { Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { CommandLine } from '../../kit/command-line.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { ErrorState } from '../../kit/error-state.tsx'
import { instantOf, localOf } from '../../kit/filters.ts'
import { counted } from '../../kit/formats.ts'
import { Progress } from '../../kit/progress.tsx'
import { type Run, useBulkRedelivery } from './bulk-redelivery.ts'
import type { EventFilters } from './search.ts'
import type { Redelivery, WebhookSide } from './side.ts'

interface RedeliverDialogProps {
  readonly side: WebhookSide
  /** Those of the page, with which the choice begins. */
  readonly filters: EventFilters
  readonly opened: boolean
  readonly onClose: () => void
}

/** Redelivers many events: which, how many those are, and then how far it is. */
export function RedeliverDialog({ side, filters, opened, onClose }: RedeliverDialogProps) {
  return (
    <Dialog opened={opened} onClose={onClose} title="Redeliver many events">
      <Form side={side} filters={filters} />
    </Dialog>
  )
}

type Which = Omit<Redelivery, 'dryRun' | 'after'>

const STATES = [
  { value: 'failed', label: 'failed: the schedule is over, or 410' },
  { value: 'kept', label: 'kept: there was no URL, and there is one now' },
]

function Form({ side, filters }: Pick<RedeliverDialogProps, 'side' | 'filters'>) {
  const [which, setWhich] = useState<Which>({
    ...filters,
    state: filters.state === 'kept' ? 'kept' : 'failed',
  })
  const queries = useQueryClient()
  const { run, start, cancel, reset } = useBulkRedelivery(side, () =>
    queries.invalidateQueries({ queryKey: [side.key] }),
  )
  const change = (name: keyof Which, value: string) => {
    const { [name]: _, ...rest } = which
    setWhich((value === '' ? rest : { ...rest, [name]: value }) as Which)
    // What was counted was something else.
    reset()
  }
  const isCounted = run.kind === 'counted' && run.events > 0
  const wanted = withoutDestination(which)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isCounted) start(wanted, run.events)
    else start(wanted, null)
  }
  const isRunning = run.kind === 'counting' || run.kind === 'redelivering'
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Fields which={which} onChange={change} isDisabled={isRunning} />
        {side.key === 'operator' && <CommandLine words={commandOf(side.planId, wanted)} />}
        <Outcome run={run} />
        <Group>
          <Button type="submit" loading={isRunning}>
            {isCounted ? `Redeliver ${events(run.events)}` : 'Count the events'}
          </Button>
          {isRunning && (
            <Button variant="default" onClick={cancel}>
              Cancel
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  )
}

interface FieldsProps {
  readonly which: Which
  readonly onChange: (name: keyof Which, value: string) => void
  readonly isDisabled: boolean
}

function Fields({ which, onChange, isDisabled }: FieldsProps) {
  const time = (name: 'fromDate' | 'toDate', label: string) => (
    <TextInput
      label={label}
      type="datetime-local"
      step={1}
      value={localOf(which[name] ?? '')}
      onChange={(event) => onChange(name, instantOf(event.currentTarget.value))}
      disabled={isDisabled}
    />
  )
  return (
    <>
      <NativeSelect
        label="Events that are"
        data={STATES}
        value={which.state}
        onChange={(event) => onChange('state', event.currentTarget.value)}
        disabled={isDisabled}
        data-autofocus
      />
      {which.state === 'failed' && (
        <TextInput
          label="Destination"
          placeholder="All"
          value={which.destination ?? ''}
          onChange={(event) => onChange('destination', event.currentTarget.value)}
          disabled={isDisabled}
        />
      )}
      <TextInput
        label="Message id"
        placeholder="All"
        value={which.msgId ?? ''}
        onChange={(event) => onChange('msgId', event.currentTarget.value)}
        disabled={isDisabled}
      />
      <Group grow gap="sm">
        {time('fromDate', 'Of messages since')}
        {time('toDate', 'Of messages until')}
      </Group>
    </>
  )
}

function Outcome({ run }: { run: Run }) {
  switch (run.kind) {
    case 'none':
      return (
        <Text size="sm">
          They keep their ids, go to the URLs configured now, and their schedules start again.
        </Text>
      )
    case 'counting':
      return <Progress label="Counting" done={run.events} total={null} />
    case 'counted':
      return <Text size="sm" role="status">{`${sentence(run.events)} would be redelivered.`}</Text>
    case 'redelivering':
      return <Progress label="Redelivering" done={run.events} total={run.total} />
    case 'done':
      return <Text size="sm" role="status">{`${sentence(run.events)} ${was(run.events)} redelivered.`}</Text>
    case 'cancelled':
      return (
        <Text
          size="sm"
          role="status"
        >{`Cancelled: ${sentence(run.events)} ${was(run.events)} redelivered before.`}</Text>
      )
    case 'failed':
      return (
        <>
          <Text
            size="sm"
            role="status"
          >{`${sentence(run.events)} ${was(run.events)} redelivered before this:`}</Text>
          <ErrorState error={run.error} />
        </>
      )
  }
}

const events = (number: number) => counted(number, 'event')
const sentence = (number: number) => (number === 0 ? 'No event' : events(number))
const was = (number: number) => (number < 2 ? 'was' : 'were')

/** Events that were kept went nowhere. */
function withoutDestination({ destination, ...which }: Which): Which {
  return which.state === 'failed' && destination !== undefined ? { ...which, destination } : which
}

function commandOf(planId: string, { state, destination, msgId, fromDate, toDate }: Which): string[] {
  const options = {
    '--state': state === 'kept' ? state : undefined,
    '--destination': destination,
    '--msg-id': msgId,
    '--from-date': fromDate,
    '--to-date': toDate,
  }
  const given = Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [name, value]))
  return ['event', 'redeliver-failed', '--plan', planId, ...given]
}
