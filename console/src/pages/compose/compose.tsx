import { Alert, SegmentedControl } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useCustomer } from '../../api/customer.ts'
import { PageHeader } from '../../kit/page-header.tsx'
import { Section } from '../../kit/section.tsx'
import { composeSearchOf } from './compose-search.ts'
import { type Draft, emptyRequest, fieldsOf, NO_FIELDS, requestOf } from './draft.ts'
import { MessageForm } from './message-form.tsx'
import { PreflightPanel } from './preflight-panel.tsx'
import { SendCommand } from './send-command.tsx'
import { SentMessage } from './sent-message.tsx'
import { usePreflight } from './use-preflight.ts'
import { useSending } from './use-sending.ts'

/** A message is written, checked as one types, and sent. The address fills in what other pages know of it. */
export function Compose() {
  const search = composeSearchOf(useSearch({ strict: false }))
  const { planId } = useCustomer()
  return <Page key={`${planId} ${JSON.stringify(search)}`} initial={{ ...NO_FIELDS, ...search }} />
}

function Page({ initial }: { initial: typeof NO_FIELDS }) {
  const { planId, scopes } = useCustomer()
  const [draft, setDraft] = useState<Draft>({ fields: initial, json: null })
  const request = requestOf(planId, draft)
  const told = usePreflight(request)
  const sending = useSending(request)
  const change = (next: Draft) => {
    setDraft(next)
    sending.renew()
  }
  const maySend = scopes.includes('send')
  return (
    <>
      <PageHeader
        title="Compose"
        description="Write a message and see what a send would do before you send it."
        actions={<FormOrJson planId={planId} draft={draft} onChange={change} />}
      />
      {!maySend && (
        <Alert color="orange" variant="light" title="Your token may not send" mb="md">
          It lacks the scope “send”. Sign in with one that has it.
        </Alert>
      )}
      <div className="compose">
        <div className="compose-main">
          <MessageForm
            draft={draft}
            onChange={change}
            told={told}
            sending={sending}
            maySend={maySend && request !== null}
          />
          {sending.sent !== undefined && <SentMessage sent={sending.sent} onAnother={sending.renew} />}
        </div>
        <div className="compose-side">
          <PreflightPanel
            preflight={told.preflight}
            given={draft.json === null ? draft.fields : fieldsOf(request)}
            isEmpty={request === null}
            error={told.error}
            onRetry={told.retry}
          />
        </div>
        <div className="compose-command">
          <Section title="The same with curl">
            <SendCommand body={request ?? emptyRequest(planId)} idempotencyKey={sending.key} />
          </Section>
        </div>
      </div>
    </>
  )
}

interface FormOrJsonProps {
  readonly planId: string
  readonly draft: Draft
  readonly onChange: (draft: Draft) => void
}

/** JSON is what an application sends: fields that the service does not know show up there. */
function FormOrJson({ planId, draft, onChange }: FormOrJsonProps) {
  const change = (view: string) => {
    const request = requestOf(planId, draft)
    if (view === 'form') onChange({ fields: fieldsOf(request), json: null })
    else
      onChange({
        ...draft,
        json: JSON.stringify(request ?? emptyRequest(planId), null, 2),
      })
  }
  return (
    <SegmentedControl
      size="xs"
      aria-label="Write the message as"
      value={draft.json === null ? 'form' : 'json'}
      onChange={change}
      data={[
        { value: 'form', label: 'Form' },
        { value: 'json', label: 'JSON' },
      ]}
    />
  )
}
