import { CloseButton, Title } from '@mantine/core'
import { type ReactNode, useEffect, useId, useRef } from 'react'

interface DialogProps {
  readonly opened: boolean
  readonly title: ReactNode
  /** Asked by Escape, by the button at the top, and by a click beside it. */
  readonly onClose: () => void
  /** At the right, as high as the window: for what is looked at beside a list. */
  readonly side?: 'right'
  /** It goes by one of its own buttons only. */
  readonly mustAnswer?: boolean
  readonly children: ReactNode
}

/**
 * A dialog of the browser itself: the rest of the page is inert, and the focus returns to where it was. An element with
 * `data-autofocus` has the focus first.
 */
export function Dialog({ opened, title, onClose, side, mustAnswer = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const { current } = dialog
    if (opened && current?.open === false) {
      current.showModal()
      current.querySelector<HTMLElement>('[data-autofocus]')?.focus()
    }
    if (!opened && current?.open === true) current.close()
  }, [opened])
  const ask = () => {
    if (!mustAnswer) onClose()
  }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does what a click beside it does
    <dialog
      ref={dialog}
      className="aldis-dialog"
      data-side={side}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        ask()
      }}
      // The browser closes it without asking when Escape is pressed twice.
      onClose={() => opened && onClose()}
      onClick={({ target, currentTarget }) => target === currentTarget && ask()}
    >
      {opened && (
        <div className="aldis-dialog-content">
          <div className="aldis-dialog-head">
            <Title order={2} size="h4" id={id}>
              {title}
            </Title>
            {!mustAnswer && <CloseButton aria-label="Close" onClick={onClose} />}
          </div>
          {children}
        </div>
      )}
    </dialog>
  )
}
