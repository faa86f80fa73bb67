import { Button, Group, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { NamedField } from '../../kit/named-field.tsx'
import { type ExplainSearch, explainSearchOf } from './explain-search.ts'

type Faults = { readonly [Name in keyof ExplainSearch]?: string }

interface ExplainFormProps {
  readonly search: ExplainSearch
  /** What the service said is wrong, by field. */
  readonly faults: Faults
}

/** The message that is asked about. A field that is empty or wrong says so, and has the focus. */
export function ExplainForm({ search, faults }: ExplainFormProps) {
  const navigate = useNavigate()
  const [values, setValues] = useState(search)
  const [missing, setMissing] = useState<Faults>({})
  const form = useRef<HTMLFormElement>(null)
  const errors: Faults = { ...faults, ...missing }
  const wrong = JSON.stringify(errors)
  useEffect(() => {
    if (wrong !== '{}') form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [wrong])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const empty = Object.entries(WANTED).filter(([name]) => !values[name as keyof ExplainSearch]?.trim())
    setMissing(Object.fromEntries(empty))
    if (empty.length === 0) void navigate({ to: '/admin/explain', search: explainSearchOf(values) })
    else form.current?.querySelector<HTMLElement>(`[name=${empty[0]![0]}]`)?.focus()
  }
  const field = (name: 'from' | 'to' | 'body', label: string, placeholder: string, w: number) => (
    <TextInput
      name={name}
      label={label}
      placeholder={placeholder}
      value={values[name] ?? ''}
      onChange={({ currentTarget: { value } }) => setValues({ ...values, [name]: value })}
      error={errors[name]}
      autoComplete="off"
      spellCheck={false}
      w={w}
    />
  )
  return (
    <form onSubmit={submit} ref={form} noValidate>
      <Group align="flex-start" gap="sm" mb="md">
        <NamedField
          kind="service plan"
          name="servicePlanId"
          label="Service plan"
          value={values.servicePlanId ?? ''}
          onChange={(servicePlanId) => setValues({ ...values, servicePlanId })}
          error={errors.servicePlanId}
          w={340}
          maw="100%"
        />
        {field('from', 'From', 'Example', 150)}
        {field('to', 'To', '+15551230001', 170)}
        {field('body', 'Text (optional)', '', 220)}
        <Button type="submit" mt={25}>
          Explain
        </Button>
      </Group>
    </form>
  )
}

const WANTED = {
  servicePlanId: 'Name a service plan',
  from: 'Name a sender',
  to: 'Give a number: +15551230001',
}
