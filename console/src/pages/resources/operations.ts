import data from './operations.json' with { type: 'json' }

/** The operations of the admin API that have forms here, of which `npm run generate-admin-openapi` makes the file. */

export interface Control {
  /** An object with lists inside is a `group`; its parts have options of their own on the command line. */
  readonly kind: 'text' | 'integer' | 'flag' | 'list' | 'map' | 'object' | 'group'
  readonly nullable?: true
  readonly values?: readonly string[]
  readonly help?: string
  /** What null or an empty list means. */
  readonly none?: string
  /** What the service takes when the field is omitted. */
  readonly fallback?: string
  readonly minimum?: number
  readonly maximum?: number
  /** Of a list. */
  readonly item?: Control
  /** Of an object or group, in the order in which the command line has them. */
  readonly fields?: readonly Field[]
}

export interface Field {
  readonly name: string
  readonly required?: true
  readonly control: Control
}

interface Input {
  readonly place: 'path' | 'query' | 'body'
  /** Where it is in the request: `['optOut', 'stopWords']`. */
  readonly path: readonly [field: string, part?: string]
  /** On the command line: the name of an option, or of an argument. */
  readonly option: string
  readonly isArgument?: true
  readonly required?: true
  /** `--no-…` clears it. */
  readonly clears?: true
  /** Not of a part. */
  readonly control?: Control
}

export interface Operation {
  /** Noun and verb. */
  readonly command: readonly string[]
  readonly about?: string
  readonly inputs: readonly Input[]
}

export type OperationId = keyof typeof data

export function operationOf(id: OperationId): Operation {
  return (data as unknown as Record<OperationId, Operation>)[id]
}

/** The fields of an operation in these places. */
export function fieldsOf(id: OperationId, ...places: readonly Input['place'][]): Field[] {
  return operationOf(id).inputs.flatMap(({ place, path, required, control }) =>
    control !== undefined && places.includes(place)
      ? [{ name: path[0], control, ...(required && { required }) }]
      : [],
  )
}
