import { useEffect, useRef } from 'react'
import { useOperator } from '../../api/operator.ts'
import { EmptyState } from '../../kit/empty-state.tsx'
import { ErrorState } from '../../kit/error-state.tsx'
import { PageHeader } from '../../kit/page-header.tsx'
import { DetailPage, WaitingForObject } from './detail-page.tsx'
import { FormPage } from './form-page.tsx'
import { ImportPage } from './import-page.tsx'
import { ListPage } from './list-page.tsx'
import { useObject } from './requests.ts'
import { RESOURCES, type Resource, type ResourceName } from './resources.ts'
import { useResourceSearch } from './search.ts'

/** The pages of one kind of object: the list, one of them, and the forms, as the address says. */
export function ResourcePage({ name }: { name: ResourceName }) {
  const resource = RESOURCES[name]
  const { view, open } = useResourceSearch()
  const { mayChange } = useOperator()
  useFocusOnView(`${view} ${open}`)
  if (view !== undefined && !mayChange) return <ReadOnly resource={resource} />
  if (view === 'new') return <FormPage key="new" resource={resource} item={null} />
  if (view === 'import' && resource.import !== undefined) return <ImportPage resource={resource} />
  return open === undefined ? <ListPage resource={resource} /> : <OneObject key={open} resource={resource} />
}

function OneObject({ resource }: { resource: Resource }) {
  const { view, open, filters } = useResourceSearch()
  const { data: item, error, refetch } = useObject(resource, { ...filters, open: open! })
  if (item === undefined && error === null) return <WaitingForObject resource={resource} />
  if (item == null)
    return (
      <>
        <PageHeader title={resource.title} />
        {error === null ? (
          <Gone resource={resource} />
        ) : (
          <ErrorState error={error} onRetry={() => void refetch()} />
        )}
      </>
    )
  const isEdited = view === 'edit' && resource.update !== undefined && !resource.builtIn?.isIt(item)
  return isEdited ? (
    <FormPage resource={resource} item={item} />
  ) : (
    <DetailPage resource={resource} item={item} />
  )
}

function Gone({ resource }: { resource: Resource }) {
  return <EmptyState title={`There is no such ${resource.noun}`}>It may have been deleted.</EmptyState>
}

function ReadOnly({ resource }: { resource: Resource }) {
  return (
    <>
      <PageHeader title={resource.title} />
      <EmptyState title="Your role only reads">
        An operator with the role admin can change {resource.title.toLowerCase()}.
      </EmptyState>
    </>
  )
}

/** The path stays the same from view to view, so the frame does not move the focus to the new one. */
function useFocusOnView(view: string): void {
  const last = useRef(view)
  useEffect(() => {
    if (last.current === view) return
    last.current = view
    document.getElementById('main')?.focus({ preventScroll: true })
  }, [view])
}
