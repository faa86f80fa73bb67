import { Input } from '@mantine/core'
import { useId } from 'react'
import { objectOf } from './draft.ts'

const ROWS = 10

/** The body of a send as JSON, as an application has it. */
export function JsonBody({ json, onChange }: { json: string; onChange: (json: string) => void }) {
  const id = useId()
  const error = json !== '' && objectOf(json) === null ? 'This is not a JSON object' : null
  return (
    <Input.Wrapper
      id={id}
      label="Body of POST /v1/sendsms"
      description="As your application sends it"
      error={error}
    >
      <Input
        component="textarea"
        id={id}
        multiline
        rows={ROWS}
        value={json}
        onChange={(event) => onChange(event.currentTarget.value)}
        error={error !== null}
        classNames={{ input: 'aldis-mono' }}
        spellCheck={false}
      />
    </Input.Wrapper>
  )
}
