import { Anchor, Button, Group, Skeleton, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useOperator } from '../../api/operator.ts'
import { CommandLine } from '../../kit/command-line.tsx'
import { ConfirmDelete } from '../../kit/confirm-delete.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { ErrorState } from '../../kit/error-state.tsx'
import { Id } from '../../kit/id.tsx'
import { KeyValues } from '../../kit/key-values.tsx'
import { notify } from '../../kit/notices.tsx'
import { PageHeader } from '../../kit/page-header.tsx'
import { Section } from '../../kit/section.tsx'
import { commandWords } from './command-words.ts'
import { labelOf } from './labels.ts'
import { PageButton } from './list-page.tsx'
import { fieldsOf, operationOf } from './operations.ts'
import { PlanLimits } from './plan-limits.tsx'
import { useChange } from './requests.ts'
import { type Act, isMeaningless, nameOf, parametersOf, type Resource } from './resources.ts'
import { type Filters, useResourceSearch } from './search.ts'
import { SecretOnce } from './secret-once.tsx'
import { type Users, Uses, useUsers } from './uses.tsx'
import { Value } from './value.tsx'
import type { Values } from './values.ts'

/** One object with all its fields, who uses it, and what can be done with it. */
export function DetailPage({ resource, item }: { resource: Resource; item: Values }) {
  const { mayChange } = useOperator()
  const meanings = new Map(fieldsOf(resource.create, 'body').map(({ name, control }) => [name, control.none]))
  const isBuiltIn = resource.builtIn?.isIt(item) === true
  const fields = Object.entries(item).filter(([name]) => !isMeaningless(resource, item, name))
  const entries = fields.map(([name, value]) => {
    const isOwn = name === resource.key.field
    const shown = isOwn ? (
      <Id key={name} value={String(value)} of={resource.noun} />
    ) : (
      <Value key={name} field={name} value={value} none={meanings.get(name)} />
    )
    return [labelOf(name), shown] as const
  })
  return (
    <>
      <PageHeader
        title={`${resource.noun.charAt(0).toUpperCase()}${resource.noun.slice(1)} ${nameOf(resource, item)}`}
        description={<BackToList resource={resource} />}
        actions={mayChange && <Actions resource={resource} item={item} />}
      />
      <Section title="Settings">
        {isBuiltIn && (
          <Text size="sm" mb="sm">
            {resource.builtIn!.text}
          </Text>
        )}
        <KeyValues entries={entries} />
      </Section>
      {resource.key.field === 'servicePlanId' && <PlanLimits servicePlanId={String(item.servicePlanId)} />}
      {resource.usedBy !== undefined && (
        <Section title="Used by">
          <UsedBy resource={resource} item={item} />
        </Section>
      )}
    </>
  )
}

function UsedBy({ resource, item }: { resource: Resource; item: Values }) {
  const { users, error, retry } = useUsers(resource, item)
  if (error !== null) return <ErrorState error={error} onRetry={retry} />
  if (users === undefined) return <Skeleton height={60} />
  return resource.builtIn?.isIt(item) ? <Uses users={users} /> : <Uses users={users} item={item} />
}

/** The list keeps the filters that it had; of those that name the object only the ones that it needs. */
function BackToList({ resource }: { resource: Resource }) {
  const { filters } = useResourceSearch()
  const needed = fieldsOf(resource.list, 'path', 'query').filter(({ required }) => required)
  const kept: Filters =
    resource.scope === undefined
      ? filters
      : Object.fromEntries(needed.map(({ name }) => [name, filters[name as keyof Filters]]))
  return (
    <Anchor
      component={Link}
      to={resource.path as '/admin/accounts'}
      search={kept as never}
      size="sm"
      underline="always"
    >
      All {resource.title.toLowerCase()}
    </Anchor>
  )
}

function Actions({ resource, item }: { resource: Resource; item: Values }) {
  const { open, filters } = useResourceSearch()
  const acts = (resource.acts ?? []).filter(({ isPossible }) => isPossible?.(item) ?? true)
  const isOver = typeof item.revokedAt === 'string'
  return (
    <Group gap="xs">
      {acts.map((act) => (
        <ActButton key={act.operation} act={act} resource={resource} />
      ))}
      {resource.update !== undefined && !resource.builtIn?.isIt(item) && (
        <PageButton
          resource={resource}
          address={{ ...filters, open: open!, view: 'edit' }}
          label="Edit"
          isMinor
        />
      )}
      {!isOver && <DeleteButton resource={resource} item={item} />}
    </Group>
  )
}

function DeleteButton({ resource, item }: { resource: Resource; item: Values }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <Button size="xs" color="red" variant="outline" onClick={() => setIsOpen(true)}>
        {resource.removal ?? 'Delete'}
      </Button>
      {isOpen && <Deletion resource={resource} item={item} onClose={() => setIsOpen(false)} />}
    </>
  )
}

interface DeletionProps {
  readonly resource: Resource
  readonly item: Values
  readonly onClose: () => void
}

/** Asks before an object is deleted, unless others use it, which have to go first. */
function Deletion({ resource, item, onClose }: DeletionProps) {
  const { open, filters, go } = useResourceSearch()
  const { noun, remove, removal = 'Delete', scope } = resource
  const { users } = useUsers(resource, item)
  const change = useChange(remove, { isRemoval: true })
  const parameters = parametersOf(resource, { ...filters, open: open! })
  const name = nameOf(resource, item)
  const confirm = () =>
    change.mutate(parameters, {
      onSuccess: () => {
        notify(`${name} is ${removal === 'Revoke' ? 'revoked' : 'deleted'}`)
        void go(scope === undefined ? {} : { servicePlanId: filters.servicePlanId! })
      },
    })
  const held = users?.filter(({ items, use }) => items.length > 0 && use.isOwned !== true) ?? []
  const owned = users?.filter(({ items, use }) => items.length > 0 && use.isOwned === true) ?? []
  return (
    <ConfirmDelete
      title={`${removal} ${noun} ${name}`}
      name={name}
      verb={removal}
      opened
      onClose={onClose}
      onConfirm={confirm}
      isPending={change.isPending}
      error={change.error}
      {...(held.length > 0 && { obstacle: <StillUsed noun={noun} users={held} /> })}
    >
      <Text size="sm">{operationOf(remove).about}</Text>
      {owned.length > 0 && (
        <div>
          <Text size="sm">Deleted with it:</Text>
          <Uses users={owned} />
        </div>
      )}
      <CommandLine words={commandWords(operationOf(remove), parameters)} />
    </ConfirmDelete>
  )
}

function StillUsed({ noun, users }: { noun: string; users: readonly Users[] }) {
  return (
    <div>
      <Text size="sm" mb="xs">
        This {noun} cannot be deleted as long as it is used by
      </Text>
      <Uses users={users} />
    </div>
  )
}

function ActButton({ act, resource }: { act: Act; resource: Resource }) {
  const { open, filters } = useResourceSearch()
  const [isOpen, setIsOpen] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  const change = useChange(act.operation)
  const parameters = parametersOf(resource, { ...filters, open: open! })
  const confirm = () =>
    change.mutate(parameters, {
      onSuccess: (answer) => {
        setIsOpen(false)
        if (act.secret !== undefined) setSecret(String(answer?.[act.secret]))
      },
    })
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setIsOpen(true)}>
        {act.label}
      </Button>
      <Dialog opened={isOpen} onClose={() => setIsOpen(false)} title={act.label}>
        <Stack>
          <Text size="sm">{operationOf(act.operation).about}</Text>
          <CommandLine words={commandWords(operationOf(act.operation), parameters)} />
          {change.error !== null && <ErrorState error={change.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setIsOpen(false)}>
              Cancel
            </Button>
            <Button onClick={confirm} loading={change.isPending} data-autofocus>
              {act.label}
            </Button>
          </Group>
        </Stack>
      </Dialog>
      {secret !== null && <SecretOnce secret={secret} onClose={() => setSecret(null)} />}
    </>
  )
}

export function WaitingForObject({ resource }: { resource: Resource }) {
  return (
    <>
      <PageHeader title={resource.title} />
      <div role="status" aria-label={`${resource.title}: loading`}>
        <Skeleton height={220} />
      </div>
    </>
  )
}
