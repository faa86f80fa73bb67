import { Button, Group, VisuallyHidden } from '@mantine/core'
import { IconArrowUp, IconFilter, IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { type Column, DataTable } from '../../../kit/data-table.tsx'
import { EmptyState } from '../../../kit/empty-state.tsx'
import { PageHeader } from '../../../kit/page-header.tsx'
import { NARROW, type RowContext, rowId } from './columns.tsx'
import { useExport } from './export.ts'
import { ExportButton, ExportProgress } from './export-button.tsx'
import { FilterChips, QuickSpans } from './filter-bar.tsx'
import { FilterForm, type Suggestions } from './filter-form.tsx'
import { changing, FilterLink } from './filter-link.tsx'
import type { FilterName } from './filter-names.ts'
import { hasFilters, type LogSearch } from './filters.ts'
import { type LiveLog, useLiveLog } from './live-log.ts'
import { LookupField } from './lookup-field.tsx'
import type { LogSource } from './source.ts'
import { StatusCounts } from './status-counts.tsx'

interface LogProps<Message> {
  readonly search: LogSearch
  /** The message that is open beside the log. */
  readonly open: string | undefined
  readonly source: LogSource<Message>
  readonly filters: readonly FilterName[]
  readonly suggestions: Suggestions
  readonly columns: (row: RowContext) => Column<Message>[]
  /** Of the CSV file. */
  readonly exported: readonly string[]
  readonly pageOf: (msgId: string) => object
  /** In the place of a log without messages and without filters. */
  readonly welcome: ReactNode
  /** The open message. */
  readonly children: ReactNode
}

/** Messages newest first, as the address filters them, and beside them the one that is open. */
export function MessageLog<Message extends { readonly msgId: string }>(props: LogProps<Message>) {
  const { search, open, source, filters, columns } = props
  const [isLive, setLive] = useState(true)
  const [isFiltering, setFiltering] = useState(false)
  const log = useLiveLog(source, isLive)
  const exporting = useExport(
    source.page,
    props.exported,
    `messages-${new Date().toISOString().slice(0, 19)}.csv`,
  )
  useFocusOnClosing(open)
  useSearchOn(log)
  const shown = columns({ open, changed: log.changed })
  const isWelcome = log.items?.length === 0 && !hasFilters(search) && log.error === null && !log.hasMore
  return (
    <>
      <PageHeader
        title="Messages"
        actions={
          <>
            <ExportButton exporting={exporting} />
            <LiveSwitch isLive={isLive} onChange={setLive} />
          </>
        }
      />
      <div className="log" data-open={open !== undefined || undefined}>
        <div className="log-main">
          <ExportProgress exporting={exporting} />
          <Group gap="xs" mb="sm">
            <LookupField filters={filters} pageOf={props.pageOf} />
            <Button
              variant="default"
              size="xs"
              leftSection={<IconFilter size={14} aria-hidden />}
              aria-expanded={isFiltering}
              onClick={() => setFiltering(!isFiltering)}
            >
              Filters
            </Button>
            <QuickSpans search={search} isOperator={filters.includes('servicePlanId')} />
          </Group>
          {isFiltering && (
            <FilterForm
              names={filters}
              search={search}
              suggestions={props.suggestions}
              onDone={() => setFiltering(false)}
            />
          )}
          <FilterChips search={search} />
          {isWelcome ? (
            props.welcome
          ) : (
            <>
              <StatusCounts options={source.counts} isLive={isLive} chosen={search.status} />
              <NewMessages log={log} />
              <DataTable
                label="Messages"
                columns={open === undefined ? shown : shown.filter(({ key }) => NARROW.includes(key))}
                list={log}
                keyOf={({ msgId }) => msgId}
                empty={<NothingMatches isSearching={log.hasMore} />}
              />
            </>
          )}
        </div>
        {props.children}
      </div>
    </>
  )
}

function LiveSwitch({ isLive, onChange }: { isLive: boolean; onChange: (isLive: boolean) => void }) {
  const Icon = isLive ? IconPlayerPause : IconPlayerPlay
  return (
    <Button
      variant="default"
      size="xs"
      leftSection={<Icon size={14} aria-hidden />}
      onClick={() => onChange(!isLive)}
    >
      {isLive ? 'Pause' : 'Go live'}
    </Button>
  )
}

/** Shows the new messages when it is pressed: nothing moves under the pointer before. */
function NewMessages({
  log,
}: {
  log: Pick<LiveLog<unknown>, 'waiting' | 'isMoreWaiting' | 'showWaiting' | 'isLoadingMore'>
}) {
  const { waiting, isMoreWaiting, showWaiting, isLoadingMore } = log
  const count = `${waiting.toLocaleString('en')}${isMoreWaiting ? '+' : ''}`
  return (
    <div className="log-new">
      <VisuallyHidden role="status">{waiting > 0 && `${count} new messages`}</VisuallyHidden>
      {waiting > 0 && (
        <Button
          className="log-show"
          size="compact-xs"
          radius="xl"
          leftSection={<IconArrowUp size={13} aria-hidden />}
          onClick={showWaiting}
          disabled={isLoadingMore}
        >
          {count} new
        </Button>
      )}
    </div>
  )
}

function NothingMatches({ isSearching }: { isSearching: boolean }) {
  if (isSearching) return <EmptyState title="Nothing found yet">Looking at older messages …</EmptyState>
  return (
    <EmptyState title="No message matches">
      Take a filter away, or choose a longer time. New messages appear here by themselves.
      <div>
        <FilterLink className="log-clear" change={NO_STATUS}>
          Any status
        </FilterLink>
      </div>
    </EmptyState>
  )
}

const NO_STATUS = { status: undefined }

/** A page of the operators' list may have no message and still not be the last. */
function useSearchOn({ items, hasMore, isLoadingMore, error, loadMore }: LiveLog<unknown>) {
  const isSearching = items?.length === 0 && hasMore && !isLoadingMore && error === null
  useEffect(() => {
    if (isSearching) loadMore()
  }, [isSearching, loadMore])
}

/** When the message beside the log is closed, the keyboard goes on at its row. */
function useFocusOnClosing(open: string | undefined) {
  const last = useRef(open)
  useEffect(() => {
    if (open === undefined && last.current !== undefined)
      document.getElementById(rowId(last.current))?.focus()
    last.current = open
  }, [open])
}

/** Closes the message beside the log. */
export function useClose() {
  const navigate = useNavigate()
  return () => void navigate({ to: '.', search: changing({ open: undefined }), resetScroll: false })
}
