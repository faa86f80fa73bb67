import { List, Skeleton, Text } from '@mantine/core'
import { ErrorState } from '../../kit/error-state.tsx'
import { count } from '../../kit/formats.ts'
import { useSome } from './requests.ts'
import { addressOf, nameOf, RESOURCES, type Use } from './resources.ts'
import { ObjectLink } from './value.tsx'
import type { Values } from './values.ts'

/** Who uses an object. */
export function Uses({ uses, item }: { uses: readonly Use[]; item: Values }) {
  return (
    <List size="sm" listStyleType="none">
      {uses.map((use) => (
        <List.Item key={use.resource}>
          <UsesOfKind use={use} item={item} />
        </List.Item>
      ))}
    </List>
  )
}

/** The rest is counted. */
const MOST_NAMES = 10

function UsesOfKind({ use: { resource: name, query, isUser }, item }: { use: Use; item: Values }) {
  const resource = RESOURCES[name]
  const { data, error, refetch } = useSome(resource, query(item))
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Skeleton height={18} my={4} />
  const users = data.items.filter((each) => isUser?.(each, item) ?? true)
  const title = users.length === 1 ? resource.noun : resource.title.toLowerCase()
  if (users.length === 0 && !data.isPart)
    return (
      <Text size="sm" c="dimmed">
        No {title}
      </Text>
    )
  return (
    <Text size="sm" component="div">
      {count(users.length)} {title}
      {data.isPart && ` among the first ${count(data.items.length)}`}
      {users.length > 0 && ': '}
      {users.slice(0, MOST_NAMES).map((each, index) => (
        <span key={JSON.stringify(addressOf(resource, each))}>
          {index > 0 && ', '}
          <ObjectLink resource={resource} address={addressOf(resource, each)}>
            {nameOf(resource, each)}
          </ObjectLink>
        </span>
      ))}
      {users.length > MOST_NAMES && ' …'}
    </Text>
  )
}
