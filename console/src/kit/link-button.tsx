import { Button, type ButtonProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, Ref } from 'react'

type AnchorProps = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof ButtonProps>

/** A link that looks like a button. */
export const LinkButton = createLink(
  (props: ButtonProps & AnchorProps & { ref?: Ref<HTMLAnchorElement> }) => (
    <Button component="a" {...props} />
  ),
)
