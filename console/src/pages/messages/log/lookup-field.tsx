import { TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { changing } from './filter-link.tsx'
import { FILTER_LABELS, type FilterName } from './filter-names.ts'
import { type Meaning, meaningsOf } from './lookup.ts'

interface LookupFieldProps {
  readonly filters: readonly FilterName[]
  /** Where a message has its page. */
  readonly pageOf: (msgId: string) => object
}

/** One field for an id, a number or a sender. Enter chooses the first suggestion. */
export function LookupField({ filters, pageOf }: LookupFieldProps) {
  const [typed, setTyped] = useState('')
  const navigate = useNavigate()
  const meanings = meaningsOf(typed, filters)
  const knowsCarriers = filters.includes('carrierMessageId')
  const follow = (meaning: Meaning | undefined) => {
    if (meaning === undefined) return
    setTyped('')
    void navigate(
      meaning.kind === 'message'
        ? (pageOf(meaning.msgId) as never)
        : { to: '.', search: changing({ [meaning.kind]: meaning.value }) },
    )
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    follow(meanings[0])
  }
  return (
    <search className="log-lookup">
      <form onSubmit={submit}>
        <TextInput
          size="xs"
          aria-label="Look up"
          placeholder={
            knowsCarriers
              ? "Message id, carrier's id, phone number, sender"
              : 'Message id, phone number, sender'
          }
          leftSection={<IconSearch size={14} aria-hidden />}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          onKeyDown={(event) => event.key === 'Escape' && setTyped('')}
          autoComplete="off"
          spellCheck={false}
        />
      </form>
      {typed.trim() !== '' && <Meanings meanings={meanings} follow={follow} />}
    </search>
  )
}

interface MeaningsProps {
  readonly meanings: readonly Meaning[]
  readonly follow: (meaning: Meaning) => void
}

function Meanings({ meanings, follow }: MeaningsProps) {
  return (
    <ul className="log-meanings" aria-label="What it may be">
      {meanings.map((meaning) => (
        <li key={JSON.stringify(meaning)}>
          <button type="button" onClick={() => follow(meaning)}>
            <span className="log-chip-label">
              {meaning.kind === 'message' ? 'Message' : FILTER_LABELS[meaning.kind]}
            </span>{' '}
            <span className="aldis-mono">{meaning.kind === 'message' ? meaning.msgId : meaning.value}</span>
          </button>
        </li>
      ))}
      {meanings.length === 0 && <li>Neither the id of a message nor a number</li>}
    </ul>
  )
}
