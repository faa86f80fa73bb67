import { Button, Flex, Group, Stack, Text } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react'
import { explain } from '../../api/errors.ts'
import { CommandLine } from '../../kit/command-line.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { ErrorState } from '../../kit/error-state.tsx'
import { notify } from '../../kit/notices.tsx'
import { PageHeader } from '../../kit/page-header.tsx'
import { Section } from '../../kit/section.tsx'
import { commandWords } from './command-words.ts'
import { FieldInput } from './field-input.tsx'
import { type Field, fieldsOf, type OperationId, operationOf } from './operations.ts'
import { useChange } from './requests.ts'
import { addressOf, nameOf, parametersOf, type Resource } from './resources.ts'
import { type Filters, type ResourceSearch, useResourceSearch } from './search.ts'
import { SecretOnce } from './secret-once.tsx'
import { changedValues, presentValues, type Values } from './values.ts'

/** Creates an object, or changes `item`. */
export function FormPage({ resource, item }: { resource: Resource; item: Values | null }) {
  const { open, filters, go } = useResourceSearch()
  const id = item === null ? resource.create : resource.update!
  // Of an object that is there, the path is its key.
  const fields = useMemo(
    () => fieldsOf(id, ...(item === null ? (['path', 'body'] as const) : (['body'] as const))),
    [id, item],
  )
  const parameters = item === null ? {} : parametersOf(resource, { ...filters, open: open! })
  const form = useForm(fields, item, givenOf(filters))
  const change = useChange(id)
  const [issued, setIssued] = useState<{ secret: string; address: ResourceSearch } | null>(null)
  const request = { ...parameters, ...form.changed }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change.mutate(request, {
      onSuccess: (answer) => {
        const address = { ...filters, ...addressOf(resource, answer ?? { ...item, ...request }) }
        form.release()
        const secret = resource.secret && answer?.[resource.secret]
        if (item === null && secret) setIssued({ secret: String(secret), address })
        else {
          notify(`${nameOf(resource, { ...item, ...request })} is saved`)
          void go(address, { replace: true })
        }
      },
    })
  }
  const title = item === null ? `New ${resource.noun}` : `Edit ${resource.noun} ${nameOf(resource, item)}`
  return (
    <>
      <PageHeader
        title={title}
        description={operationOf(id).about?.replace(/^Omitted fields keep their values\. /, '')}
      />
      <Flex direction={{ base: 'column', md: 'row' }} gap="lg" align="flex-start">
        <form onSubmit={submit} noValidate aria-label={title} className="aldis-form">
          <Fields
            fields={fields}
            front={frontOf(resource)}
            form={form}
            faults={change.error === null ? NO_FAULTS : explain(change.error).faults}
            isChange={item !== null}
          />
          {change.error !== null && <ErrorState error={change.error} />}
          <Group mt="md">
            <Button type="submit" loading={change.isPending} disabled={item !== null && !form.isDirty}>
              {item === null ? `Create ${resource.noun}` : 'Save changes'}
            </Button>
            <Button
              variant="default"
              onClick={() => void go(item === null ? filters : { ...filters, open: open! })}
            >
              Cancel
            </Button>
          </Group>
        </form>
        <Aside id={id} request={request} />
      </Flex>
      <Leaving blocker={form.blocker} />
      {issued !== null && (
        <SecretOnce secret={issued.secret} onClose={() => void go(issued.address, { replace: true })} />
      )}
    </>
  )
}

const NO_FAULTS = {}

/** The fields that stand before "More settings". */
function frontOf(resource: Resource): ReadonlySet<string> {
  const required = fieldsOf(resource.create, 'path', 'body').filter((field) => field.required)
  return new Set([...required.map(({ name }) => name), ...(resource.front ?? [])])
}

/** What the address says that a new object is for: fields have the names of filters, or are lists of them. */
function givenOf(filters: Filters): Values {
  const { servicePlanId, carrier } = filters
  return {
    ...filters,
    ...(servicePlanId !== undefined && { servicePlanIds: [servicePlanId] }),
    ...(carrier !== undefined && { carriers: [{ carrier }] }),
  }
}

function useForm(fields: readonly Field[], item: Values | null, given: Values) {
  const present = useMemo(() => presentValues(fields, item), [fields, item])
  const [start] = useState<Values>(() => {
    const own = fields.filter(({ name }) => item === null && given[name] !== undefined)
    return { ...present, ...Object.fromEntries(own.map(({ name }) => [name, given[name]])) }
  })
  const [draft, setDraft] = useState(start)
  const isDirty = JSON.stringify(draft) !== JSON.stringify(start)
  // After it was saved, one may leave.
  const isSaved = useRef(false)
  const isHeld = () => isDirty && !isSaved.current
  const blocker = useBlocker({ shouldBlockFn: isHeld, enableBeforeUnload: isHeld, withResolver: true })
  return {
    draft,
    set: (name: string, value: unknown) => setDraft((before) => ({ ...before, [name]: value })),
    changed: changedValues(fields, present, draft),
    isDirty,
    release: () => {
      isSaved.current = true
    },
    blocker,
  }
}

type Form = ReturnType<typeof useForm>

interface FieldsProps {
  readonly fields: readonly Field[]
  readonly front: ReadonlySet<string>
  readonly form: Form
  readonly faults: Readonly<Record<string, string>>
  readonly isChange: boolean
}

/** Required fields and the usual ones; the rest behind "More settings", which opens for a fault. */
function Fields({ fields, front, form, faults, isChange }: FieldsProps) {
  const rest = fields.filter(({ name }) => !front.has(name))
  const hasFault = rest.some(({ name }) => Object.keys(faults).some((path) => path.split('.')[0] === name))
  const [isOpen, setIsOpen] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (Object.keys(faults).length > 0)
      box.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [faults])
  const input = (field: Field) => (
    <FieldInput
      key={field.name}
      field={field}
      path={field.name}
      value={form.draft[field.name]}
      onChange={(value) => form.set(field.name, value)}
      faults={faults}
      isChange={isChange}
    />
  )
  // In the order of the resource's own list: what belongs together stands together.
  const inFront = [...front].flatMap((name) => fields.filter((field) => field.name === name))
  return (
    <Stack gap="sm" mb="md" ref={box}>
      {inFront.map(input)}
      {rest.length > 0 && (
        <details open={isOpen || hasFault} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
          <summary className="aldis-more">More settings</summary>
          <Stack gap="sm" mt="sm">
            {rest.map(input)}
          </Stack>
        </details>
      )}
    </Stack>
  )
}

/** The command that does what the form does. */
function Aside({ id, request }: { id: OperationId; request: Values }) {
  return (
    <div className="aldis-aside">
      <Section title="The same on the command line">
        <CommandLine words={commandWords(operationOf(id), request)} />
        <Text size="xs" c="dimmed" mt="xs">
          It reads the address of the service from ALDIS_URL, and your operator token from
          ALDIS_OPERATOR_TOKEN.
        </Text>
      </Section>
    </div>
  )
}

function Leaving({ blocker }: { blocker: Form['blocker'] }) {
  return (
    <Dialog
      opened={blocker.status === 'blocked'}
      onClose={() => blocker.reset?.()}
      title="Leave without saving?"
    >
      <Text size="sm">What you have entered would be lost.</Text>
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={() => blocker.reset?.()} data-autofocus>
          Stay
        </Button>
        <Button color="red" onClick={() => blocker.proceed?.()}>
          Leave
        </Button>
      </Group>
    </Dialog>
  )
}
