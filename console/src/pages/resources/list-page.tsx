import { Button, Group } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useOperator } from '../../api/operator.ts'
import { type Column, DataTable } from '../../kit/data-table.tsx'
import { EmptyState } from '../../kit/empty-state.tsx'
import { NoValue } from '../../kit/no-value.tsx'
import { PageHeader } from '../../kit/page-header.tsx'
import { RowLink } from '../../kit/row-link.tsx'
import { FilterFields } from './filter-fields.tsx'
import { labelOf } from './labels.ts'
import { fieldsOf, operationOf } from './operations.ts'
import { useObjects } from './requests.ts'
import { addressOf, isMeaningless, keyOf, type Resource } from './resources.ts'
import { type Filters, type ResourceSearch, useResourceSearch } from './search.ts'
import { Value } from './value.tsx'
import type { Values } from './values.ts'

/** All objects of one kind. */
export function ListPage({ resource }: { resource: Resource }) {
  const { filters, go } = useResourceSearch()
  const fields = fieldsOf(resource.list, 'path', 'query')
  const missing = fields.find(({ name, required }) => required && !(name in filters))
  const list = useObjects(resource, filters, missing === undefined)
  return (
    <>
      <PageHeader
        title={resource.title}
        description={operationOf(resource.list).about}
        actions={<Actions resource={resource} filters={filters} />}
      />
      {fields.length > 0 && (
        <FilterFields fields={fields} filters={filters} onChange={(changed) => void go(changed)} />
      )}
      {missing === undefined ? (
        <DataTable
          label={resource.title}
          columns={columnsOf(resource, filters)}
          list={list}
          keyOf={(item) => `${item.from ?? ''} ${keyOf(resource, item)}`}
          empty={<Nothing resource={resource} isFiltered={Object.keys(filters).length > 0} />}
        />
      ) : (
        <EmptyState title={`Choose a ${labelOf(missing.name).toLowerCase()}`}>
          {resource.title} are those of one {labelOf(missing.name).toLowerCase()}.
        </EmptyState>
      )}
    </>
  )
}

function columnsOf(resource: Resource, filters: Filters): Column<Values>[] {
  const meanings = new Map(fieldsOf(resource.create, 'body').map(({ name, control }) => [name, control.none]))
  return resource.columns.map((field, index) => ({
    key: field,
    title: labelOf(field),
    render: (item) => {
      if (index > 0 && field === resource.key.field)
        return <span className="aldis-mono">{keyOf(resource, item)}</span>
      if (isMeaningless(resource, item, field)) return <NoValue />
      if (index > 0) return <Value field={field} value={item[field]} none={meanings.get(field)} isCell />
      const address = { ...filters, ...addressOf(resource, item) }
      return (
        <RowLink to={resource.path as '/admin/accounts'} search={address as never}>
          {String(item[field])}
        </RowLink>
      )
    },
  }))
}

function Actions({ resource, filters }: { resource: Resource; filters: Filters }) {
  const { mayChange } = useOperator()
  if (!mayChange) return null
  return (
    <Group gap="xs">
      {resource.import !== undefined && (
        <PageButton resource={resource} address={{ ...filters, view: 'import' }} label="Import CSV" isMinor />
      )}
      <PageButton resource={resource} address={{ ...filters, view: 'new' }} label={`New ${resource.noun}`} />
    </Group>
  )
}

interface PageButtonProps {
  readonly resource: Resource
  readonly address: ResourceSearch
  readonly label: string
  readonly isMinor?: boolean
}

/** A link that looks like a button. */
export function PageButton({ resource, address, label, isMinor = false }: PageButtonProps) {
  return (
    <Button
      component={Link}
      to={resource.path as '/admin/accounts'}
      search={address as never}
      size="xs"
      variant={isMinor ? 'default' : 'filled'}
    >
      {label}
    </Button>
  )
}

function Nothing({ resource, isFiltered }: { resource: Resource; isFiltered: boolean }) {
  const { mayChange } = useOperator()
  const { noun } = resource
  if (isFiltered) return <EmptyState title={`No ${noun} matches`}>Change the filters above.</EmptyState>
  return (
    <EmptyState title={`There is no ${noun} yet`}>
      {mayChange ? `Create one with “New ${noun}”.` : 'An operator with the role admin can create one.'}
    </EmptyState>
  )
}
