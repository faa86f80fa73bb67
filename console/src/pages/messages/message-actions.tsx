import { Group } from '@mantine/core'
import { IconDeviceMobile, IconPencil } from '@tabler/icons-react'
import { useCustomer } from '../../api/customer.ts'
import { useDrafts } from '../../kit/drafts.ts'
import { LinkButton } from '../../kit/link-button.tsx'
import type { ShownMessage } from './story/message-facts.tsx'

/** Where a customer goes from a message. */
export function CustomerActions({ message: { from, to, body } }: { message: ShownMessage }) {
  const { plan, planId, scopes } = useCustomer()
  const drafts = useDrafts()
  const addresses = { from: from ?? '', to: to ?? '' }
  // The text goes to the page without the address.
  const fill = () =>
    drafts.keep(planId, addresses, {
      fields: { ...addresses, body: body ?? '', callbackUrl: '' },
      json: null,
    })
  return (
    <Group gap="xs">
      {scopes.includes('send') && (
        <LinkButton
          to="/compose"
          search={addresses as never}
          onClick={fill}
          size="xs"
          variant="default"
          leftSection={<IconPencil size={14} aria-hidden />}
        >
          Compose again
        </LinkButton>
      )}
      {plan.sandbox && (
        <LinkButton
          to="/phone"
          search={{ number: addresses.to } as never}
          size="xs"
          variant="default"
          leftSection={<IconDeviceMobile size={14} aria-hidden />}
        >
          Phone
        </LinkButton>
      )}
    </Group>
  )
}
