import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type NamedKind, useNameOf } from '../../kit/named.ts'
import { NoValue } from '../../kit/no-value.tsx'
import { Time } from '../../kit/time.tsx'
import { labelOf } from './labels.ts'
import { type Resource, referredBy } from './resources.ts'
import type { ResourceSearch } from './search.ts'
import type { Values } from './values.ts'

interface ValueProps {
  readonly field: string
  readonly value: unknown
  /** What null or an empty list means, in place of a dash. */
  readonly none?: string | undefined
  /** In one line, without links that would lie on the one of the row. */
  readonly isCell?: boolean
}

/** A field of an object as people read it. */
export function Value({ field, value, none, isCell = false }: ValueProps): ReactNode {
  if (value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0))
    return none === undefined ? <NoValue /> : none
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (/At$|Since$/.test(field) && typeof value === 'string') return <Time at={value} />
  if (Array.isArray(value)) return <Listed field={field} values={value} isCell={isCell} />
  if (typeof value === 'object') return <Nested value={value as Values} isCell={isCell} />
  const target = referredBy(field)
  if (target !== undefined) return <Reference resource={target} open={String(value)} />
  return /Id$|^hint$/.test(field) ? <span className="aldis-mono">{String(value)}</span> : String(value)
}

function Listed({ field, values, isCell }: { field: string; values: readonly unknown[]; isCell: boolean }) {
  const target = referredBy(field)
  if (values.every((each) => typeof each !== 'object')) {
    if (target === undefined) return values.join(', ')
    return values.map((each, index) => (
      <span key={String(each)}>
        {index > 0 && ', '}
        <Reference resource={target} open={String(each)} />
      </span>
    ))
  }
  const rows = values.map((each) => summary(each as Values))
  return isCell ? rows.join('; ') : rows.map((row) => <div key={row}>{row}</div>)
}

function Nested({ value, isCell }: { value: Values; isCell: boolean }) {
  if (isCell) return summary(value)
  return Object.entries(value).map(([name, part]) => (
    <div key={name}>
      {labelOf(name)}: <Value field={name} value={part} isCell />
    </div>
  ))
}

/** The first field is what the object is about. */
function summary(value: Values): string {
  const [[, first] = [], ...rest] = Object.entries(value).filter(([, part]) => part !== null)
  return [String(first), ...rest.map(([name, part]) => `${labelOf(name).toLowerCase()} ${part}`)].join(', ')
}

/** A link to another object, by its name as soon as that is known. */
function Reference({ resource, open }: { resource: Resource; open: string }) {
  return (
    <ObjectLink resource={resource} address={{ open }}>
      {resource.named === undefined ? open : <Name kind={resource.named} id={open} />}
    </ObjectLink>
  )
}

function Name({ kind, id }: { kind: NamedKind; id: string }) {
  return useNameOf(kind, id) ?? id
}

interface ObjectLinkProps {
  readonly resource: Resource
  readonly address: ResourceSearch
  readonly children: ReactNode
}

export function ObjectLink({ resource, address, children }: ObjectLinkProps) {
  return (
    <Anchor
      component={Link}
      to={resource.path as '/admin/accounts'}
      search={address as never}
      size="sm"
      underline="always"
      inherit
    >
      {children}
    </Anchor>
  )
}
