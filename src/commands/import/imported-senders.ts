import { classifySender } from '../../domain/messages/addresses.ts'

/** Senders as other gateways write them. */

export const NO_SENDER = 'is no sender: E.164, 3 to 8 digits, or a name of at most 11 characters'

/** The sender as Aldis writes it; null: it can have none like it. */
export function importedSender(text: string): string | null {
  const plain = text.trim()
  const sender = classifySender(plain) === null ? plain.replace(/^(?:00)?(?=[1-9][0-9]{8,14}$)/, '+') : plain
  return classifySender(sender) === null ? null : sender
}

/** The texts that `^(one|two)$` matches; null: the expression is of another form. */
export function textsOfRegex(pattern: string): readonly string[] | null {
  const [, open = '', texts = '', close = ''] =
    /^\^(\(?)([A-Za-z0-9 _&-]+(?:\|[A-Za-z0-9 _&-]+)*)(\)?)\$$/.exec(pattern) ?? []
  const isGroup = open !== '' && close !== ''
  if (texts === '' || (open === '') !== (close === '') || (!isGroup && texts.includes('|'))) return null
  return texts.split('|')
}
