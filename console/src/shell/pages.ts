import {
  IconAntennaBars5,
  IconArrowsSplit,
  IconBellOff,
  IconBuilding,
  IconCoins,
  IconCompass,
  IconDeviceMobile,
  IconFileText,
  IconGauge,
  IconHash,
  IconHistory,
  IconInbox,
  IconKey,
  IconLayoutDashboard,
  IconListCheck,
  IconMap,
  IconMessages,
  IconPencil,
  IconRoute,
  IconServer,
  IconSignature,
  IconUserShield,
  IconWebhook,
} from '@tabler/icons-react'
import type { LinkProps } from '@tanstack/react-router'
import type { ComponentType } from 'react'

export interface PageLink {
  readonly to: NonNullable<LinkProps['to']>
  readonly label: string
  readonly icon: ComponentType<{ size?: number; stroke?: number }>
}

/** What the navigation lists, in the order of use. */

export const CUSTOMER_PAGES: readonly PageLink[] = [
  { to: '/', label: 'Overview', icon: IconLayoutDashboard },
  { to: '/messages', label: 'Messages', icon: IconMessages },
  { to: '/compose', label: 'Compose', icon: IconPencil },
  { to: '/inbound', label: 'Inbound', icon: IconInbox },
  { to: '/webhooks', label: 'Webhooks', icon: IconWebhook },
  { to: '/phone', label: 'Phone', icon: IconDeviceMobile },
]

export const OPERATOR_PAGES: readonly { readonly title: string; readonly pages: readonly PageLink[] }[] = [
  {
    title: 'Operator',
    pages: [
      { to: '/admin', label: 'Overview', icon: IconLayoutDashboard },
      { to: '/admin/messages', label: 'Messages', icon: IconMessages },
      { to: '/admin/inbound', label: 'Inbound', icon: IconInbox },
      { to: '/admin/webhooks', label: 'Webhooks', icon: IconWebhook },
    ],
  },
  {
    title: 'Carriers',
    pages: [
      { to: '/admin/carriers', label: 'Carriers', icon: IconAntennaBars5 },
      { to: '/admin/quality', label: 'Quality', icon: IconGauge },
      { to: '/admin/explain', label: 'Route explanation', icon: IconCompass },
      { to: '/admin/routes', label: 'Routes', icon: IconRoute },
      { to: '/admin/routing-rules', label: 'Routing rules', icon: IconArrowsSplit },
      { to: '/admin/rates', label: 'Rates', icon: IconCoins },
      { to: '/admin/ranges', label: 'Number ranges', icon: IconMap },
    ],
  },
  {
    title: 'Customers',
    pages: [
      { to: '/admin/accounts', label: 'Accounts', icon: IconBuilding },
      { to: '/admin/plans', label: 'Service plans', icon: IconFileText },
      { to: '/admin/tokens', label: 'Tokens', icon: IconKey },
      { to: '/admin/senders', label: 'Senders', icon: IconSignature },
      { to: '/admin/sender-rules', label: 'Sender rules', icon: IconListCheck },
      { to: '/admin/numbers', label: 'Inbound numbers', icon: IconHash },
      { to: '/admin/sendsms-users', label: 'Sendsms users', icon: IconKey },
      { to: '/admin/opt-outs', label: 'Opt-outs', icon: IconBellOff },
    ],
  },
  {
    title: 'Installation',
    pages: [
      { to: '/admin/nodes', label: 'Nodes', icon: IconServer },
      { to: '/admin/audit-log', label: 'Audit log', icon: IconHistory },
      { to: '/admin/operator-tokens', label: 'Operator tokens', icon: IconUserShield },
    ],
  },
]
