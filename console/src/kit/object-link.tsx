import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

interface Address {
  readonly to: string
  readonly search?: Readonly<Record<string, string>>
}

/** Pages of objects that one key opens, by the words of the audit log. */
const PAGES: Readonly<Record<string, string>> = {
  account: '/admin/accounts',
  'service-plan': '/admin/plans',
  token: '/admin/tokens',
  'operator-token': '/admin/operator-tokens',
  'sender-rule': '/admin/sender-rules',
  'inbound-number': '/admin/numbers',
  'sendsms-user': '/admin/sendsms-users',
  route: '/admin/routes',
  'routing-rule': '/admin/routing-rules',
  rate: '/admin/rates',
  'number-range': '/admin/ranges',
}

/** Where the console shows an object of the audit log; null: nowhere. */
function addressOfObject(type: string, id: string): Address | null {
  if (id === '') return null
  const page = PAGES[type]
  if (page !== undefined) return { to: page, search: { open: id } }
  if (type === 'carrier') return { to: `/admin/carriers/${encodeURIComponent(id)}` }
  if (type === 'quality-pause') return { to: '/admin/quality' }
  if (type === 'webhook-event') return { to: `/admin/webhooks/events/${encodeURIComponent(id)}` }
  const [servicePlanId = '', rest = ''] = id.split(/\/(.*)/s)
  if (type === 'sender') return { to: '/admin/senders', search: { servicePlanId, open: rest } }
  if (type === 'opt-out') return { to: '/admin/opt-outs', search: { servicePlanId } }
  if (type === 'webhook-destination')
    return { to: '/admin/webhooks', search: { servicePlanId, destination: rest } }
  return null
}

/** A link to an object, by its id unless it has a name. */
export function ObjectLink({ type, id, children = id }: { type: string; id: string; children?: ReactNode }) {
  const address = addressOfObject(type, id)
  if (address === null) return <>{children}</>
  return (
    <Anchor
      component={Link}
      to={address.to as '/admin'}
      search={(address.search ?? {}) as never}
      inherit
      underline="always"
    >
      {children}
    </Anchor>
  )
}
