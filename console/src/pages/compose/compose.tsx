import { Alert, Skeleton } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { useCustomer } from '../../api/customer.ts'
import { useSenders } from '../../api/senders.ts'
import { Choice } from '../../kit/choice.tsx'
import { type Draft, useDrafts } from '../../kit/drafts.ts'
import { NoSender } from '../../kit/no-sender.tsx'
import { PageHeader } from '../../kit/page-header.tsx'
import { Section } from '../../kit/section.tsx'
import { type ComposeSearch, composeSearchOf } from './compose-search.ts'
import { fieldsOf, NO_FIELDS, requestOf, requestOfFields } from './draft.ts'
import { MessageForm } from './message-form.tsx'
import { PreflightPanel } from './preflight-panel.tsx'
import { SendCommand } from './send-command.tsx'
import { SentMessage } from './sent-message.tsx'
import { usePreflight } from './use-preflight.ts'
import { useSending } from './use-sending.ts'

const TITLE = 'Compose'
const DESCRIPTION = 'Write a message and see what a send would do before you send it.'

/**
 * A message is written, checked as one types, and sent. The address fills in what other pages know of it, and the plan's
 * first sender is there from the beginning.
 */
export function Compose() {
  const filled = composeSearchOf(useSearch({ strict: false }))
  const { planId } = useCustomer()
  const { isLoading, allowed } = useSenders()
  if (isLoading)
    return (
      <>
        <PageHeader title={TITLE} description={DESCRIPTION} />
        <Skeleton height={320} role="status" aria-label="Senders: loading" />
      </>
    )
  const empty = { ...NO_FIELDS, from: allowed[0] ?? '' }
  return <Page key={`${planId} ${JSON.stringify(filled)}`} filled={filled} empty={empty} />
}

/** The draft of the page, as it was left. */
function useDraft(filled: ComposeSearch, empty: Draft['fields']) {
  const { planId } = useCustomer()
  const drafts = useDrafts()
  const [draft, setDraft] = useState<Draft>(
    () => drafts.find(planId, filled) ?? { fields: { ...empty, ...filled }, json: null },
  )
  const change = (next: Draft) => {
    setDraft(next)
    drafts.keep(planId, filled, next)
  }
  return [draft, change] as const
}

function Page({ filled, empty }: { filled: ComposeSearch; empty: Draft['fields'] }) {
  const { planId, scopes } = useCustomer()
  const main = useRef<HTMLDivElement>(null)
  const [draft, setDraft] = useDraft(filled, empty)
  const request = requestOf(planId, draft)
  const told = usePreflight(request)
  const sending = useSending(request)
  const change = (next: Draft) => {
    setDraft(next)
    sending.renew()
  }
  const sendAnother = () => {
    sending.renew()
    main.current?.querySelector<HTMLElement>('[name=to], textarea')?.focus()
  }
  const maySend = scopes.includes('send')
  return (
    <>
      <PageHeader
        title={TITLE}
        description={DESCRIPTION}
        actions={<FormOrJson planId={planId} draft={draft} onChange={change} />}
      />
      {!maySend && (
        <Alert color="orange" variant="light" title="Your token may not send" mb="md">
          It lacks the scope “send”. Sign in with one that has it.
        </Alert>
      )}
      {useSenders().isNone && <NoSender planId={planId} />}
      <div className="compose">
        <div className="compose-main" ref={main}>
          <MessageForm
            draft={draft}
            onChange={change}
            onClear={request === null ? null : () => change({ fields: empty, json: null })}
            told={told}
            sending={sending}
            maySend={maySend && request !== null}
          />
          {sending.sent !== undefined && <SentMessage sent={sending.sent} onAnother={sendAnother} />}
        </div>
        <div className="compose-side">
          <PreflightPanel
            preflight={told.preflight}
            given={draft.json === null ? draft.fields : fieldsOf(request)}
            isForm={draft.json === null}
            isEmpty={request === null}
            error={told.error}
            onRetry={told.retry}
          />
        </div>
        <div className="compose-command">
          <Section title="The same with curl">
            <SendCommand
              body={request ?? requestOfFields(planId, draft.fields)}
              idempotencyKey={sending.key}
            />
          </Section>
        </div>
      </div>
    </>
  )
}

const VIEWS = [
  { value: 'form', label: 'Form' },
  { value: 'json', label: 'JSON' },
]

interface FormOrJsonProps {
  readonly planId: string
  readonly draft: Draft
  readonly onChange: (draft: Draft) => void
}

/** JSON is what an application sends: fields that the service does not know show up there. */
function FormOrJson({ planId, draft, onChange }: FormOrJsonProps) {
  const change = (view: string) => {
    const request = requestOf(planId, draft) ?? requestOfFields(planId, draft.fields)
    if (view === 'form') onChange({ fields: fieldsOf(request), json: null })
    else onChange({ ...draft, json: JSON.stringify(request, null, 2) })
  }
  return (
    <Choice
      label="Write the message as"
      value={draft.json === null ? 'form' : 'json'}
      onChange={change}
      options={VIEWS}
    />
  )
}
