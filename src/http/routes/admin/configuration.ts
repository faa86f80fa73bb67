import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import {
  CONFIGURATION_KINDS,
  type KindName,
  type Settings,
} from '../../../domain/configuration/configuration-changes.ts'
import { invalidField } from '../../../errors.ts'
import { type ApplyOptions, applyConfiguration, judge } from '../../../operations/configuration/apply.ts'
import {
  type ExportedConfiguration,
  type ExportWriter,
  exportConfiguration,
} from '../../../operations/configuration/export.ts'
import { withTransaction } from '../../../store/database.ts'
import { Type } from '../../schemas/schema-builder.ts'
import { titled } from '../../schemas/shapes.ts'
import { patterned } from '../../validate.ts'
import { configurationJsonSchema, readConfiguration } from './configuration-schema.ts'
import { AnyState } from './fields.ts'
import { type AdminDeps, type AdminScope, addOperation } from './operations.ts'

/** 200,000 rates of some 110 bytes and as many number ranges of some 35. */
const BODY_BYTES = 32 * 1024 * 1024

const SCHEMA_PATH = '/docs/aldis.schema.json'
const FILE = `In the form of a configuration file; its schema is at ${SCHEMA_PATH}`

/** Any object; the schema of a file has a document of its own. */
const Configuration = (example?: object) =>
  Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    description: FILE,
    ...(example && { examples: [example] }),
  })
const flag = (description: string) =>
  Type.Optional(Type.Enum(['true', 'false'], { description, examples: ['true'] }))
const Confirmed = patterned(
  /^[a-zA-Z]{1,20}=[0-9]{1,9}(?:,[a-zA-Z]{1,20}=[0-9]{1,9})*$/,
  'must be kinds with numbers: rates=1200,plans=2',
  {
    description: 'How many objects of a kind are to be deleted, if more than 20 % are: rates=1200,plans=2',
    examples: ['rates=1'],
  },
)
const Query = Type.Object(
  {
    dryRun: flag('Only say what would change'),
    prune: flag('Delete objects that are not in the file, of the kinds that are'),
    confirm: Type.Optional(Confirmed),
  },
  { additionalProperties: false },
)
const Counts = titled('ConfigurationCounts', {
  kind: Type.String(),
  created: Type.Integer(),
  updated: Type.Integer(),
  deleted: Type.Integer(),
  unchanged: Type.Integer(),
  unconfirmed: Type.Boolean({ description: 'whether `confirm` lacks the number of deletions' }),
})
const Change = titled('ConfigurationChange', {
  action: Type.String({ description: 'create, update or delete' }),
  kind: Type.String(),
  name: Type.String(),
  namesakes: Type.Array(Type.String(), {
    description: 'of a new account or service plan: the ids of others that have its name',
  }),
  before: AnyState('the settings before, without secrets; of an update, those that differ'),
  after: AnyState('the settings after; secrets are ***'),
})
const Applied = titled('AppliedConfiguration', {
  version: Type.String({ description: 'of the configuration, also in the ETag' }),
  counts: Type.Array(Counts),
  changes: Type.Array(Change),
  moreChanges: Type.Integer({ description: 'changes that are not in the list of 1,000' }),
  webhookSecrets: Type.Array(
    titled('NewWebhookSecret', {
      accountId: Type.String(),
      name: Type.String(),
      webhookSecret: Type.String(),
    }),
    { description: 'those of new accounts, shown in this answer only' },
  ),
})
const Exported = titled('ExportedConfiguration', {
  version: Type.String({ description: 'also in the ETag' }),
  configuration: Configuration(),
  withheld: Type.Array(Type.String(), { description: 'paths of settings that are secret' }),
})

/** The configuration as a whole. */
export function registerConfiguration(app: FastifyInstance, scope: AdminScope, deps: AdminDeps): void {
  const tags = ['Configuration']
  const { secretKey } = deps

  addOperation(scope, 'GET /configuration', {
    operationId: 'getConfiguration',
    summary: 'Export the configuration',
    description: 'Returns all objects in the form of a configuration file, without secrets.',
    tags,
    answer: Exported,
    run: async (_request, reply) => {
      const text = new ExportText()
      const exported = await withTransaction(deps.reads, (transaction) =>
        exportConfiguration(transaction, secretKey, text),
      )
      reply.header('etag', `"${exported.version}"`).type('application/json; charset=utf-8')
      return Readable.from(text.end(exported))
    },
  })

  addOperation(scope, 'POST /configuration/apply', {
    operationId: 'applyConfiguration',
    summary: 'Apply a configuration file',
    description:
      'Creates and updates objects as the file says, all or none. Omitted settings keep their values, and nothing is deleted without `prune`. With the ETag of the configuration in the header If-Match, a configuration that was changed since is answered 412.',
    tags,
    query: Query,
    body: Configuration({ ranges: { '+4478': { mccmnc: '23415' } } }),
    answer: Applied,
    failures: [412],
    bodyLimit: BODY_BYTES,
    config: { hasManyMembers: true },
    run: async (request, reply) => {
      const options = optionsOf(request.query, request.headers['if-match'])
      const wanted = await readConfiguration(request.body)
      const judged = await judge(deps.reads, wanted, deps)
      const applied = await deps.change(request, (transaction) =>
        applyConfiguration(transaction, wanted, options, deps, judged),
      )
      reply.header('etag', `"${applied.version}"`)
      return {
        ...applied,
        counts: [...applied.counts],
        changes: applied.changes.map((change) => ({ ...change, namesakes: [...change.namesakes] })),
        webhookSecrets: [...applied.webhookSecrets],
      }
    },
  })

  let schema: string | undefined
  app.get(SCHEMA_PATH, { schema: { hide: true } }, (_request, reply) => {
    schema ??= JSON.stringify(configurationJsonSchema())
    return reply.type('application/schema+json; charset=utf-8').send(schema)
  })
}

/** Characters of JSON that are sent at once. */
const CHUNK = 64 * 1024

/** The answer as JSON, object by object: to write 200,000 rates in one go would hold up everything for 0.2 s. */
class ExportText implements ExportWriter {
  readonly #chunks: Buffer[] = []
  #text = '{"configuration":{'
  #kinds = 0
  #objects = 0

  begin(kind: KindName): void {
    this.#text += `${this.#kinds === 0 ? '' : '},'}"${kind}":{`
    this.#kinds += 1
    this.#objects = 0
  }

  add(name: string, settings: Settings): void {
    const comma = this.#objects === 0 ? '' : ','
    this.#text += `${comma}${JSON.stringify(name)}:${JSON.stringify(settings)}`
    this.#objects += 1
    if (this.#text.length < CHUNK) return
    this.#chunks.push(Buffer.from(this.#text))
    this.#text = ''
  }

  end({ version, withheld }: ExportedConfiguration): readonly Buffer[] {
    const rest = `${this.#text}}},"version":"${version}","withheld":${JSON.stringify(withheld)}}`
    return [...this.#chunks, Buffer.from(rest)]
  }
}

function optionsOf(
  query: { dryRun?: string; prune?: string; confirm?: string },
  ifMatch: string | undefined,
): ApplyOptions {
  const confirmed = (query.confirm?.split(',') ?? []).map((each): [string, number] => {
    const [kind, count] = each.split('=') as [string, string]
    return [kind, Number(count)]
  })
  const strange = confirmed.find(([kind]) => !(CONFIGURATION_KINDS as readonly string[]).includes(kind))
  if (strange !== undefined)
    throw invalidField('confirm', 'NOT_ALLOWED', `must name kinds of ${CONFIGURATION_KINDS.join(', ')}`)
  return {
    dryRun: query.dryRun === 'true',
    prune: query.prune === 'true',
    confirmed: new Map(confirmed),
    version: versionOf(ifMatch),
  }
}

/** RFC 9110 §13.1.1: `*` is any version. */
function versionOf(ifMatch: string | undefined): string | null {
  if (ifMatch === undefined || ifMatch === '*') return null
  const [, version] = /^"?([0-9]{1,19})"?$/.exec(ifMatch) ?? []
  if (version === undefined)
    throw invalidField('If-Match', 'INVALID_FORMAT', 'must be the ETag of the configuration')
  return version
}
