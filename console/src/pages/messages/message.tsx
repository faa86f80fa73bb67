import { ActionIcon, Button, Group, Title } from '@mantine/core'
import { IconExternalLink, IconX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react'
import { useCustomer } from '../../api/customer.ts'
import { customerQuery } from '../../api/queries.ts'
import { PlanName } from '../../kit/choose-plan.tsx'
import { NoValue } from '../../kit/no-value.tsx'
import { PageHeader } from '../../kit/page-header.tsx'
import { useClose } from './log/message-log.tsx'
import { CustomerActions } from './message-actions.tsx'
import { Fact, FactLink, MessageText, type ShownMessage } from './story/message-facts.tsx'
import { CopyActions, MessageStory } from './story/message-story.tsx'
import { useCustomerStory, useOperatorStory } from './story/sources.ts'

interface MessageProps {
  readonly msgId: string
  /** A page of its own, or beside the log. */
  readonly frame: typeof PageFrame
}

export function CustomerMessage({ msgId, frame: Frame }: MessageProps) {
  const story = useCustomerStory(msgId)
  const { message } = story
  return (
    <Frame
      message={message}
      data={story.data}
      page={{ to: '/messages/$msgId', params: { msgId } }}
      actions={message && <CustomerActions message={message} />}
    >
      <MessageStory
        {...story}
        segmentTexts={message && <CustomerText message={message} />}
        facts={
          message && (
            <>
              <Fact name="Recipient">
                <FactLink to="/messages" search={{ to: message.to }}>
                  All messages to {message.to}
                </FactLink>
              </Fact>
              {story.mayRedeliver && (
                <Fact name="Webhooks">
                  <FactLink to="/webhooks" search={{ msgId }}>
                    Its events
                  </FactLink>
                </Fact>
              )}
            </>
          )
        }
      />
    </Frame>
  )
}

/** The text by its segments, which only a preflight tells: it divides as the plan does now. */
function CustomerText({ message }: { message: ShownMessage }) {
  const { planId: servicePlanId, scopes } = useCustomer()
  const { body, segments, from, to } = message
  const { data } = useQuery({
    ...customerQuery('preflightSms', {
      servicePlanId,
      channel: 'SMS',
      from: from ?? '',
      to: to ?? '',
      body: body ?? '',
    }),
    enabled: segments !== null && segments > 1 && scopes.includes('send'),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const texts = data?.text?.segments === segments ? (data?.text?.segmentTexts ?? null) : null
  return <MessageText body={body} texts={texts} />
}

export function OperatorMessage({ msgId, frame: Frame }: MessageProps) {
  const story = useOperatorStory(msgId)
  const { message } = story
  return (
    <Frame message={message} data={story.data} page={{ to: '/admin/messages/$msgId', params: { msgId } }}>
      <MessageStory
        {...story}
        segmentTexts={message && <MessageText body={message.body} texts={null} />}
        facts={
          message && (
            <>
              <Fact name="Service plan">
                <FactLink to="/admin/plans" search={{ open: message.servicePlanId }}>
                  <PlanName planId={message.servicePlanId} />
                </FactLink>
                <FactLink to="/admin/messages" search={{ servicePlanId: message.servicePlanId }} isAside>
                  messages
                </FactLink>
              </Fact>
              <Fact name="Carrier">
                {message.carrier === null ? (
                  <NoValue />
                ) : (
                  <>
                    <FactLink to={`/admin/carriers/${encodeURIComponent(message.carrier)}`}>
                      {message.carrier}
                    </FactLink>
                    <FactLink to="/admin/messages" search={{ carrier: message.carrier }} isAside>
                      messages
                    </FactLink>
                  </>
                )}
              </Fact>
              <Fact name="Route">
                {message.route === null ? (
                  <NoValue />
                ) : (
                  <FactLink to="/admin/routes" search={{ open: message.route }}>
                    {message.route}
                  </FactLink>
                )}
              </Fact>
              <Fact name="Why this carrier">{message.routeReason ?? <NoValue />}</Fact>
              <Fact name="Carrier's code">{message.carrierCode ?? <NoValue />}</Fact>
              <Fact name="Webhooks">
                <FactLink to="/admin/webhooks" search={{ servicePlanId: message.servicePlanId, msgId }}>
                  Its events
                </FactLink>
              </Fact>
              <Fact name="Callback URL">{message.callbackUrl ?? 'the default of the account'}</Fact>
            </>
          )
        }
      />
    </Frame>
  )
}

interface FrameProps {
  readonly message: ShownMessage | undefined
  readonly data: unknown
  /** Where the message has its own page. */
  readonly page: object
  readonly actions?: ReactNode
  readonly children: ReactNode
}

function titleOf(message: ShownMessage | undefined): string {
  return message === undefined ? 'Message' : `Message to ${message.to}`
}

export function PageFrame({ message, data, actions, children }: FrameProps) {
  return (
    <>
      <PageHeader
        title={titleOf(message)}
        actions={
          message && (
            <>
              {actions}
              <CopyActions message={message} data={data} />
            </>
          )
        }
      />
      {children}
    </>
  )
}

/** Beside the log, or in its place where there is no room for both. Escape closes it. */
export function PanelFrame({ message, data, page, actions, children }: FrameProps) {
  const close = useClose()
  const panel = useRef<HTMLElement>(null)
  useEffect(() => panel.current?.focus({ preventScroll: true }), [])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') close()
  }
  return (
    <aside
      className="log-panel"
      aria-label={titleOf(message)}
      ref={panel}
      tabIndex={-1}
      onKeyDown={onKeyDown}
    >
      <Group justify="space-between" mb="md" gap="xs" wrap="nowrap" align="flex-start">
        <Title order={2} size="h3">
          {titleOf(message)}
        </Title>
        <ActionIcon variant="subtle" color="gray" aria-label="Close the message" onClick={close}>
          <IconX size={18} aria-hidden />
        </ActionIcon>
      </Group>
      {message && (
        <Group gap="xs" mb="md">
          {actions}
          <CopyActions message={message} data={data} />
          <Button
            size="xs"
            variant="default"
            leftSection={<IconExternalLink size={14} aria-hidden />}
            renderRoot={(props) => <Link {...props} {...(page as { to: '/messages' })} />}
          >
            Open as a page
          </Button>
        </Group>
      )}
      {children}
    </aside>
  )
}
