import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { IconChevronDown, IconChevronRight, IconSend } from '@tabler/icons-react'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import type { Preflight } from '../../../../client/src/api.ts'
import { explain } from '../../api/errors.ts'
import { distinct, useRecentMessages } from '../../api/recent-messages.ts'
import { useSenders } from '../../api/senders.ts'
import type { Draft, Fields } from '../../kit/drafts.ts'
import { ErrorState } from '../../kit/error-state.tsx'
import { Section } from '../../kit/section.tsx'
import { SuggestInput } from '../../kit/suggest-input.tsx'
import { JsonBody } from './json-body.tsx'
import { MessageText } from './message-text.tsx'
import type { usePreflight } from './use-preflight.ts'
import type { Sending } from './use-sending.ts'

interface MessageFormProps {
  readonly draft: Draft
  readonly onChange: (draft: Draft) => void
  /** Null: nothing has been written. */
  readonly onClear: (() => void) | null
  readonly told: ReturnType<typeof usePreflight>
  readonly sending: Sending
  readonly maySend: boolean
}

type Faults = Readonly<Record<string, string>>

/** The message as a form or as JSON, and the button that sends it. */
export function MessageForm({ draft, onChange, onClear, told, sending, maySend }: MessageFormProps) {
  const form = useRef<HTMLFormElement>(null)
  const [attempts, setAttempts] = useState(0)
  const faults: Faults = {
    ...faultsOf(told.preflight),
    ...(sending.error !== null && explain(sending.error).faults),
  }
  const isRefused = told.isCurrent && told.preflight?.refusal != null
  const isMarked = draft.json === null && Object.keys(faults).length > 0
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setAttempts(attempts + 1)
    if (!isRefused && !sending.isSending) sending.send()
  }
  // The keyboard goes where something is wrong.
  useEffect(() => {
    if (attempts > 0) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [attempts])
  return (
    <Section title="Message">
      <form onSubmit={submit} ref={form} noValidate>
        <Stack gap="sm">
          {draft.json === null ? (
            <FormFields
              fields={draft.fields}
              onChange={(fields) => onChange({ fields, json: null })}
              faults={faults}
              isAttempted={attempts > 0}
              preflight={told.preflight}
            />
          ) : (
            <JsonBody json={draft.json} onChange={(json) => onChange({ ...draft, json })} />
          )}
          <Advanced sending={sending} />
          {attempts > 0 && isRefused && (
            <Text size="sm" c="var(--mantine-color-error)" role="alert">
              {isMarked
                ? 'Not sent: correct what is marked.'
                : `Not sent: ${told.preflight?.refusal?.errorMessage}`}
            </Text>
          )}
          {sending.error !== null && <ErrorState error={sending.error} />}
          {sending.sent === undefined && (
            <Group>
              <Button
                type="submit"
                loading={sending.isSending}
                disabled={!maySend}
                leftSection={<IconSend size={16} aria-hidden />}
              >
                Send
              </Button>
              {onClear !== null && (
                <Button variant="subtle" color="gray" onClick={onClear}>
                  Clear
                </Button>
              )}
            </Group>
          )}
        </Stack>
      </form>
    </Section>
  )
}

/** What a send would be refused for, by field. */
function faultsOf(preflight: Preflight | undefined): Faults {
  if (preflight === undefined) return {}
  const { refusal, sender } = preflight
  const faults = Object.fromEntries((refusal?.errors ?? []).map(({ field, message }) => [field, message]))
  const isSenderRefused = sender.allowed === false
  return isSenderRefused ? { from: sender.errorMessage ?? '', ...faults } : faults
}

interface FormFieldsProps {
  readonly fields: Fields
  readonly onChange: (fields: Fields) => void
  readonly faults: Faults
  readonly isAttempted: boolean
  readonly preflight: Preflight | undefined
}

function FormFields({ fields, onChange, faults, isAttempted, preflight }: FormFieldsProps) {
  // What is being typed for the first time is not wrong yet.
  const [left, setLeft] = useState<ReadonlySet<string>>(
    () => new Set(Object.entries(fields).flatMap(([name, text]) => (text === '' ? [] : [name]))),
  )
  const recent = useRecentMessages()
  const { allowed } = useSenders()
  const senders = allowed.length > 0 ? allowed : distinct(recent.map(({ from }) => from))
  const props = (name: keyof Fields) => {
    const isJudged = isAttempted || (left.has(name) && fields[name] !== '')
    return {
      name,
      value: fields[name],
      onBlur: () => setLeft(new Set([...left, name])),
      error: (isJudged && faults[name]) || null,
    }
  }
  const set = (name: keyof Fields) => (text: string) => onChange({ ...fields, [name]: text })
  const readAs = preflight?.recipient
  return (
    <>
      <div className="compose-addresses">
        <SuggestInput
          label="From"
          description={approved(allowed)}
          inputWrapperOrder={[...BELOW]}
          suggestions={senders.map((value) => ({ value }))}
          {...props('from')}
          onChange={(event) => set('from')(event.currentTarget.value)}
        />
        <SuggestInput
          label="To"
          placeholder="+15551230001"
          suggestions={distinct(recent.map(({ to }) => to)).map((value) => ({ value }))}
          {...props('to')}
          onChange={(event) => set('to')(event.currentTarget.value)}
        />
      </div>
      {readAs?.valid === false && readAs.msisdn !== null && readAs.msisdn !== fields.to && (
        <Group>
          <Button size="compact-sm" variant="light" onClick={() => set('to')(readAs.msisdn!)}>
            Write it as {readAs.msisdn}
          </Button>
        </Group>
      )}
      <MessageText {...props('body')} onChange={set('body')} told={preflight?.text ?? null} />
      <TextInput
        label="Callback URL"
        description={CALLBACK_HINT}
        type="url"
        {...props('callbackUrl')}
        onChange={(event) => set('callbackUrl')(event.currentTarget.value)}
        autoComplete="off"
      />
    </>
  )
}

const IS_LOCAL = ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname)
const CALLBACK_HINT = `Where the receipts of this message go instead of the account's default: an https address${
  IS_LOCAL ? ', or on this machine http://localhost:9000, where “aldis listen” shows them' : ''
}`

const BELOW = ['label', 'input', 'description', 'error'] as const
const MOST_NAMED = 5

/** "Approved: Aldis, 71234 and 3 more" */
function approved(senders: readonly string[]): string | null {
  if (senders.length === 0) return null
  const more = senders.length - MOST_NAMED
  return `Approved: ${senders.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function Advanced({ sending }: { sending: Sending }) {
  const [isOpen, setOpen] = useState(false)
  const Chevron = isOpen ? IconChevronDown : IconChevronRight
  return (
    <div>
      <Button
        size="compact-sm"
        variant="subtle"
        color="gray"
        leftSection={<Chevron size={14} aria-hidden />}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        Advanced
      </Button>
      {isOpen && (
        <TextInput
          mt="xs"
          label="Idempotency-Key"
          description="The same key sends once in 24 hours. Without one of your own, each message gets a new one"
          placeholder={sending.key}
          value={sending.ownKey}
          onChange={(event) => sending.setOwnKey(event.currentTarget.value)}
          classNames={{ input: 'aldis-mono' }}
          autoComplete="off"
        />
      )}
    </div>
  )
}
