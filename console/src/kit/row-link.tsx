import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, Ref } from 'react'

type AnchorProps = AnchorHTMLAttributes<HTMLAnchorElement> & { ref?: Ref<HTMLAnchorElement> }

/** The link that opens a row of a DataTable. It covers the row; other links and buttons of the row stay above it. */
export const RowLink = createLink(({ children, ...props }: AnchorProps) => (
  <a {...props} className="aldis-row-link">
    {children}
  </a>
))
