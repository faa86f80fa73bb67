import { type Command, InvalidArgumentError } from 'commander'
import { addConnectionOptions, type ConnectionOptions } from '../admin/client.ts'

/** What `aldis apply` and `aldis diff` are given. */
export interface FileOptions extends ConnectionOptions {
  readonly file: readonly string[]
  readonly prune?: true
  readonly confirm?: readonly string[]
  readonly ifMatch?: string
}

/** Adds the options of both commands. */
export function addFileOptions(command: Command): Command {
  command
    .requiredOption('-f, --file <file>', 'File to read, - for standard input; may be repeated', repeated)
    .option('--prune', 'For each kind in the files, delete the objects that they do not list')
    .option(
      '--confirm <kind=number>',
      'Confirm how many objects of a kind are deleted, if more than 20 % are; may be repeated',
      confirmation,
    )
  return addConnectionOptions(command)
}

function repeated(text: string, previous: readonly string[] = []): string[] {
  return [...previous, text]
}

function confirmation(text: string, previous: readonly string[] = []): string[] {
  if (!/^[a-zA-Z]{1,20}=[0-9]{1,9}$/.test(text))
    throw new InvalidArgumentError('expected a kind and a number: rates=1200')
  return [...previous, text]
}
