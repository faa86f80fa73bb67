import { Anchor, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useOperator } from '../../api/operator.ts'
import { count } from '../../kit/formats.ts'
import { type Some, useSomeOfEach } from './requests.ts'
import { addressOf, nameOf, RESOURCES, type Resource, type Use } from './resources.ts'
import { ObjectLink } from './value.tsx'
import type { Values } from './values.ts'

/** Those of one kind that use an object. */
export interface Users extends Some {
  readonly use: Use
}

/** Who uses an object, kind by kind; undefined until all of it is known. */
export function useUsers({ usedBy = [] }: Resource, item: Values) {
  const asked = usedBy.map(({ resource, query }) => ({ resource: RESOURCES[resource], filters: query(item) }))
  const { data, error, retry } = useSomeOfEach(asked)
  const users = data?.map(({ items, isPart }, index): Users => {
    const use = usedBy[index]!
    return { use, items: items.filter((each) => use.isUser?.(each) ?? true), isPart }
  })
  return { users, error, retry }
}

interface UsesProps {
  readonly users: readonly Users[]
  /** Of whom, if more of them can be made. */
  readonly item?: Values
}

export function Uses({ users, item }: UsesProps) {
  const { mayChange } = useOperator()
  return (
    <ul className="aldis-uses">
      {users.map((each) => (
        <li key={each.use.resource}>
          <UsersOfKind {...each} />
          {item !== undefined && mayChange && <NewUser use={each.use} item={item} />}
        </li>
      ))}
    </ul>
  )
}

/** The form of another one, which begins with what it is for. */
function NewUser({ use: { resource: name, query }, item }: { use: Use; item: Values }) {
  const { noun, path } = RESOURCES[name]
  const search = { ...query(item), view: 'new' }
  return (
    <>
      {' · '}
      <Anchor
        component={Link}
        to={path as '/admin/accounts'}
        search={search as never}
        inherit
        underline="always"
      >
        New {noun}
      </Anchor>
    </>
  )
}

/** The rest is counted. */
const MOST_NAMES = 10

function UsersOfKind({ use, items, isPart }: Users) {
  const resource = RESOURCES[use.resource]
  const title = items.length === 1 ? resource.noun : resource.title.toLowerCase()
  if (items.length === 0)
    return (
      <Text span inherit c="dimmed">
        No {title}
        {isPart && ' among the first 1,000'}
      </Text>
    )
  return (
    <>
      {isPart && 'At least '}
      {count(items.length)} {title}
      {': '}
      {items.slice(0, MOST_NAMES).map((each, index) => (
        <span key={JSON.stringify(addressOf(resource, each))}>
          {index > 0 && ', '}
          <ObjectLink resource={resource} address={addressOf(resource, each)}>
            {nameOf(resource, each)}
          </ObjectLink>
        </span>
      ))}
      {items.length > MOST_NAMES && ' …'}
    </>
  )
}
