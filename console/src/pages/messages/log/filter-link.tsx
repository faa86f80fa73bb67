import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, Ref } from 'react'
import type { LogSearch } from './filters.ts'

/** A change of the address; undefined takes a filter away. */
export type Change = { readonly [Name in keyof LogSearch]?: LogSearch[Name] | undefined }

export function changing(change: Change) {
  return ((search: LogSearch) => ({ ...search, ...change })) as never
}

type AnchorProps = AnchorHTMLAttributes<HTMLAnchorElement> & {
  readonly isChosen: boolean
  readonly 'data-status'?: string
  ref?: Ref<HTMLAnchorElement>
}

/** The router takes every link to the same page for the current one. Which is chosen, the filters say. */
const Anchor = createLink(({ isChosen, 'data-status': _, children, ...props }: AnchorProps) => (
  <a {...props} aria-current={isChosen ? 'true' : undefined}>
    {children}
  </a>
))

interface FilterLinkProps extends Pick<AnchorProps, 'className' | 'children' | 'aria-label'> {
  readonly change: Change
  readonly isChosen?: boolean
  readonly 'data-tone'?: string
}

/** Shows the same log under other filters. */
export function FilterLink({ change, isChosen = false, ...props }: FilterLinkProps) {
  return (
    <Anchor
      to="."
      search={changing(change)}
      resetScroll={false}
      preload={false}
      isChosen={isChosen}
      {...(props as object)}
    />
  )
}
