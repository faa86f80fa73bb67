import { Fragment, type ReactNode } from 'react'
import { NoValue } from './no-value.tsx'

/** Names and values of one thing; a dash for null. */
export function KeyValues({ entries }: { entries: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="aldis-key-values">
      {entries.map(([name, value]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>{value ?? <NoValue />}</dd>
        </Fragment>
      ))}
    </dl>
  )
}
