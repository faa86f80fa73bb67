import { EmptyState } from './empty-state.tsx'
import { PageHeader } from './page-header.tsx'

/** A page that is not written yet. */
export function Placeholder({ title }: { title: string }) {
  return (
    <>
      <PageHeader title={title} />
      <EmptyState title="This page is not there yet">Use the API or the command line for now.</EmptyState>
    </>
  )
}
