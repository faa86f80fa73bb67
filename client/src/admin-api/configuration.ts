// Made from the OpenAPI document by `npm run generate-client`.

export interface AppliedConfiguration {
  /** of the configuration, also in the ETag. */
  version: string
  counts: ConfigurationCounts[]
  changes: ConfigurationChange[]
  /** changes that are not in the list of 1,000. */
  moreChanges: number
  /** those of new accounts, shown in this answer only. */
  webhookSecrets: NewWebhookSecret[]
}

export interface ConfigurationChange {
  /** create, update or delete. */
  action: string
  kind: string
  name: string
  /** of a new account or service plan: the ids of others that have its name. */
  namesakes: string[]
  /** the settings before, without secrets; of an update, those that differ. */
  before: Record<string, unknown> | null
  /** the settings after; secrets are ***. */
  after: Record<string, unknown> | null
}

export interface ConfigurationCounts {
  kind: string
  created: number
  updated: number
  deleted: number
  unchanged: number
  /** whether `confirm` lacks the number of deletions. */
  unconfirmed: boolean
}

export interface ExportedConfiguration {
  /** also in the ETag. */
  version: string
  /** In the form of a configuration file; its schema is at /docs/aldis.schema.json. */
  configuration: Record<string, unknown>
  /** paths of settings that are secret. */
  withheld: string[]
}

export interface NewWebhookSecret {
  accountId: string
  name: string
  webhookSecret: string
}

/** Each operation: its input, and its answer when it succeeds. */
export interface ConfigurationOperations {
  /** Export the configuration. Returns all objects in the form of a configuration file, without secrets. */
  getConfiguration: { input: Record<string, never>; answer: ExportedConfiguration }
  /** Apply a configuration file. Creates and updates objects as the file says, all or none. Omitted settings keep their values, and nothing is deleted without `prune`. With the ETag of the configuration in the header If-Match, a configuration that was changed since is answered 412. */
  applyConfiguration: {
    input: {
      /** Only say what would change. */
      dryRun?: 'true' | 'false' | undefined
      /** Delete objects that are not in the file, of the kinds that are. */
      prune?: 'true' | 'false' | undefined
      /** How many objects of a kind are to be deleted, if more than 20 % are: rates=1200,plans=2. */
      confirm?: string | undefined
    } & Record<string, unknown>
    answer: AppliedConfiguration
  }
}
