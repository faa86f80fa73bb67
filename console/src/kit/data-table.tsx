import { Button, Group, Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import type { List } from '../api/list.ts'
import { ErrorState } from './error-state.tsx'

export interface Column<Item> {
  /** Unique in its table. */
  readonly key: string
  readonly title: string
  readonly render: (item: Item) => ReactNode
  /** Numbers stand at the right. */
  readonly align?: 'right'
  /** Sentences, which are broken into lines before the table scrolls sideways. */
  readonly wraps?: true
}

interface DataTableProps<Item> {
  /** What the table lists, for screen readers: "Messages". */
  readonly label: string
  readonly columns: readonly Column<Item>[]
  /** Of `useList`; of `listOf` for items that come without pages. */
  readonly list: List<Item>
  readonly keyOf: (item: Item) => string
  /** An EmptyState that says what to do. */
  readonly empty: ReactNode
}

/**
 * A dense table that scrolls inside itself. A row is opened by a link in its first column (RowLink), which also takes
 * clicks anywhere on the row.
 */
export function DataTable<Item>({ label, columns, list, keyOf, empty }: DataTableProps<Item>) {
  const { items, error, hasMore, isLoadingMore, loadMore, retry } = list
  if (items === undefined)
    return error === null ? <Waiting label={label} /> : <ErrorState error={error} onRetry={retry} />
  if (items.length === 0) return error === null ? empty : <ErrorState error={error} onRetry={retry} />
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls what has the focus */}
      <section className="aldis-table-box" tabIndex={0} aria-label={label}>
        <table className="aldis-table">
          <thead>
            <tr>
              {columns.map(({ key, title, align }) => (
                <th key={key} data-align={align}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {items.map((item) => (
              <tr key={keyOf(item)}>
                {columns.map(({ key, render, align, wraps }) => (
                  <td key={key} data-align={align} data-wraps={wraps}>
                    {render(item)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {error !== null && <ErrorState error={error} onRetry={retry} />}
      {hasMore && error === null && (
        <Group justify="center" mt="sm">
          <Button variant="default" size="xs" loading={isLoadingMore} onClick={loadMore}>
            Load more
          </Button>
        </Group>
      )}
    </>
  )
}

const SKELETON_ROWS = ['1', '2', '3', '4', '5', '6']

function Waiting({ label }: { label: string }) {
  return (
    <div role="status" aria-label={`${label}: loading`}>
      {SKELETON_ROWS.map((row) => (
        <Skeleton key={row} height={22} mb={10} />
      ))}
    </div>
  )
}
