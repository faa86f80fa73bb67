import { Anchor, Stack } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { AuditEntry } from '../../../../client/src/admin-api.ts'
import { useList } from '../../api/list.ts'
import { operatorList } from '../../api/queries.ts'
import { type Column, DataTable } from '../../kit/data-table.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { EmptyState } from '../../kit/empty-state.tsx'
import { FilterForm } from '../../kit/filter-form.tsx'
import { Json } from '../../kit/json.tsx'
import { KeyValues } from '../../kit/key-values.tsx'
import { ObjectLink } from '../../kit/object-link.tsx'
import { PageHeader } from '../../kit/page-header.tsx'
import { Section } from '../../kit/section.tsx'
import { exactTime, Time } from '../../kit/time.tsx'
import { AUDIT_FILTERS, auditSearchOf } from './audit-search.ts'

/** Who changed what, from where: one row for each change of an operator. */
export function AuditLog() {
  const filters = auditSearchOf(useSearch({ strict: false }))
  const list = useList(operatorList('listAuditLog', { ...filters, limit: '50' }))
  const [shown, setShown] = useState<AuditEntry | null>(null)
  const columns: readonly Column<AuditEntry>[] = [
    { key: 'at', title: 'When', render: ({ at }) => <Time at={at} /> },
    {
      key: 'operation',
      title: 'Operation',
      render: (entry) => (
        <Anchor component="button" type="button" size="sm" onClick={() => setShown(entry)}>
          {entry.operation}
        </Anchor>
      ),
    },
    { key: 'type', title: 'Object', render: ({ objectType }) => objectType },
    {
      key: 'id',
      title: 'Name or number',
      render: (entry) => <ChangedObject entry={entry} />,
    },
    { key: 'token', title: 'Operator token', render: ({ token }) => token },
    { key: 'address', title: 'From', render: ({ address }) => <span className="aldis-mono">{address}</span> },
    { key: 'fields', title: 'Fields', render: (entry) => changedFields(entry).join(', ') },
  ]
  return (
    <>
      <PageHeader
        title="Audit log"
        description="Every change that operators made through the API, the newest first."
      />
      <FilterForm filters={AUDIT_FILTERS} values={filters} />
      <DataTable
        label="Audit log"
        columns={columns}
        list={list}
        keyOf={({ auditId }) => String(auditId)}
        empty={
          <EmptyState title="No change matches">
            Entries are kept for AUDIT_RETENTION_DAYS, 400 days unless configured otherwise.
          </EmptyState>
        }
      />
      <Dialog opened={shown !== null} onClose={() => setShown(null)} title={shown?.operation} side="right">
        {shown !== null && <Entry entry={shown} />}
      </Dialog>
    </>
  )
}

function Entry({ entry }: { entry: AuditEntry }) {
  const { before, after } = entry
  return (
    <Stack>
      <KeyValues
        entries={[
          ['When', exactTime(entry.at)],
          ['Operator token', entry.token],
          ['From', entry.address],
          ['Object', entry.objectType],
          ['Name or number', <ChangedObject key="object" entry={entry} />],
        ]}
      />
      <Section title="Before">
        {before === null ? 'There was none.' : <Json value={before} label="Before" />}
      </Section>
      <Section title="After">
        {after === null ? 'There is none any more.' : <Json value={after} label="After" />}
      </Section>
    </Stack>
  )
}

/** A link to what was changed, by the name that the change gave it; none to what it deleted. */
function ChangedObject({ entry: { objectType, objectId, before, after } }: { entry: AuditEntry }) {
  const isNamed = objectType === 'carrier' || objectType === 'route'
  const { name = objectId } = (isNamed && after ? after : {}) as { name?: string }
  return (
    <span className="aldis-mono">
      {before !== null && after === null && objectType !== 'webhook-event' ? (
        objectId
      ) : (
        <ObjectLink type={objectType} id={name}>
          {objectId}
        </ObjectLink>
      )}
    </span>
  )
}

/** The fields that differ; none for what was made or deleted. */
function changedFields({ before, after }: AuditEntry): string[] {
  if (before === null || after === null) return []
  const isSame = (name: string) => JSON.stringify(before[name]) === JSON.stringify(after[name])
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => !isSame(name))
}
