import { Alert, Button, Code, Group, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { AldisError } from '../../../../client/src/errors.ts'
import { CommandLine } from '../../kit/command-line.tsx'
import { ErrorState } from '../../kit/error-state.tsx'
import { counted } from '../../kit/formats.ts'
import { PageHeader } from '../../kit/page-header.tsx'
import { Progress } from '../../kit/progress.tsx'
import { Section } from '../../kit/section.tsx'
import { type CsvRow, readCsv } from './csv.ts'
import { PageButton } from './list-page.tsx'
import { type Field, fieldsOf, type OperationId, operationOf } from './operations.ts'
import { request } from './requests.ts'
import type { Resource } from './resources.ts'
import { useResourceSearch } from './search.ts'

/** What one request takes. */
const BATCH = 1_000

/** Imports the lines of a CSV file, 1,000 a request, each all or none. */
export function ImportPage({ resource }: { resource: Resource }) {
  const id = resource.import!
  const { filters } = useResourceSearch()
  const [list] = fieldsOf(id, 'body') as [Field]
  const columns = list.control.item!.fields!
  const [file, setFile] = useState<File | null>(null)
  const work = useImport(id, list)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (file !== null) work.start(file)
  }
  return (
    <>
      <PageHeader title={`Import ${resource.title.toLowerCase()}`} description={operationOf(id).about} />
      <form onSubmit={submit}>
        <Stack maw={620}>
          <TextInput
            type="file"
            label="CSV file"
            description="Its first line names the columns, in any order."
            accept=".csv,text/csv"
            size="xs"
            onChange={(event) => setFile(event.currentTarget.files?.[0] ?? null)}
          />
          <Columns columns={columns} />
          <Group>
            <Button type="submit" disabled={file === null} loading={work.isPending}>
              Import
            </Button>
            <PageButton resource={resource} address={filters} label="Back to the list" isMinor />
          </Group>
          <Outcome work={work} />
          <Section title="The same on the command line">
            <CommandLine
              words={[...operationOf(id).command, file?.name ?? `${operationOf(id).command[0]}s.csv`]}
            />
          </Section>
        </Stack>
      </form>
    </>
  )
}

function Columns({ columns }: { columns: readonly Field[] }) {
  return (
    <ul className="aldis-list">
      {columns.map(({ name, required, control }) => (
        <li key={name}>
          <Code>{name}</Code> {control.help}
          {required ? ' (required)' : ''}
        </li>
      ))}
    </ul>
  )
}

function Outcome({ work }: { work: ReturnType<typeof useImport> }) {
  const { progress, isPending, error, isDone } = work
  return (
    <div aria-live="polite">
      {isPending && progress !== null && <Progress label="Importing" {...progress} />}
      {isDone && progress !== null && (
        <Alert color="green" variant="light" title="Done">
          <Text size="sm">{counted(progress.total, 'line')} imported.</Text>
        </Alert>
      )}
      {error instanceof LineFaults && (
        <Alert color="red" variant="light" title="The service refused some lines" role="alert">
          <Text size="sm">
            {counted(error.before, 'line')} imported before these. Mend them, and import the rest of the file:
          </Text>
          <ul className="aldis-list">
            {error.faults.map((fault) => (
              <li key={fault}>{fault}</li>
            ))}
          </ul>
        </Alert>
      )}
      {error !== null && !(error instanceof LineFaults) && <ErrorState error={error} />}
    </div>
  )
}

/** Faults by line, and how many lines were imported before. */
class LineFaults extends Error {
  readonly faults: readonly string[]
  readonly before: number

  constructor(faults: readonly string[], before: number) {
    super(faults.join('; '))
    this.faults = faults
    this.before = before
  }
}

function useImport(id: OperationId, { name: list, control }: Field) {
  const queries = useQueryClient()
  const [progress, setProgress] = useState<{ done: number; total: number } | null>(null)
  const fields = control.item!.fields!
  const required = fields.filter((field) => field.required).map(({ name }) => name)
  const work = useMutation({
    mutationFn: async (file: File) => {
      const columns = fields.map(({ name }) => name)
      const rows = readCsv(await file.text(), columns, required)
      for (let done = 0; done < rows.length; done += BATCH) {
        setProgress({ done, total: rows.length })
        const batch = rows.slice(done, done + BATCH)
        try {
          await request(id, { [list]: batch.map(({ values }) => values) })
        } catch (error) {
          throw byLine(error, list, batch, done)
        }
      }
      setProgress({ done: rows.length, total: rows.length })
    },
    onSettled: () => void queries.invalidateQueries({ queryKey: ['operator'] }),
  })
  return {
    start: work.mutate,
    progress,
    isPending: work.isPending,
    isDone: work.isSuccess,
    error: work.error,
  }
}

/** `ranges.17.prefix must …` -> `Line 19: prefix must …`. */
function byLine(error: unknown, list: string, batch: readonly CsvRow[], before: number): unknown {
  if (!(error instanceof AldisError) || error.errors.length === 0) return error
  const faults = error.errors.map(({ field, message }) => {
    const [first, index, ...rest] = field.split('.')
    const row = first === list ? batch[Number(index)] : undefined
    if (row === undefined) return `${field} ${message}`
    return [`Line ${row.line}:`, rest.join('.'), message].filter((part) => part !== '').join(' ')
  })
  return new LineFaults(faults, before)
}
